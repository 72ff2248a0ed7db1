#include "ordinal_pair_mixture_pass.hpp"

#include "item_mixture_pass.hpp"
#include "ordinal_table.hpp"
#include "score_quadrature.hpp"
#include "widest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace reliabayes {

// Entries of an item's ratings by one pool: column of the pool's table, and number of ratings.
using PoolEntries = std::vector<std::pair<Eigen::Index, double>>;

// The raters of each pool, numbered within their pool.
struct PoolsOfRaters {
  std::array<Eigen::Index, 2> size{0, 0};
  std::vector<Eigen::Index> within;
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

  void split(const Integers& cell, const ConstVector& count, int begin, int end,
             std::array<PoolEntries, 2>& entries) const {
    for (auto& of_pool : entries) of_pool.clear();
    for (int c = begin; c < end; ++c) {
      const auto [category, rater] = std::div(cell[c] - 1, static_cast<int>(pool.size()));
      const int which = pool[rater] - 1;
      entries[which].emplace_back(category * size[which] + within[rater], count[c]);
    }
  }
};

// Log-probability of an item's ratings by a pool, by node of its score.
static Vector log_probability(const PoolEntries& entries, const OrdinalTable& table) {
  Vector logs = Vector::Zero(table.by_upper.rows());
  for (const auto& [column, count] : entries)
    logs += count * table.probability.log().col(column);
  return logs;
}

// Whether the probabilities of the ratings may be multiplied: few entries of one rating each, see
// item_mixture_pass.hpp.
static bool is_short(const PoolEntries& entries) {
  return entries.size() <= most_factors &&
         std::all_of(entries.begin(), entries.end(), [](const auto& e) { return e.second == 1; });
}

// Probability of an item's ratings by a pool, by node of its score, relative to the largest; returns the
// logarithm of the largest.
static double relative_probability(const PoolEntries& entries, const OrdinalTable& table,
                                   Vector& probability) {
  if (is_short(entries)) {
    probability.setOnes(table.by_upper.rows());
    for (const auto& [column, once] : entries)
      probability.array() *= table.probability.factor().col(column).array();
    const double largest = probability.maxCoeff();
    if (largest > smallest_product) {
      probability = (probability / largest).cwiseMax(smallest_probability);
      return std::log(largest);
    }
  }
  const Vector logs = log_probability(entries, table);
  const double largest = logs.maxCoeff();
  probability = (logs.array() - largest).exp().max(smallest_probability);
  return largest;
}

// Adds the product of a matrix and a vector to a sum.
WIDEST static void add_product(double* __restrict sum, const double* __restrict matrix,
                               const double* __restrict vector, Eigen::Index rows,
                               Eigen::Index columns) {
  Eigen::Index c = 0;
  for (; c + 4 <= columns; c += 4, matrix += 4 * rows)
    for (Eigen::Index r = 0; r < rows; ++r)
      sum[r] += matrix[r] * vector[c] + matrix[r + rows] * vector[c + 1] +
                matrix[r + 2 * rows] * vector[c + 2] + matrix[r + 3 * rows] * vector[c + 3];
  for (; c < columns; ++c, matrix += rows)
    for (Eigen::Index r = 0; r < rows; ++r) sum[r] += matrix[r] * vector[c];
}

// Adds the outer product of two vectors to one matrix, and gives the product of the first vector and
// another matrix, transposed.
WIDEST static void outer_and_inner(double* __restrict outer, double* __restrict inner,
                                   const double* __restrict matrix, const double* __restrict left,
                                   const double* __restrict right, Eigen::Index rows,
                                   Eigen::Index columns) {
  constexpr Eigen::Index lanes = 8;
  for (Eigen::Index c = 0; c < columns; ++c, matrix += rows, outer += rows) {
    double partial[lanes] = {};
    Eigen::Index r = 0;
    for (; r + lanes <= rows; r += lanes)
      for (Eigen::Index lane = 0; lane < lanes; ++lane) {
        outer[r + lane] += left[r + lane] * right[c];
        partial[lane] += left[r + lane] * matrix[r + lane];
      }
    double total = 0;
    for (const double part : partial) total += part;
    for (; r < rows; ++r) {
      outer[r] += left[r] * right[c];
      total += left[r] * matrix[r];
    }
    inner[c] = total;
  }
}

