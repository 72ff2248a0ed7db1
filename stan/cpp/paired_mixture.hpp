// Ratings in ordered categories by two pools, whose item effects are correlated and summed out.
//
// An item's effects in the pools are sd[1] x and sd[2] y, with standard scores x and y whose correlation
// is rho. What the second pool says is summed over y first, given x:
//
//     p(ratings) = sum_x weight[x] p(ratings of pool 1 | x) sum_y p(y | x) p(ratings of pool 2 | y),
//     y given x ~ normal(rho x, sqrt(1 - rho^2)),
//
// a product of matrices, all of it positive. Nodes of y lie as close as that normal density asks for,
// whatever rho; next to 1 they are thousands, of which few are in reach of a node of x. The inner sum
// is shared by items that follow each other and that the second pool has rated alike.
#pragma once
#include "graded_table.hpp"
#include "item_mixture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <utility>
#include <vector>

namespace reliabayes {

// Probabilities that are 1 somewhere are not let below `negligible`: products of two are then still
// normal numbers, for arithmetic on those that are not takes a hundred times as long. What is below
// `unheard` is left out of sums. Neither can be seen in a sum above `contradiction`; what lies below
// that is summed by logarithms.
constexpr double negligible = 1e-145, unheard = 1e-60, contradiction = 1e-30;

// Some nodes of the second score y, and those of the first, x, from which they are not out of reach.
struct Stretch {
  Eigen::Index row, column;  // where it begins
  Matrix density;            // of y given x, times the spacing: (nodes of x, nodes of y)
};

// Nodes of the second score y, and its density given x: an equally spaced sum in place of an integral.
// Where y follows x closely, the density is made and read in stretches along the diagonal.
class Conditional {
 public:
  // Nodes resolve both what nodes of x would, a precision, and the density given x, another. Their
  // number has an end: a density narrower than any that ratings could tell from it is not resolved.
  Conditional(const Vector& first, double rho, double root)
      : first_(first), rho_(rho), scale_(std::max(root, narrowest)), resolved_(root > narrowest) {
    constexpr double widest = 1.1;  // spacing, in standard deviations of a normal density
    const double last = first(first.size() - 1), near = first(1) - first(0);
    const double precision = 1 / (near * near) + (1 / (scale_ * scale_) - 1) / (widest * widest);
    second_ = Vector::LinSpaced(1 + std::ceil(2 * last * std::sqrt(precision)), -last, last);
    constant_ = std::log((second_(1) - second_(0)) / scale_ * M_SQRT1_2 * M_2_SQRTPI / 2);

    const double reach = scale_ * std::sqrt(-2 * std::log(unheard));
    const Eigen::Index all = second_.size(), width = reach < last ? 32 : all;
    for (Eigen::Index column = 0; column < all; column += width)
      add_stretch(column, std::min(width, all - column), reach);
  }

  const Vector& first() const { return first_; }
  const Vector& second() const { return second_; }
  const std::vector<Stretch>& stretches() const { return stretches_; }

  // Of all nodes given all. Made when first asked for: many densities never ask.
  const Matrix& log_density() const {
    if (log_density_.size() == 0)
      log_density_ = logs(from(0, 0, first_.size(), second_.size()));
    return log_density_;
  }

  // Derivatives by rho and by sqrt(1 - rho^2), of items expected at some nodes.
  Eigen::RowVector2d by_factor(Eigen::Index row, Eigen::Index column, const Matrix& expected) const {
    const Matrix away = from(row, column, expected.rows(), expected.cols());
    const Vector by_row = expected.cwiseProduct(away).rowwise().sum();
    const double by_scale = expected.cwiseProduct((away.array().square() - 1).matrix()).sum();
    return {by_row.dot(first_.segment(row, expected.rows())) / scale_, resolved_ * by_scale / scale_};
  }

 private:
  static constexpr double narrowest = 1. / 256;  // rho = .99999

