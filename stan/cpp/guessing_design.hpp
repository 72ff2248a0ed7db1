// Who rated which items as what, in the order in which guessing_mixture_pass.cpp reads it: the same for every
// gradient of a program.
#pragma once
#include "item_mixture_pass.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

namespace reliabayes {

// A rating.
struct Entry {
  int cell, rater;
};

// A category that an item was rated as, and how often.
struct Rated {
  int category, number;
};

// Ratings of an item, category by category, and the categories that nobody chose.
struct ItemRatings {
  int number;  // of the item, in the data
  const Entry *first, *last;
  const Rated *first_rated, *last_rated;
  const int *first_unrated, *last_unrated;
};

struct Design {
  Vector ratings;  // by cell

  // Cells are numbered by category, then by rater. Items come in the order of how many ratings they have of each
  // category that they have, so that loops over them rarely end otherwise than that of the item before.
  Design(const DistinctItems& data, int raters, int categories)
      : ratings(Vector::Zero(raters * categories)), raters_(raters), read_first_(data.first),
        read_cell_(data.cell), multiplicity_(data.multiplicity), count_(data.count) {
    const std::size_t items = data.multiplicity.size();
    std::vector<std::vector<Entry>> chosen(categories);  // of an item, by category
    const auto sort_ratings = [&](int item) {
      for (auto& each : chosen) each.clear();
      for (int c = data.first[item] - 1; c < data.first[item + 1] - 1; ++c) {
        const int cell = data.cell[c] - 1, count = static_cast<int>(data.count[c]);
        chosen[cell / raters].resize(chosen[cell / raters].size() + count, {cell, cell % raters});
      }
    };
    std::vector<std::vector<int>> numbers(items);  // of chosen categories, and of the ratings of each
    for (std::size_t i = 0; i < items; ++i) {
      sort_ratings(i);
      numbers[i] = {0};
      for (const auto& same : chosen) {
        if (same.empty()) continue;
        ++numbers[i].front();
        numbers[i].push_back(static_cast<int>(same.size()));
        for (const Entry& entry : same) ratings(entry.cell) += data.multiplicity[i];
      }
    }
    order_.resize(items);
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int i, int j) { return numbers[i] < numbers[j]; });
    for (const int i : order_) {
      start();
      sort_ratings(i);
      for (int k = 0; k < categories; ++k) {
        if (chosen[k].empty()) unrated_.push_back(k);
        else rated_.push_back({k, static_cast<int>(chosen[k].size())});
        entries_.insert(entries_.end(), chosen[k].begin(), chosen[k].end());
      }
    }
    start();
  }

  ItemRatings item(std::size_t i) const {
    return {order_[i],
            entries_.data() + first_[i],         entries_.data() + first_[i + 1],
            rated_.data() + first_rated_[i],     rated_.data() + first_rated_[i + 1],
            unrated_.data() + first_unrated_[i], unrated_.data() + first_unrated_[i + 1]};
  }

  bool is_of(const DistinctItems& data, int raters, int categories) const {
    return raters_ == raters && ratings.size() == raters * categories &&
           read_first_ == data.first && read_cell_ == data.cell &&
           multiplicity_ == data.multiplicity && count_.size() == data.count.size() &&
           std::memcmp(count_.data(), data.count.data(), count_.size() * sizeof(double)) == 0;
  }

 private:
  std::vector<Entry> entries_;  // these three item by item
  std::vector<Rated> rated_;
  std::vector<int> unrated_;
  std::vector<int> order_;  // items in the data
  std::vector<int> first_, first_rated_, first_unrated_;  // positions of items, and the ends
  int raters_;
  Integers read_first_, read_cell_, multiplicity_;
  Vector count_;

  void start() {
    first_.push_back(static_cast<int>(entries_.size()));
    first_rated_.push_back(static_cast<int>(rated_.size()));
    first_unrated_.push_back(static_cast<int>(unrated_.size()));
  }
};

// That of the data, which is made anew only if they are not those of the last call.
inline const Design& design_of(const DistinctItems& data, int raters, int categories) {
  thread_local std::optional<Design> last;
  if (!last || !last->is_of(data, raters, categories)) last.emplace(data, raters, categories);
  return *last;
}

}  // namespace reliabayes
