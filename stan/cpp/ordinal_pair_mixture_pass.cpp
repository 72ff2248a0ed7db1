#include "ordinal_pair_mixture_pass.hpp"

#include "batch_products.hpp"
#include "pool_entries.hpp"
#include "score_quadrature.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace reliabayes {

// A block of the density of the second score given the first, in rows and columns for batch_products.hpp,
// and what is expected there.
class PairedBlock {
 public:
  explicit PairedBlock(const DensityBlock& block)
      : row_(block.row),
        column_(block.column),
        rows_(block.density.rows()),
        columns_(block.density.cols()),
        density_(Matrix::Zero(rows_ + batch, columns_)),
        transposed_(Matrix::Zero(columns_ + batch, rows_)),
        expected_(Matrix::Zero(rows_ + batch, columns_)) {
    density_.topRows(rows_) = block.density;
    transposed_.topRows(columns_) = block.density.transpose();
  }

  // Sums over nodes of the second score from begin to end, added to those by node of the first.
  void add_sums(Matrix& sums, const Matrix& probability, Eigen::Index begin, Eigen::Index end) const {
    const auto [from, size] = within(begin, end);
    if (size > 0)
      add_products(sums.data() + row_, sums.rows(), density_.data() + from * density_.rows(),
                   density_.rows(), probability.data() + (column_ + from) * batch, rows_, size);
  }

  // Sums over nodes of the first score, added to those by node of the second.
  void add_transposed(Matrix& sums, const Matrix& ratio, Eigen::Index begin, Eigen::Index end) const {
    const auto [from, size] = within(begin, end);
    if (size > 0)
      add_products(sums.data() + column_ + from, sums.rows(), transposed_.data() + from,
                   transposed_.rows(), ratio.data() + row_ * batch, size, rows_);
  }

  void add_expected(const Matrix& ratio, const Matrix& probability, Eigen::Index begin,
                    Eigen::Index end) {
    const auto [from, size] = within(begin, end);
    if (size > 0)
      add_outer_products(expected_.data() + from * expected_.rows(), expected_.rows(),
                         ratio.data() + row_, ratio.rows(),
                         probability.data() + (column_ + from) * batch, rows_, size);
  }

  // Derivatives by rho and by sqrt(1 - rho^2).
  Eigen::RowVector2d by_factor(const ConditionalDensity& conditional) const {
    const Matrix items = expected_.topRows(rows_).cwiseProduct(density_.topRows(rows_));
    return conditional.by_factor(row_, column_, items);
  }

 private:
  // First column and number of columns of the block between two nodes of the second score.
  std::pair<Eigen::Index, Eigen::Index> within(Eigen::Index begin, Eigen::Index end) const {
    const Eigen::Index from = std::max(begin - column_, Eigen::Index(0));
    return {from, std::min(end - column_, columns_) - from};
  }

  Eigen::Index row_, column_, rows_, columns_;
  Matrix density_, transposed_;
  Matrix expected_;  // items by pair of nodes, over the density
};

// Sums over the second score of items' ratings by the second pool, by node of the first score, for a
// batch of different ratings.
class InnerSums {
 public:
  InnerSums(const OrdinalTable& table, const ConditionalDensity& conditional)
      : table_(table),
        conditional_(conditional),
        first_(conditional.first().size()),
        second_(conditional.second().size()),
        probability_(Matrix::Zero(batch, second_)),
        sums_(first_ + batch, batch),
        ratio_(Matrix::Zero(first_ + batch, batch)),
        by_second_(second_ + batch, batch) {
    for (const DensityBlock& block : conditional.blocks()) blocks_.emplace_back(block);
  }

  // The sums of ratings up to a factor; accurate where the first pool's ratings are compatible.
  auto sum(int which) const { return sums_.col(which).head(first_); }
  const Scale& scale(int which) const { return scale_[which]; }

  void evaluate(const std::vector<PoolEntries>& entries, int number) {
    begin_ = second_, end_ = 0;
    for (int b = 0; b < number; ++b) {
      scale_[b] = relative_probability(entries[b], table_, alone_);
      Eigen::Index begin = 0, end = second_;
      while (alone_(begin) < support_limit) ++begin;
      while (alone_(end - 1) < support_limit) --end;
      begin_ = std::min(begin_, begin), end_ = std::max(end_, end);
      probability_.row(b) = alone_.transpose();
    }
    probability_.bottomRows(batch - number).setZero();
    sums_.setZero();
    for (const PairedBlock& block : blocks_) block.add_sums(sums_, probability_, begin_, end_);
    sums_ = sums_.cwiseMax(smallest_probability);
    expected_.setZero(first_, batch);
  }

