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

// An item has a sum over the nodes of one score, the inner one, within a sum over those of the other, the
// outer one. Inner sums are the same for all items with equal ratings by the inner score's pool.

// A block of the density of both scores, its rows by outer and its columns by inner node as
// batch_products.hpp needs them, and what is expected there.
class PairedBlock {
 public:
  PairedBlock(const DensityBlock& block, const ConstVector& weight, int inner)
      : block_(block), inner_(inner) {
    Matrix density = weight.segment(block.row, block.density.rows()).asDiagonal() * block.density;
    density = density.cwiseMax(smallest_probability);
    row_ = block.row, column_ = block.column;
    if (inner == 0) {
      std::swap(row_, column_);
      density.transposeInPlace();
    }
    rows_ = density.rows(), columns_ = density.cols();
    density_ = expected_ = Matrix::Zero(rows_ + batch, columns_);
    transposed_ = Matrix::Zero(columns_ + batch, rows_);
    density_.topRows(rows_) = density;
    transposed_.topRows(columns_) = density.transpose();
  }

  // Sums over inner nodes from begin to end, added to those by outer node.
  void add_sums(Matrix& sums, const Matrix& probability, Eigen::Index begin, Eigen::Index end) const {
    const auto [from, size] = within(begin, end);
    if (size > 0)
      add_products(sums.data() + row_, sums.rows(), density_.data() + from * density_.rows(),
                   density_.rows(), probability.data() + (column_ + from) * batch, rows_, size);
  }

  // Sums over outer nodes, added to those by inner node.
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
    Matrix items = expected_.topRows(rows_).cwiseProduct(density_.topRows(rows_));
    if (inner_ == 0) items.transposeInPlace();
    return conditional.by_factor(block_.row, block_.column, items);
  }

 private:
  // First column and number of columns of the block between two inner nodes.
  std::pair<Eigen::Index, Eigen::Index> within(Eigen::Index begin, Eigen::Index end) const {
    const Eigen::Index from = std::max(begin - column_, Eigen::Index(0));
    return {from, std::min(end - column_, columns_) - from};
  }

  const DensityBlock& block_;
  int inner_;
  Eigen::Index row_, column_, rows_, columns_;
  Matrix density_, transposed_;
  Matrix expected_;  // items by pair of nodes, over the density
};

// Inner sums by node of the outer score, for a batch of different ratings.
class InnerSums {
 public:
  InnerSums(const OrdinalTable& table, const ConditionalDensity& conditional,
            const ConstVector& weight, int inner)
      : table_(table),
        conditional_(conditional),
        inner_(table.by_upper.rows()),
        outer_(inner == 1 ? conditional.first().size() : conditional.second().size()),
        probability_(Matrix::Zero(batch, inner_)),
        sums_(outer_ + batch, batch),
        ratio_(Matrix::Zero(outer_ + batch, batch)),
        by_inner_(inner_ + batch, batch) {
    for (const DensityBlock& block : conditional.blocks()) blocks_.emplace_back(block, weight, inner);
  }

  // The sums of ratings up to a factor; accurate where the outer pool's ratings are compatible.
  const double* sum(int which) const { return sums_.col(which).data(); }
  const Scale& scale(int which) const { return scale_[which]; }

  void evaluate(const std::vector<PoolEntries>& entries, int number) {
    begin_ = inner_, end_ = 0;
    for (int b = 0; b < number; ++b) {
      scale_[b] = relative_probability(entries[b], table_, alone_);
      Eigen::Index begin = 0, end = inner_;
      while (alone_(begin) < support_limit) ++begin;
      while (alone_(end - 1) < support_limit) --end;
      begin_ = std::min(begin_, begin), end_ = std::max(end_, end);
      probability_.row(b) = alone_.transpose();
    }
    probability_.bottomRows(batch - number).setZero();
    sums_.setZero();
    for (const PairedBlock& block : blocks_) block.add_sums(sums_, probability_, begin_, end_);
    sums_ = sums_.cwiseMax(smallest_probability);
    ratio_.setZero();
  }