  void add_stretch(Eigen::Index column, Eigen::Index columns, double reach) {
    const auto is_near = [&](double x) {
      return rho_ * x + reach >= second_(column) &&
             rho_ * x - reach <= second_(column + columns - 1);
    };
    Eigen::Index begin = 0, end = first_.size();
    while (begin < end && !is_near(first_(begin))) ++begin;
    while (begin < end && !is_near(first_(end - 1))) --end;
    const Matrix log_density = logs(from(begin, column, end - begin, columns));
    stretches_.push_back({begin, column, log_density.array().exp().max(negligible)});
  }

  // How far y is from its mean given x, in standard deviations.
  Matrix from(Eigen::Index row, Eigen::Index column, Eigen::Index rows, Eigen::Index columns) const {
    const auto y = second_.segment(column, columns).transpose();
    return (y.replicate(rows, 1).colwise() - rho_ * first_.segment(row, rows)) / scale_;
  }

  Matrix logs(const Matrix& away) const { return constant_ - 0.5 * away.array().square(); }

  Vector first_, second_;
  double rho_, scale_;
  bool resolved_;
  double constant_;
  std::vector<Stretch> stretches_;
  mutable Matrix log_density_;
};

// Cells of an item's ratings by one pool, in its table, and how many ratings each has.
using PoolCells = std::vector<std::pair<Eigen::Index, double>>;

// The raters of each pool, numbered within it.
struct PoolsOfRaters {
  std::array<Eigen::Index, 2> size{0, 0};
  std::vector<Eigen::Index> within;
  const Integers& pool;

  explicit PoolsOfRaters(const Integers& pool) : pool(pool) {
    for (const int of : pool) within.push_back(size[of - 1]++);
  }

  // Values of the raters of a pool.
  Vector of(const Vector& values, int which) const {
    Vector own(size[which]);
    for (std::size_t rater = 0; rater < pool.size(); ++rater)
      if (pool[rater] == which + 1) own(within[rater]) = values(rater);
    return own;
  }

  void split(const Integers& cell, const ConstVector& count, int begin, int end,
             std::array<PoolCells, 2>& cells) const {
    for (auto& of_pool : cells) of_pool.clear();
    for (int c = begin; c < end; ++c) {
      const auto [category, rater] = std::div(cell[c] - 1, static_cast<int>(pool.size()));
      const int which = pool[rater] - 1;
      cells[which].emplace_back(category * size[which] + within[rater], count[c]);
    }
  }
};

// Log-probability of an item's ratings by a pool, by node of its score.
inline Vector log_said(const PoolCells& cells, const GradedTable& table) {
  Vector logs = Vector::Zero(table.probability.rows());
  for (const auto& [column, count] : cells) logs += count * table.log_probability().col(column);
  return logs;
}

// Whether probabilities of few ratings, each for itself, may be multiplied: see item_mixture.hpp.
inline bool is_short(const PoolCells& cells) {
  return cells.size() <= most_factors &&
         std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.second == 1; });
}

// Probability of an item's ratings by a pool, by node of its score, over the largest; and the
// logarithm of that.
inline double said(const PoolCells& cells, const GradedTable& table, Vector& probability) {
  if (is_short(cells)) {
    probability.setOnes(table.probability.rows());
    for (const auto& [column, once] : cells)
      probability.array() *= table.probability.col(column).array();
    const double largest = probability.maxCoeff();
    if (largest > smallest_product) {
      probability = (probability / largest).cwiseMax(negligible);
      return std::log(largest);
    }
  }
  const Vector logs = log_said(cells, table);
  const double largest = logs.maxCoeff();
  probability = (logs.array() - largest).exp().max(negligible);
  return largest;
}

// The second pool's ratings of an item, summed over the second score: by node of the first.
class InnerSum {
 public:
  InnerSum(const GradedTable& table, const Conditional& given) : table_(table), given_(given) {
    for (const auto& [row, column, density] : given.stretches())
      weight_.push_back(Matrix::Zero(density.rows(), density.cols()));
  }