// The sum over the second score of an item's ratings by the second pool, by node of the first score.
class InnerSum {
 public:
  InnerSum(const OrdinalTable& table, const ConditionalDensity& conditional)
      : table_(table), conditional_(conditional) {
    for (const auto& [row, column, density] : conditional.blocks())
      weight_.push_back(Matrix::Zero(density.rows(), density.cols()));
  }

  const PoolEntries& entries() const { return entries_; }

  // The sums, up to a factor exp(scale()); accurate where the first pool's ratings are compatible.
  const Vector& sum() const { return sum_; }
  double scale() const { return scale_; }

  void evaluate(const PoolEntries& entries) {
    entries_ = entries;
    is_log_scale_ = false;
    scale_ = relative_probability(entries, table_, probability_);
    begin_ = 0, end_ = probability_.size();
    while (probability_(begin_) < support_limit) ++begin_;
    while (probability_(end_ - 1) < support_limit) --end_;
    sum_ = expected_ = Vector::Zero(conditional_.first().size());
    for_each_block([&](auto rows, const auto& density, auto, Eigen::Index begin) {
      add_product(sum_.data() + rows.begin, density.data(), probability_.data() + begin, rows.size,
                  density.cols());
    });
    sum_ = sum_.cwiseMax(smallest_probability);
  }

  // Whether the two pools' ratings of an item are so incompatible that sums are taken by logarithms.
  bool is_log_scale() const { return is_log_scale_; }
  Values log_sum() const { return by_row_.array() + sum_.array().log(); }

  void evaluate_on_log_scale() {
    is_log_scale_ = true;
    joint_ = conditional_.log_density().rowwise() + log_probability(entries_, table_).transpose();
    by_row_ = joint_.rowwise().maxCoeff();
    joint_.colwise() -= by_row_;
    joint_ = joint_.array().exp().max(smallest_probability);
    sum_ = joint_.rowwise().sum();
    expected_ = Vector::Zero(sum_.size());
  }

  // Adds expected numbers of items, by node of the first score.
  void add(const Vector& expected_items) { expected_ += expected_items; }

  // Distributes them over the nodes of the second score, and adds them to the table's adjoint.
  void distribute(Matrix& by_table) {
    const Vector ratio = expected_.cwiseQuotient(sum_);
    Vector by_second = Vector::Zero(probability_.size());
    if (is_log_scale_) {
      joint_ = ratio.asDiagonal() * joint_;
      if (log_scale_expected_.size() == 0) log_scale_expected_ = joint_;
      else log_scale_expected_ += joint_;
      by_second = joint_.colwise().sum();
    } else {
      for_each_block([&](auto rows, const auto& density, auto weight, Eigen::Index begin) {
        outer_and_inner(weight.data(), by_second.data() + begin, density.data(),
                        ratio.data() + rows.begin, probability_.data() + begin, rows.size,
                        density.cols());
        by_second.segment(begin, density.cols()).array() *=
            probability_.segment(begin, density.cols()).array();
      });
    }
    for (const auto& [column, count] : entries_) by_table.col(column) += count * by_second;
  }

  // Derivatives by rho and by sqrt(1 - rho^2), of all items distributed so far.
  Eigen::RowVector2d by_factor() const {
    Eigen::RowVector2d sum = Eigen::RowVector2d::Zero();
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      const auto& [row, column, density] = conditional_.blocks()[k];
      sum += conditional_.by_factor(row, column, weight_[k].cwiseProduct(density));
    }
    if (log_scale_expected_.size() > 0) sum += conditional_.by_factor(0, 0, log_scale_expected_);
    return sum;
  }

 private:
  struct Rows {
    Eigen::Index begin, size;
  };

  // Calls visit(rows, density, weight, begin) for each block, cut to the columns where the probability
  // is not negligible; begin is the first of these among the nodes of the second score.
  template <typename Visit>
  void for_each_block(Visit visit) {
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      const DensityBlock& block = conditional_.blocks()[k];
      const Eigen::Index begin = std::max(begin_, block.column);
      const Eigen::Index size = std::min(end_, block.column + block.density.cols()) - begin;
      if (size > 0)
        visit(Rows{block.row, block.density.rows()},
              block.density.middleCols(begin - block.column, size),
              weight_[k].middleCols(begin - block.column, size), begin);
    }
  }

  const OrdinalTable& table_;
  const ConditionalDensity& conditional_;
  std::vector<Matrix> weight_;  // times the density of a block: expected items by pair of nodes
  Matrix log_scale_expected_;   // expected items of sums that were taken by logarithms, if any
  Matrix joint_;
  Vector probability_, sum_, by_row_, expected_;
  double scale_;
  Eigen::Index begin_, end_;  // of the nodes of the second score with probabilities that count
  PoolEntries entries_;
  bool is_log_scale_;
};