  // Expected numbers of items, by node of the first score.
  double* expected(int which) { return expected_.col(which).data(); }

  // Distributes them over the nodes of the second score, and adds them to the table's adjoint.
  void distribute(const std::vector<PoolEntries>& entries, int number, Matrix& by_table) {
    ratio_.topRows(first_) = expected_.cwiseQuotient(sums_.topRows(first_));
    interleaved_ = ratio_.topRows(first_).transpose();
    by_second_.setZero();
    for (PairedBlock& block : blocks_) {
      block.add_transposed(by_second_, interleaved_, begin_, end_);
      block.add_expected(ratio_, probability_, begin_, end_);
    }
    for (int b = 0; b < number; ++b) {
      alone_.setZero(second_);
      alone_.segment(begin_, end_ - begin_) =
          by_second_.col(b).segment(begin_, end_ - begin_).cwiseProduct(
              probability_.row(b).segment(begin_, end_ - begin_).transpose());
      entries[b].add_to(by_table, alone_);
    }
  }

  // Derivatives by rho and by sqrt(1 - rho^2), of all items distributed so far.
  Eigen::RowVector2d by_factor() const {
    Eigen::RowVector2d sum = Eigen::RowVector2d::Zero();
    for (const PairedBlock& block : blocks_) sum += block.by_factor(conditional_);
    return sum;
  }

 private:
  const OrdinalTable& table_;
  const ConditionalDensity& conditional_;
  Eigen::Index first_, second_;  // nodes
  std::vector<PairedBlock> blocks_;
  Matrix probability_;  // of the second pool's ratings: (ratings, nodes of the second score)
  Matrix sums_, expected_, ratio_, interleaved_, by_second_;
  Vector alone_;
  std::array<Scale, batch> scale_;
  Eigen::Index begin_, end_;  // of the nodes of the second score with probabilities that count
};

// The same for an item whose pools' ratings are so incompatible that sums are taken by logarithms.
class LogScaleSum {
 public:
  LogScaleSum(const OrdinalTable& table, const ConditionalDensity& conditional)
      : table_(table), conditional_(conditional) {}

  Values log_sum(const PoolEntries& entries) {
    joint_ = conditional_.log_density().rowwise() + log_probability(entries, table_).transpose();
    const Vector by_row = joint_.rowwise().maxCoeff();
    joint_.colwise() -= by_row;
    joint_ = joint_.array().exp().max(smallest_probability);
    sum_ = joint_.rowwise().sum();
    return by_row.array() + sum_.array().log();
  }

  void distribute(const PoolEntries& entries, const Vector& items, Matrix& by_table) {
    joint_ = items.cwiseQuotient(sum_).asDiagonal() * joint_;
    if (expected_.size() == 0) expected_ = joint_;
    else expected_ += joint_;
    entries.add_to(by_table, joint_.colwise().sum());
  }

  Eigen::RowVector2d by_factor() const {
    if (expected_.size() == 0) return Eigen::RowVector2d::Zero();
    return conditional_.by_factor(0, 0, expected_);
  }

 private:
  const OrdinalTable& table_;
  const ConditionalDensity& conditional_;
  Matrix joint_, expected_;  // items by pair of nodes
  Vector sum_;
};

// Ratings of items by the first pool, by node of its score. Those of different ratings are kept unless
// these are so many that they would not stay in a cache.
class RatingsOfFirst {
 public:
  RatingsOfFirst(const SplitEntries& entries, const OrdinalTable& table)
      : entries_(entries), table_(table) {
    const Eigen::Index nodes = table.by_upper.rows(), number = entries.different(0).size();
    if (nodes * number > most_kept) return;
    probability_.resize(nodes, number);
    expected_ = Matrix::Zero(nodes, number);
    for (const int item : entries.different(0)) {
      scale_.push_back(relative_probability(entries.of(item, 0), table, alone_));
      probability_.col(scale_.size() - 1) = alone_;
    }
  }

  // Those of an item relative to the largest, until the next call, and the largest.
  std::pair<const double*, Scale> of(int item) {
    if (scale_.empty()) {
      const Scale scale = relative_probability(entries_.of(item, 0), table_, alone_);
      return {alone_.data(), scale};
    }
    const int place = entries_.place(item, 0);
    return {probability_.col(place).data(), scale_[place]};
  }

  // Adds expected numbers of items, by node.
  void add(int item, const Vector& items, Matrix& by_table) {
    if (scale_.empty()) return entries_.of(item, 0).add_to(by_table, items);
    const int column = entries_.place(item, 0) + 1;
    add_to_columns(items.data(), items.size(), expected_.data(), &column, 1);
  }