  // Expected numbers of items by outer node, over the sums.
  double* ratio(int which) { return ratio_.col(which).data(); }

  // Distributes them over the inner nodes, and adds them to the table's adjoint.
  void distribute(const std::vector<PoolEntries>& entries, int number, Matrix& by_table) {
    interleaved_ = ratio_.topRows(outer_).transpose();
    by_inner_.setZero();
    for (PairedBlock& block : blocks_) {
      block.add_transposed(by_inner_, interleaved_, begin_, end_);
      block.add_expected(ratio_, probability_, begin_, end_);
    }
    for (int b = 0; b < number; ++b) {
      alone_.setZero(inner_);
      alone_.segment(begin_, end_ - begin_) =
          by_inner_.col(b).segment(begin_, end_ - begin_).cwiseProduct(
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
  const OrdinalTable& table_;  // of the inner pool
  const ConditionalDensity& conditional_;
  Eigen::Index inner_, outer_;  // nodes
  std::vector<PairedBlock> blocks_;
  Matrix probability_;  // of the inner pool's ratings: (ratings, inner nodes)
  Matrix sums_, ratio_, interleaved_, by_inner_;
  Vector alone_;
  std::array<Scale, batch> scale_;
  Eigen::Index begin_, end_;  // of the inner nodes with probabilities that count
};

// Outer sums of items, over their ratings by the outer pool and inner sums. Probabilities of different
// ratings are kept unless these are so many that they would not stay in a cache.
class OuterSums {
 public:
  OuterSums(const SplitEntries& entries, int pool, const OrdinalTable& table)
      : entries_(entries), pool_(pool), table_(table), nodes_(table.by_upper.rows()) {
    const Eigen::Index number = entries.different(pool).size();
    if (nodes_ * number > most_kept) return;
    probability_.resize(nodes_, number);
    ratio_ = Matrix::Zero(nodes_, number);
    for (const int item : entries.different(pool)) {
      scale_.push_back(relative_probability(entries.of(item, pool), table, alone_));
      probability_.col(scale_.size() - 1) = alone_;
    }
  }

  // The sum of an item, up to a factor, given its inner sums.
  std::pair<double, Scale> sum(int item, const double* inner) {
    if (scale_.empty()) {
      const Scale scale = relative_probability(entries_.of(item, pool_), table_, alone_);
      return {sum_of_products(nodes_, alone_.data(), inner), scale};
    }
    const int place = entries_.place(item, pool_);
    return {sum_of_products(nodes_, probability_.col(place).data(), inner), scale_[place]};
  }

  // Distributes an item, of which so many are expected for each unit of its sum, over the nodes. It is that of
  // the last sum. Adds to what is expected over the inner sums.
  void distribute(int item, double expected, const double* inner, double* ratio, Matrix& by_table) {
    if (scale_.empty()) {
      state_.setZero(nodes_);
      add_to_each_other(nodes_, expected, alone_.data(), inner, state_.data(), ratio);
      entries_.of(item, pool_).add_to(by_table, state_.cwiseProduct(alone_));
      return;
    }
    const int place = entries_.place(item, pool_);
    add_to_each_other(nodes_, expected, probability_.col(place).data(), inner,
                      ratio_.col(place).data(), ratio);
  }

  // Adds the items of ratings that are kept to the table's adjoint.
  void finish(Matrix& by_table) {
    for (std::size_t k = 0; k < scale_.size(); ++k) {
      state_ = ratio_.col(k).cwiseProduct(probability_.col(k));
      entries_.of(entries_.different(pool_)[k], pool_).add_to(by_table, state_);
    }
  }

 private:
  static constexpr Eigen::Index most_kept = 65536;  // numbers, 512 KB

  const SplitEntries& entries_;
  int pool_;
  const OrdinalTable& table_;
  Eigen::Index nodes_;
  Matrix probability_;  // of different ratings: (nodes, ratings)
  Matrix ratio_;        // expected numbers of items, over their probability
  std::vector<Scale> scale_;
  Vector alone_, state_;
};

// Items whose pools' ratings are so incompatible that sums are taken by logarithms.
class LogScaleSums {
 public:
  LogScaleSums(const SplitEntries& entries, const std::array<OrdinalTable, 2>& tables,
               const ConditionalDensity& conditional, const ConstVector& weight)
      : entries_(entries), tables_(tables), conditional_(conditional), weight_(weight) {}

  // Log density of an item, of which there are so many; adds them to the tables' adjoints.
  double add(int item, double items, std::array<Matrix, 2>& by_table) {
    const PoolEntries first = entries_.of(item, 0), second = entries_.of(item, 1);
    joint_ = (conditional_.log_density().rowwise() + log_probability(second, tables_[1]).transpose())
                 .colwise() +
             (weight_.array().log().matrix() + log_probability(first, tables_[0]));
    const double largest = joint_.maxCoeff();
    joint_ = (joint_.array() - largest).exp().max(smallest_probability);
    const double sum = joint_.sum();
    joint_ *= items / sum;
    if (expected_.size() == 0) expected_ = joint_;
    else expected_ += joint_;
    first.add_to(by_table[0], joint_.rowwise().sum());
    second.add_to(by_table[1], joint_.colwise().sum());
    return largest + std::log(sum);
  }

  // Derivatives by rho and by sqrt(1 - rho^2), of all items added.
  Eigen::RowVector2d by_factor() const {
    if (expected_.size() == 0) return Eigen::RowVector2d::Zero();
    return conditional_.by_factor(0, 0, expected_);
  }

 private:
  const SplitEntries& entries_;
  const std::array<OrdinalTable, 2>& tables_;
  const ConditionalDensity& conditional_;
  const ConstVector& weight_;
  Matrix joint_, expected_;  // items by pair of nodes
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

  // Inner sums are of the pool with fewer different ratings.
  const int inside = entries.different(0).size() < entries.different(1).size() ? 0 : 1;
  const int outside = 1 - inside;
  InnerSums inner(tables[inside], conditional, weight, inside);
  OuterSums outer(entries, outside, tables[outside]);
  LogScaleSums by_logs(entries, tables, conditional, weight);
  LongProduct product;

  // One item, and which of the batch its ratings by the inner pool are.
  const auto take = [&](int item, int which) {
    const double items = data.multiplicity[item];
    const auto [sum, scale] = outer.sum(item, inner.sum(which));
    if (!(sum > smallest_sum)) {
      product.multiply_exp(by_logs.add(item, items, by_table) * items);
      return;
    }
    const double factor = sum * scale.factor * inner.scale(which).factor;
    if (items == 1) product.multiply(factor);
    else product.multiply_exp(items * std::log(factor));
    product.multiply_exp(items * (scale.log + inner.scale(which).log));
    outer.distribute(item, items / sum, inner.sum(which), inner.ratio(which), by_table[outside]);
  };

  const Integers& order = entries.order(inside);
  std::vector<PoolEntries> different(batch);
  std::vector<int> which;  // of the batch, by item
  for (std::size_t i = 0, next = 0; i < order.size(); i = next) {
    int number = 0, last = -1;
    for (which.clear(); next < order.size(); ++next) {
      const int place = entries.place(order[next], inside);
      if (place != last) {
        if (number == batch) break;
        different[number++] = entries.of(order[next], inside);
        last = place;
      }
      which.push_back(number - 1);
    }
    inner.evaluate(different, number);
    for (std::size_t k = 0; k < which.size(); ++k) take(order[i + k], which[k]);
    inner.distribute(different, number, by_table[inside]);
  }
  outer.finish(by_table[outside]);
  const double value = product.log();

  if (gradient == nullptr) return value;
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
