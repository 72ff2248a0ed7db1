// Ratings of items by two pools in numbers of columns of each pool's table, and their probabilities.
#pragma once
#include "columns.hpp"
#include "item_mixture_pass.hpp"
#include "last_made.hpp"
#include "ordinal_pair_mixture_pass.hpp"
#include "ordinal_table.hpp"
#include "score_quadrature.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace reliabayes {

// An item's ratings by one pool, each entry with its column of the pool's table, numbered from 1.
struct PoolEntries {
  const int* column;
  const double* count;  // ratings
  int size;
  bool of_one_each;

  bool operator<(const PoolEntries& other) const {
    if (size != other.size) return size < other.size;
    const auto [mine, its] = std::mismatch(column, column + size, other.column);
    if (mine != column + size) return *mine < *its;
    return std::lexicographical_compare(count, count + size, other.count, other.count + size);
  }

  // Whether the probabilities of the ratings may be multiplied: see item_mixture_pass.hpp.
  bool is_short() const { return of_one_each && size <= most_factors; }

  void add_to(Matrix& by_table, const Vector& expected) const {
    add_to_columns(expected.data(), expected.size(), by_table.data(), column, count, size);
  }
};

// The raters of each pool, numbered within their pool.
struct PoolsOfRaters {
  std::array<int, 2> size{0, 0};
  Integers within;
  const Integers& pool;

  explicit PoolsOfRaters(const Integers& pool) : pool(pool) {
    for (const int of : pool) within.push_back(size[of - 1]++);
  }

  // The values of one pool's raters.
  Vector select(const Vector& values, int which) const {
    Vector selected(size[which]);
    for (std::size_t rater = 0; rater < pool.size(); ++rater)
      if (pool[rater] == which + 1) selected(within[rater]) = values(rater);
    return selected;
  }
};

// The entries of all items, those of an item by the first pool before those by the second: the same for
// every gradient of a program.
class SplitEntries {
 public:
  SplitEntries(const ItemsOfPools& data, const PoolsOfRaters& raters, int categories)
      : first_(data.first), column_(data.cell.size()), count_(data.cell.size()) {
    const UsedCells used(data.cell, data.pool.size(), categories);
    Integers column;  // of a used cell, negative for the second pool
    for (const auto& [rater, category] : used.cells) {
      const int which = data.pool[rater] - 1;
      cells_[which].push_back({raters.within[rater], category});
      const int number = cells_[which].size();
      column.push_back(which == 0 ? number : -number);
    }
    for (std::size_t i = 0; i + 1 < first_.size(); ++i) {
      int front = first_[i] - 1, back = first_[i + 1] - 1;
      bool of_one_each = true;
      for (int c = first_[i] - 1; c < first_[i + 1] - 1; ++c) {
        const int of_cell = column[used.column[c] - 1], at = of_cell > 0 ? front++ : --back;
        column_[at] = std::abs(of_cell);
        count_[at] = data.count[c];
        of_one_each = of_one_each && data.count[c] == 1;
      }
      second_.push_back(front);
      of_one_each_.push_back(of_one_each);
    }
    for (int g = 0; g < 2; ++g) {
      const Integers& order = order_[g] = ordered_by(g);
      place_[g].resize(order.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || of(order[i - 1], g) < of(order[i], g)) different_[g].push_back(order[i]);
        place_[g][order[i]] = different_[g].size() - 1;
      }
    }
  }

  // Cells of a pool that have ratings, raters numbered within the pool.
  const std::vector<OrdinalCell>& cells(int pool) const { return cells_[pool]; }
  // The items in an order in which those with equal ratings by a pool come one after the other.
  const Integers& order(int pool) const { return order_[pool]; }
  // An item of each different ratings by a pool, and which of them has those of an item.
  const Integers& different(int pool) const { return different_[pool]; }
  int place(std::size_t item, int pool) const { return place_[pool][item]; }
  PoolEntries of(std::size_t item, int pool) const {
    return pool == 0 ? of(first_[item] - 1, second_[item], item)
                     : of(second_[item], first_[item + 1] - 1, item);
  }

 private:
  Integers ordered_by(int pool) const {
    Integers order(second_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int one, int other) { return of(one, pool) < of(other, pool); });
    return order;
  }

  PoolEntries of(int begin, int end, std::size_t item) const {
    return {column_.data() + begin, count_.data() + begin, end - begin, of_one_each_[item] != 0};
  }

  Integers first_, column_, second_, of_one_each_;
  std::array<Integers, 2> order_, different_, place_;
  std::vector<double> count_;
  std::array<std::vector<OrdinalCell>, 2> cells_;
};

inline const SplitEntries& entries_of(const ItemsOfPools& data, const PoolsOfRaters& raters,
                                      int categories) {
  thread_local LastMade<SplitEntries> last;
  return last.of({data.pool, data.first, data.cell, data.count}, {categories}, data, raters, categories);
}

// A product of many numbers, each between 1e-230 and 1e230.
class LongProduct {
 public:
  void multiply(double factor) {
    factor_ *= factor;
    if (factor_ > 1e-60 && factor_ < 1e60) return;
    log_ += std::log(factor_);
    factor_ = 1;
  }
  void multiply_exp(double log) { log_ += log; }
  double log() const { return log_ + std::log(factor_); }

 private:
  double factor_ = 1, log_ = 0;
};

// A positive number.
struct Scale {
  double factor = 1, log = 0;  // factor * exp(log)
};

// Log-probability of an item's ratings by a pool, by node of its score.
inline Vector log_probability(const PoolEntries& entries, const OrdinalTable& table) {
  Vector logs = Vector::Zero(table.by_upper.rows());
  for (int e = 0; e < entries.size; ++e)
    logs += entries.count[e] * table.probability.log().col(entries.column[e] - 1);
  return logs;
}

// Probability of an item's ratings by a pool, by node of its score, relative to the largest; returns the
// largest.
inline Scale relative_probability(const PoolEntries& entries, const OrdinalTable& table,
                                  Vector& probability) {
  if (entries.is_short()) {
    const Matrix& factor = table.probability.factor();
    probability.setOnes(factor.rows());
    multiply_columns(probability.data(), probability.data(), factor.rows(), factor.data(),
                     entries.column, entries.size);
    const double largest = probability.maxCoeff();
    if (largest > smallest_product) {
      multiply_above(probability.data(), probability.size(), 1 / largest, smallest_probability);
      return {largest, 0};
    }
  }
  const Vector logs = log_probability(entries, table);
  const double largest = logs.maxCoeff();
  probability = (logs.array() - largest).exp().max(smallest_probability);
  return {1, largest};
}

}  // namespace reliabayes
