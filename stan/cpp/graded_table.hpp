// Log-probabilities of ratings in ordered categories, by state of the item, category and rater.
//
// A rating is above as many cut points as its location plus a residual is,
//
//     location = level[rater] + effect[state],
//     Pr(rating = k) = F(location - cut[k - 1]) - F(location - cut[k]),
//
// with F logistic or standard normal, F = 1 below the first cut point and 0 beyond the last. Table and
// derivatives are made in one go, for autodiff would take ten times as long.
#pragma once
#include "gradient.hpp"

#include <cmath>
#include <limits>

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

// Probability of the category between two edges, and the derivatives of its logarithm by the cut points
// below and above it, but for the sign of the latter.
struct Between {
  Values probability, by_upper, by_lower;

  Between(const Edge& upper, const Edge& lower)
      // Differences of what is small lose nothing.
      : probability((lower.from > 0)
                        .select(lower.complement - upper.complement, upper.share - lower.share)
                        .max(std::numeric_limits<double>::min())),
        by_upper(upper.density / probability),
        by_lower(lower.density / probability) {}
};

// The table (states, categories by raters), and its derivatives.
struct GradedTable {
  Eigen::Index raters, cuts;
  Matrix probability, by_upper, by_lower;

  GradedTable(const Vector& level, const Values& effect, const Vector& cut, bool probit)
      : raters(level.size()),
        cuts(cut.size()),
        probability(effect.size(), raters * (cuts + 1)),
        by_upper(probability.rows(), probability.cols()),
        by_lower(probability.rows(), probability.cols()) {
    const Eigen::Index states = effect.size();
    for (Eigen::Index rater = 0; rater < raters; ++rater) {
      const Values location = level(rater) + effect;
      Edge upper = Edge::outermost(states, 1);
      for (Eigen::Index k = 0; k <= cuts; ++k) {
        const Edge lower = k < cuts ? Edge::at(location - cut(k), probit)
                                    : Edge::outermost(states, -1);
        const Between here(upper, lower);
        const Eigen::Index cell = k * raters + rater;
        probability.col(cell) = here.probability;
        by_upper.col(cell) = here.by_upper;
        by_lower.col(cell) = here.by_lower;
        upper = lower;
      }
    }
  }

  // Taken when first asked for: many densities never ask.
  const Matrix& log_probability() const {
    if (logs_.size() == 0) logs_ = probability.array().log();
    return logs_;
  }

 private:
  mutable Matrix logs_;
};

// Derivatives of a density by what its table was made of, from those by the table.
struct GradedGradient {
  Vector by_level, by_effect, by_cut;

  GradedGradient(const GradedTable& table, const Matrix& by_table)
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