  const PoolCells& cells() const { return cells_; }

  // The sums, but for a factor exp(scale()), as good as they are where the first pool agrees.
  const Vector& sum() const { return sum_; }
  double scale() const { return scale_; }

  void evaluate(const PoolCells& cells) {
    cells_ = cells;
    contradicts_ = false;
    scale_ = said(cells, table_, probability_);
    begin_ = 0, end_ = probability_.size();
    while (probability_(begin_) < unheard) ++begin_;
    while (probability_(end_ - 1) < unheard) --end_;
    sum_ = items_ = Vector::Zero(given_.first().size());
    each_heard([&](const Stretch& on, Matrix&, Eigen::Index begin, Eigen::Index size) {
      sum_.segment(on.row, on.density.rows()).noalias() +=
          on.density.middleCols(begin - on.column, size) * probability_.segment(begin, size);
    });
    sum_ = sum_.cwiseMax(negligible);
  }

  // Where the first pool contradicts the second: the sums by logarithms, whatever it says.
  bool contradicts() const { return contradicts_; }
  Values log_sum() const { return by_row_.array() + sum_.array().log(); }

  void resolve() {
    contradicts_ = true;
    joint_ = given_.log_density().rowwise() + log_said(cells_, table_).transpose();
    by_row_ = joint_.rowwise().maxCoeff();
    joint_.colwise() -= by_row_;
    joint_ = joint_.array().exp().max(negligible);
    sum_ = joint_.rowwise().sum();
    items_ = Vector::Zero(sum_.size());
  }

  // Expected items by node of the first score.
  void add(const Vector& items) { items_ += items; }

  // Shares them out among the nodes of the second.
  void spread(Matrix& by_table) {
    const Vector share = items_.cwiseQuotient(sum_);
    Vector by_second = Vector::Zero(probability_.size());
    if (contradicts_) {
      joint_ = share.asDiagonal() * joint_;
      if (contradicting_.size() == 0) contradicting_ = joint_;
      else contradicting_ += joint_;
      by_second = joint_.colwise().sum();
    } else {
      each_heard([&](const Stretch& on, Matrix& weight, Eigen::Index begin, Eigen::Index size) {
        const auto own = share.segment(on.row, on.density.rows());
        const auto heard = probability_.segment(begin, size);
        weight.middleCols(begin - on.column, size).noalias() += own * heard.transpose();
        auto by_heard = by_second.segment(begin, size);
        by_heard.noalias() = on.density.middleCols(begin - on.column, size).transpose() * own;
        by_heard.array() *= heard.array();
      });
    }
    for (const auto& [column, count] : cells_) by_table.col(column) += count * by_second;
  }

  // Derivatives by rho and by sqrt(1 - rho^2) of all that was spread.
  Eigen::RowVector2d by_factor() const {
    Eigen::RowVector2d sum = Eigen::RowVector2d::Zero();
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      const auto& [row, column, density] = given_.stretches()[k];
      sum += given_.by_factor(row, column, weight_[k].cwiseProduct(density));
    }
    if (contradicting_.size() > 0) sum += given_.by_factor(0, 0, contradicting_);
    return sum;
  }

 private:
  // The nodes in each stretch that are heard of.
  template <typename Read>
  void each_heard(Read read) {
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      const Stretch& on = given_.stretches()[k];
      const Eigen::Index begin = std::max(begin_, on.column);
      const Eigen::Index end = std::min(end_, on.column + on.density.cols());
      if (begin < end) read(on, weight_[k], begin, end - begin);
    }
  }

  const GradedTable& table_;
  const Conditional& given_;
  std::vector<Matrix> weight_;  // times the density of a stretch: the items expected there
  Matrix contradicting_;        // items expected where sums were by logarithms, if there are any
  Matrix joint_;
  Vector probability_, sum_, by_row_, items_;
  double scale_;
  Eigen::Index begin_, end_;  // of the nodes that are heard of
  PoolCells cells_;
  bool contradicts_;
};

