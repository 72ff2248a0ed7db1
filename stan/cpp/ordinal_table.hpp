// Log-probabilities of ratings in ordered categories, by state of the item, category and rater.
//
// The category of a rating is the number of cut points below its location plus a residual:
//
//     location = level[rater] + effect[state],
//     Pr(rating = k) = F(location - cut[k - 1]) - F(location - cut[k]),
//
// with F logistic or standard normal, F = 1 below the first cut point and 0 beyond the last. The table
// and its derivatives are computed together; automatic differentiation would take ten times as long.
// Logistic odds of exceeding a cut point are products of a rater's, a state's and the cut point's.
#pragma once
#include "factor_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace reliabayes {

using Values = Eigen::ArrayXd;

// A cut point as seen from the locations of all states: the probability that a rating exceeds it, the
// complement, and the density of the residual there.
struct Boundary {
  Values distance;  // location minus cut point
  Values above, below, density;

  // The boundary below the first category (side = 1) or above the last (side = -1).
  static Boundary outermost(Eigen::Index states, double side) {
    const Values above = Values::Constant(states, side > 0);
    return {Values::Constant(states, side * std::numeric_limits<double>::infinity()), above,
            1 - above, Values::Zero(states)};
  }

  static Boundary at(const Values& distance, bool probit) {
    const Values magnitude = distance.abs();
    Values tail, density;
    if (probit) {
      tail = magnitude.unaryExpr([](double x) { return 0.5 * std::erfc(x * M_SQRT1_2); });
      density = (-0.5 * magnitude.square()).exp() * (M_SQRT1_2 * M_2_SQRTPI / 2);
    } else {
      const Values odds = (-magnitude).exp();
      tail = odds / (1 + odds);
      density = tail / (1 + odds);
    }
    return {distance, (distance > 0).select(1 - tail, tail),
            (distance > 0).select(tail, 1 - tail), density};
  }
};

// Probability of the category between two boundaries, and the density at each boundary over that
// probability: the derivative of the log-probability by the location is by_upper - by_lower.
struct CategoryProbability {
  Values probability, by_upper, by_lower;

  // `upper` belongs to the cut point below the category, at the larger distance from the location.
  CategoryProbability(const Boundary& upper, const Boundary& lower)
      // The difference of the two smaller tails avoids cancellation.
      : probability((lower.distance > 0)
                        .select(lower.below - upper.below, upper.above - lower.above)
                        .max(std::numeric_limits<double>::min())),
        by_upper(upper.density / probability),
        by_lower(lower.density / probability) {}
};

// The table (rows: states, columns: by category, then by rater) and its derivatives.
struct OrdinalTable {
  Eigen::Index raters, cuts;
  FactorTable probability;
  Matrix by_upper, by_lower;

  OrdinalTable(const Vector& level, const Values& effect, const Vector& cut, bool probit)
      : raters(level.size()),
        cuts(cut.size()),
        by_upper(effect.size(), raters * (cuts + 1)),
        by_lower(by_upper.rows(), by_upper.cols()) {
    Matrix found(by_upper.rows(), by_upper.cols());
    const double farthest = level.lpNorm<Eigen::Infinity>() + effect.abs().maxCoeff() +
                            cut.lpNorm<Eigen::Infinity>();
    if (!probit && farthest < largest_log_odds) fill_by_odds(level, effect, cut, found);
    else fill_by_boundaries(level, effect, cut, probit, found);
    probability = FactorTable::of(std::move(found));
  }

 private:
  static constexpr double largest_log_odds = 690;  // whose odds and their inverse are numbers

  // With odds u and v of exceeding the upper and the lower boundary of a category, v = u exp(-step), its
  // probability is u (1 - exp(-step)) / ((1 + u) (1 + v)), and nothing cancels in the derivatives.
  void fill_by_odds(const Vector& level, const Values& effect, const Vector& cut, Matrix& found) {
    const Values of_state = effect.exp(), of_rater = level.array().exp();
    const Values of_cut = (-cut.array()).exp();
    const Values step = cut.tail(cuts - 1) - cut.head(cuts - 1), ratio = (-step).exp();
    const Values gap = (-(-step).expm1()).max(std::numeric_limits<double>::min());
    Values upper, upper_inverse, lower(effect.size()), lower_inverse(effect.size());
    for (Eigen::Index rater = 0; rater < raters; ++rater) {
      for (Eigen::Index k = 0; k <= cuts; ++k) {
        auto category = found.col(k * raters + rater).array();
        auto by_up = by_upper.col(k * raters + rater).array();
        auto by_low = by_lower.col(k * raters + rater).array();
        if (k < cuts) {
          lower = of_state * (of_rater(rater) * of_cut(k));
          lower_inverse = 1 / (1 + lower);
        }
        if (k == 0) {
          category = lower_inverse;
          by_up = 0;
          by_low = lower * lower_inverse;
        } else if (k == cuts) {
          category = upper * upper_inverse;
          by_up = upper_inverse;
          by_low = 0;
        } else {
          category = upper * upper_inverse * gap(k - 1) * lower_inverse;
          by_up = (1 + lower) * upper_inverse / gap(k - 1);
          by_low = (ratio(k - 1) + lower) * lower_inverse / gap(k - 1);
        }
        category = category.max(std::numeric_limits<double>::min());
        upper = lower;
        upper_inverse = lower_inverse;
      }
    }
  }

  void fill_by_boundaries(const Vector& level, const Values& effect, const Vector& cut, bool probit,
                          Matrix& found) {
    for (Eigen::Index rater = 0; rater < raters; ++rater) {
      const Values location = level(rater) + effect;
      Boundary upper = Boundary::outermost(effect.size(), 1);
      for (Eigen::Index k = 0; k <= cuts; ++k) {
        const Boundary lower = k < cuts ? Boundary::at(location - cut(k), probit)
                                        : Boundary::outermost(effect.size(), -1);
        const CategoryProbability category(upper, lower);
        const Eigen::Index cell = k * raters + rater;
        found.col(cell) = category.probability;
        by_upper.col(cell) = category.by_upper;
        by_lower.col(cell) = category.by_lower;
        upper = lower;
      }
    }
  }
};

// Derivatives of a density by levels, effects and cut points, from its derivatives by the table.
struct OrdinalGradient {
  Vector by_level, by_effect, by_cut;

  OrdinalGradient(const OrdinalTable& table, const Matrix& by_table)
      : by_level(Vector::Zero(table.raters)),
        by_effect(Vector::Zero(by_table.rows())),
        by_cut(Vector::Zero(table.cuts)) {
    Values upper(by_table.rows()), lower(by_table.rows());
    for (Eigen::Index cell = 0; cell < by_table.cols(); ++cell) {
      const Eigen::Index rater = cell % table.raters, category = cell / table.raters;
      const auto state = by_table.col(cell).array();
      upper = state * table.by_upper.col(cell).array();
      lower = state * table.by_lower.col(cell).array();
      by_level(rater) += (upper - lower).sum();
      by_effect.array() += upper - lower;
      if (category > 0) by_cut(category - 1) -= upper.sum();
      if (category < table.cuts) by_cut(category) += lower.sum();
    }
  }
};

}  // namespace reliabayes