// The joint probability of an item's ratings by both pools, by node of the first score, relative to a
// scale; returns the logarithm of the scale.
static double join(const PoolEntries& entries, const OrdinalTable& table, const ConstVector& weight,
                   const InnerSum& inner, Vector& state) {
  if (!inner.is_log_scale()) {
    const double scale = relative_probability(entries, table, state);
    state = (state.array() * weight.array() * inner.sum().array()).max(smallest_probability);
    return scale + inner.scale();
  }
  state = weight.array().log() + log_probability(entries, table).array() + inner.log_sum();
  const double scale = state.maxCoeff();
  state = (state.array() - scale).exp().max(smallest_probability);
  return scale;
}

double ordinal_pair_mixture_pass(const Vector& level, const Vector& sd, const Matrix& factor,
                                 const Matrix& cut, bool probit, const ConstVector& node,
                                 const ConstVector& weight, const ItemsOfPools& data,
                                 OrdinalPairMixtureGradient* gradient) {
  const ConditionalDensity conditional(node, factor(1, 0), factor(1, 1));
  const std::array<Vector, 2> score{node, conditional.second()};

  const PoolsOfRaters raters(data.pool);
  const auto table = [&](int g) {
    return OrdinalTable(raters.select(level, g), sd(g) * score[g].array(), cut.col(g), probit);
  };
  const std::array<OrdinalTable, 2> tables{table(0), table(1)};
  std::array<Matrix, 2> by_table;
  for (int g = 0; g < 2; ++g)
    by_table[g] = Matrix::Zero(tables[g].by_upper.rows(), tables[g].by_upper.cols());

  InnerSum inner(tables[1], conditional);
  std::array<PoolEntries, 2> entries;
  Vector state;
  double value = 0;
  for (std::size_t i = 0; i < data.multiplicity.size(); ++i) {
    raters.split(data.cell, data.count, data.first[i] - 1, data.first[i + 1] - 1, entries);
    if (i == 0 || entries[1] != inner.entries()) {
      if (i > 0) inner.distribute(by_table[1]);
      inner.evaluate(entries[1]);
    }
    double scale = join(entries[0], tables[0], weight, inner, state);
    if (!(state.sum() > smallest_sum)) {
      inner.distribute(by_table[1]);
      inner.evaluate_on_log_scale();
      scale = join(entries[0], tables[0], weight, inner, state);
    }
    value += data.multiplicity[i] * (scale + std::log(state.sum()));
    state *= data.multiplicity[i] / state.sum();
    inner.add(state);
    for (const auto& [column, times] : entries[0]) by_table[0].col(column) += times * state;
  }
  inner.distribute(by_table[1]);

  if (gradient == nullptr) return value;
  const std::array<OrdinalGradient, 2> by{OrdinalGradient(tables[0], by_table[0]),
                                          OrdinalGradient(tables[1], by_table[1])};
  gradient->by_level.resize(level.size());
  for (Eigen::Index rater = 0; rater < level.size(); ++rater)
    gradient->by_level(rater) = by[data.pool[rater] - 1].by_level(raters.within[rater]);
  gradient->by_sd = Vector{{by[0].by_effect.dot(score[0]), by[1].by_effect.dot(score[1])}};
  gradient->by_factor = Matrix::Zero(2, 2);
  gradient->by_factor.row(1) = inner.by_factor();
  gradient->by_cut.resize(cut.rows(), 2);
  gradient->by_cut << by[0].by_cut, by[1].by_cut;
  return value;
}

}  // namespace reliabayes
