// Ratings in ordered categories of items whose effects are summed over nodes: an item mixture.
//
// In state h an item has the effect effect[h, g] on raters of pool g. A rating is above as many of the
// pool's cut points as its location plus a residual is,
//
//     location = level[rater] + effect[h, pool],
//     Pr(rating = k) = F(location - cut[k - 1, pool]) - F(location - cut[k, pool]),
//
// with F logistic or standard normal, F = 1 below the first cut point and 0 beyond the last. Table and
// derivatives are made in one go, for autodiff would take ten times as long.
#pragma once
#include "item_mixture.hpp"

#include <cmath>
#include <limits>
#include <ostream>

namespace reliabayes {

using Values = Eigen::ArrayXd;

// Where categories meet, seen from the locations of all states: shares of residuals on either side of
// the cut point, and their density at it.
struct Edge {
  Values from;  // location less cut point
  Values share, complement, density;

  // Below the first cut point lies everything, beyond the last nothing.
  static Edge outermost(Eigen::Index states, double side) {
    const Values share = Values::Constant(states, side > 0);
    return {Values::Constant(states, side * std::numeric_limits<double>::infinity()), share,
            1 - share, Values::Zero(states)};
  }

  static Edge at(const Values& from, bool probit) {
    const Values far = from.abs();
    Values less, density;
    if (probit) {
      less = far.unaryExpr([](double x) { return 0.5 * std::erfc(x * M_SQRT1_2); });
      density = (-0.5 * far.square()).exp() * (M_SQRT1_2 * M_2_SQRTPI / 2);
    } else {
      const Values odds = (-far).exp();
      less = odds / (1 + odds);
      density = less / (1 + odds);
    }
    return {from, (from > 0).select(1 - less, less), (from > 0).select(less, 1 - less), density};
  }
};

// The table (states, categories by raters), and its derivatives by the cut points below and above the
// category, but for the sign of the latter.
struct GradedTable {
  Matrix log_probability, by_upper, by_lower;

  GradedTable(const Vector& level, const Matrix& effect, const Matrix& cut, const Integers& pool,
              bool probit)
      : log_probability(effect.rows(), level.size() * (cut.rows() + 1)),
        by_upper(log_probability.rows(), log_probability.cols()),
        by_lower(log_probability.rows(), log_probability.cols()) {
    const Eigen::Index states = effect.rows(), raters = level.size(), cuts = cut.rows();
    for (Eigen::Index rater = 0; rater < raters; ++rater) {
      const int of = pool[rater] - 1;
      const Values location = level(rater) + effect.col(of).array();
      Edge upper = Edge::outermost(states, 1);
      for (Eigen::Index k = 0; k <= cuts; ++k) {
        const Edge lower = k < cuts ? Edge::at(location - cut(k, of), probit)
                                    : Edge::outermost(states, -1);
        // Differences of what is small lose nothing.
        const Values probability
            = (lower.from > 0)
                  .select(lower.complement - upper.complement, upper.share - lower.share)
                  .max(std::numeric_limits<double>::min());
        const Eigen::Index cell = k * raters + rater;
        log_probability.col(cell) = probability.log();
        by_upper.col(cell) = upper.density / probability;
        by_lower.col(cell) = lower.density / probability;
        upper = lower;
      }
    }
  }
};

template <typename Level, typename Effect, typename Cut>
stan::return_type_t<Level, Effect, Cut> graded_mixture(
    const Level& level, const Effect& effect, const Cut& cut, const Integers& pool, int probit,
    const ConstVector& weight, const Integers& items, const Integers& kind, const Integers& first,
    const Integers& cell, const ConstVector& count, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level);
  const Matrix e = stan::math::value_of(effect), c = stan::math::value_of(cut);
  const GradedTable table(l, e, c, pool, probit);
  const Matrix log_weight = weight.array().log();
  const DistinctItems data{items, kind, first, cell, count};
  if constexpr (stan::is_constant_all<Level, Effect, Cut>::value) {
    return item_mixture_pass(table.log_probability, log_weight, data, nullptr);
  } else {
    ItemMixtureGradient gradient{Matrix::Zero(e.rows(), table.log_probability.cols()),
                                 Matrix::Zero(e.rows(), 1)};
    const double value = item_mixture_pass(table.log_probability, log_weight, data, &gradient);
    Vector by_level = Vector::Zero(l.size());
    Matrix by_effect = Matrix::Zero(e.rows(), e.cols()), by_cut = Matrix::Zero(c.rows(), c.cols());
    for (Eigen::Index column = 0; column < gradient.by_table.cols(); ++column) {
      const Eigen::Index rater = column % l.size(), category = column / l.size();
      const int of = pool[rater] - 1;
      const auto state = gradient.by_table.col(column).array();
      const Values upper = state * table.by_upper.col(column).array();
      const Values lower = state * table.by_lower.col(column).array();
      by_level(rater) += (upper - lower).sum();
      by_effect.col(of).array() += upper - lower;
      if (category > 0) by_cut(category - 1, of) -= upper.sum();
      if (category < c.rows()) by_cut(category, of) += lower.sum();
    }
    return with_gradient(value, Differentiated(level, by_level),
                         Differentiated(effect, by_effect), Differentiated(cut, by_cut));
  }
}

}  // namespace reliabayes

using reliabayes::graded_mixture;