// The ratings of an item by the first pool, joined to those by the second: by node of the first score,
// but for a factor, and the logarithm of that factor.
inline double join(const PoolCells& cells, const GradedTable& table, const ConstVector& weight,
                   const InnerSum& inner, Vector& state) {
  if (!inner.contradicts()) {
    const double scale = said(cells, table, state);
    state = (state.array() * weight.array() * inner.sum().array()).max(negligible);
    return scale + inner.scale();
  }
  state = weight.array().log() + log_said(cells, table).array() + inner.log_sum();
  const double scale = state.maxCoeff();
  state = (state.array() - scale).exp().max(negligible);
  return scale;
}

template <typename Level, typename Sd, typename Factor, typename Cut>
stan::return_type_t<Level, Sd, Factor, Cut> paired_mixture(
    const Level& level, const Sd& sd, const Factor& factor, const Cut& cut, const Integers& pool,
    int probit, const ConstVector& node, const ConstVector& weight, const Integers& items,
    const Integers& first, const Integers& cell, const ConstVector& count,
    std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level), s = stan::math::value_of(sd);
  const Matrix f = stan::math::value_of(factor), c = stan::math::value_of(cut);
  const Conditional given(node, f(1, 0), f(1, 1));
  const std::array<Vector, 2> score{node, given.second()};

  const PoolsOfRaters raters(pool);
  const auto table = [&](int g) {
    return GradedTable(raters.of(l, g), s(g) * score[g].array(), c.col(g), probit);
  };
  const std::array<GradedTable, 2> tables{table(0), table(1)};
  std::array<Matrix, 2> by_table;
  for (int g = 0; g < 2; ++g)
    by_table[g] = Matrix::Zero(tables[g].probability.rows(), tables[g].probability.cols());

  InnerSum inner(tables[1], given);
  std::array<PoolCells, 2> cells;
  Vector state;
  double value = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    raters.split(cell, count, first[i] - 1, first[i + 1] - 1, cells);
    if (i == 0 || cells[1] != inner.cells()) {
      if (i > 0) inner.spread(by_table[1]);
      inner.evaluate(cells[1]);
    }
    double scale = join(cells[0], tables[0], weight, inner, state);
    if (!(state.sum() > contradiction)) {
      inner.spread(by_table[1]);
      inner.resolve();
      scale = join(cells[0], tables[0], weight, inner, state);
    }
    value += items[i] * (scale + std::log(state.sum()));
    state *= items[i] / state.sum();
    inner.add(state);
    for (const auto& [column, times] : cells[0]) by_table[0].col(column) += times * state;
  }
  inner.spread(by_table[1]);

  if constexpr (stan::is_constant_all<Level, Sd, Factor, Cut>::value) {
    return value;
  } else {
    const std::array<GradedGradient, 2> by{GradedGradient(tables[0], by_table[0]),
                                           GradedGradient(tables[1], by_table[1])};
    Vector by_level(l.size());
    for (Eigen::Index rater = 0; rater < l.size(); ++rater)
      by_level(rater) = by[pool[rater] - 1].by_level(raters.within[rater]);
    const Vector by_sd{{by[0].by_effect.dot(score[0]), by[1].by_effect.dot(score[1])}};
    Matrix by_factor = Matrix::Zero(2, 2);
    by_factor.row(1) = inner.by_factor();
    Matrix by_cut(c.rows(), 2);
    by_cut << by[0].by_cut, by[1].by_cut;
    return with_gradient(value, Differentiated(level, by_level), Differentiated(sd, by_sd),
                         Differentiated(factor, by_factor), Differentiated(cut, by_cut));
  }
}

}  // namespace reliabayes

using reliabayes::paired_mixture;
