// Log-probabilities of ratings in ordered categories, by state of the item, category and rater.
//
// The category of a rating is the number of cut points below its location plus a residual:
//
//     location = level[rater] + effect[state],
//     Pr(rating = k) = F(location - cut[k - 1]) - F(location - cut[k]),
//
// with F logistic or standard normal, F = 1 below the first cut point and 0 beyond the last. The table
// and its derivatives are computed together; automatic differentiation would take ten times as long.
#pragma once
#include "factor_table.hpp"

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
    const Eigen::Index states = effect.size();
    Matrix found(by_upper.rows(), by_upper.cols());
    for (Eigen::Index rater = 0; rater < raters; ++rater) {
      const Values location = level(rater) + effect;
      Boundary upper = Boundary::outermost(states, 1);
      for (Eigen::Index k = 0; k <= cuts; ++k) {
        const Boundary lower = k < cuts ? Boundary::at(location - cut(k), probit)
                                        : Boundary::outermost(states, -1);
        const CategoryProbability category(upper, lower);
        const Eigen::Index cell = k * raters + rater;
        found.col(cell) = category.probability;
        by_upper.col(cell) = category.by_upper;
        by_lower.col(cell) = category.by_lower;
        upper = lower;
      }
    }
    probability = FactorTable::of(std::move(found));
  }
};

// Derivatives of a density by levels, effects and cut points, from its derivatives by the table.
struct OrdinalGradient {
  Vector by_level, by_effect, by_cut;

  OrdinalGradient(const OrdinalTable& table, const Matrix& by_table)
      : by_level(Vector::Zero(table.raters)),
        by_effect(Vector::Zero(by_table.rows())),
        by_cut(Vector::Zero(table.cuts)) {
    for (Eigen::Index cell = 0; cell < by_table.cols(); ++cell) {
      const Eigen::Index rater = cell % table.raters, category = cell / table.raters;
      const auto state = by_table.col(cell).array();
      const Values upper = state * table.by_upper.col(cell).array();
      const Values lower = state * table.by_lower.col(cell).array();
      by_level(rater) += (upper - lower).sum();
      by_effect.array() += upper - lower;
      if (category > 0) by_cut(category - 1) -= upper.sum();
      if (category < table.cuts) by_cut(category) += lower.sum();
    }
  }
};

}  // namespace reliabayes