  // Adds those of ratings that are kept to the table's adjoint.
  void distribute(Matrix& by_table) const {
    for (std::size_t k = 0; k < scale_.size(); ++k)
      entries_.of(entries_.different(0)[k], 0).add_to(by_table, expected_.col(k));
  }

 private:
  static constexpr Eigen::Index most_kept = 65536;  // numbers, 512 KB

  const SplitEntries& entries_;
  const OrdinalTable& table_;
  Matrix probability_, expected_;  // of different ratings: (nodes, ratings)
  std::vector<Scale> scale_;
  Vector alone_;
};

double ordinal_pair_mixture_pass(const Vector& level, const Vector& sd, const Matrix& factor,
                                 const Matrix& cut, bool probit, const ConstVector& node,
                                 const ConstVector& weight, const ItemsOfPools& data,
                                 OrdinalPairMixtureGradient* gradient) {
  const ConditionalDensity conditional(node, factor(1, 0), factor(1, 1));
  const std::array<Vector, 2> score{node, conditional.second()};

  const PoolsOfRaters raters(data.pool);
  const SplitEntries& entries = entries_of(data, raters, cut.rows() + 1);
  const auto table = [&](int g) {
    return OrdinalTable(raters.select(level, g), sd(g) * score[g].array(), cut.col(g), probit,
                        entries.cells(g));
  };
  const std::array<OrdinalTable, 2> tables{table(0), table(1)};
  std::array<Matrix, 2> by_table;
  for (int g = 0; g < 2; ++g)
    by_table[g] = Matrix::Zero(tables[g].by_upper.rows(), tables[g].by_upper.cols());

  InnerSums inner(tables[1], conditional);
  LogScaleSum by_logs(tables[1], conditional);
  RatingsOfFirst of_first(entries, tables[0]);
  LongProduct product;
  Vector state(node.size());

  // One item, its ratings by the second pool, and which of the batch they are.
  const auto take = [&](int item, const PoolEntries& of_second, int which) {
    const double items = data.multiplicity[item];
    auto [probability, scale] = of_first.of(item);
    double sum = multiply_and_sum(state.data(), state.size(), probability, weight.data(),
                                  inner.sum(which).data(), smallest_probability);
    const bool is_compatible = sum > smallest_sum;
    if (is_compatible) {
      scale.factor *= inner.scale(which).factor;
      scale.log += inner.scale(which).log;
    } else {
      state = weight.array().log() + log_probability(entries.of(item, 0), tables[0]).array() +
              by_logs.log_sum(of_second);
      scale = {1, state.maxCoeff()};
      state = (state.array() - scale.log).exp().max(smallest_probability);
      sum = state.sum();
    }
    if (items == 1) product.multiply(scale.factor * sum);
    else product.multiply_exp(items * std::log(scale.factor * sum));
    product.multiply_exp(items * scale.log);
    if (is_compatible) {
      multiply_and_add(state.data(), state.size(), items / sum, inner.expected(which));
    } else {
      state *= items / sum;
      by_logs.distribute(of_second, state, by_table[1]);
    }
    of_first.add(item, state, by_table[0]);
  };

  const Integers& order = entries.order();
  std::vector<PoolEntries> of_second(batch);
  std::vector<int> which;  // of the batch, by item
  for (std::size_t i = 0, next = 0; i < order.size(); i = next) {
    int number = 0, last = -1;
    for (which.clear(); next < order.size(); ++next) {
      const int place = entries.place(order[next], 1);
      if (place != last) {
        if (number == batch) break;
        of_second[number++] = entries.of(order[next], 1);
        last = place;
      }
      which.push_back(number - 1);
    }
    inner.evaluate(of_second, number);
    for (std::size_t k = 0; k < which.size(); ++k) take(order[i + k], of_second[which[k]], which[k]);
    inner.distribute(of_second, number, by_table[1]);
  }
  const double value = product.log();

  if (gradient == nullptr) return value;
  of_first.distribute(by_table[0]);
  const std::array<OrdinalGradient, 2> by{OrdinalGradient(tables[0], by_table[0]),
                                          OrdinalGradient(tables[1], by_table[1])};
  gradient->by_level.resize(level.size());
  for (Eigen::Index rater = 0; rater < level.size(); ++rater)
    gradient->by_level(rater) = by[data.pool[rater] - 1].by_level(raters.within[rater]);
  gradient->by_sd = Vector{{by[0].by_effect.dot(score[0]), by[1].by_effect.dot(score[1])}};
  gradient->by_factor = Matrix::Zero(2, 2);
  gradient->by_factor.row(1) = inner.by_factor() + by_logs.by_factor();
  gradient->by_cut.resize(cut.rows(), 2);
  gradient->by_cut << by[0].by_cut, by[1].by_cut;
  return value;
}

}  // namespace reliabayes
