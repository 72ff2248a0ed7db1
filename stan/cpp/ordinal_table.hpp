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
#include "widest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

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

// A rater's ratings in a category, both numbered from 0.
struct OrdinalCell {
  int rater, category;
};

// Boundaries of categories seen from all states, and cells between them, in loops for the widest vectors.
WIDEST static void fill_odds(Eigen::Index states, const double* __restrict of_state, double factor,
                             double* __restrict odds, double* __restrict inverse) {
  for (Eigen::Index h = 0; h < states; ++h) {
    odds[h] = of_state[h] * factor;
    inverse[h] = 1 / (1 + odds[h]);
  }
}

WIDEST static void fill_lowest(Eigen::Index states, const double* __restrict lower,
                               const double* __restrict lower_inverse, double least,
                               double* __restrict probability, double* __restrict by_upper,
                               double* __restrict by_lower) {
  for (Eigen::Index h = 0; h < states; ++h) {
    probability[h] = lower_inverse[h] > least ? lower_inverse[h] : least;
    by_upper[h] = 0;
    by_lower[h] = lower[h] * lower_inverse[h];
  }
}

WIDEST static void fill_highest(Eigen::Index states, const double* __restrict upper,
                                const double* __restrict upper_inverse, double least,
                                double* __restrict probability, double* __restrict by_upper,
                                double* __restrict by_lower) {
  for (Eigen::Index h = 0; h < states; ++h) {
    const double above = upper[h] * upper_inverse[h];
    probability[h] = above > least ? above : least;
    by_upper[h] = upper_inverse[h];
    by_lower[h] = 0;
  }
}

WIDEST static void fill_between(Eigen::Index states, const double* __restrict upper,
                                const double* __restrict upper_inverse,
                                const double* __restrict lower,
                                const double* __restrict lower_inverse, double gap, double ratio,
                                double least, double* __restrict probability,
                                double* __restrict by_upper, double* __restrict by_lower) {
  const double inverse_gap = 1 / gap;
  for (Eigen::Index h = 0; h < states; ++h) {
    const double between = upper[h] * upper_inverse[h] * gap * lower_inverse[h];
    probability[h] = between > least ? between : least;
    by_upper[h] = (1 + lower[h]) * upper_inverse[h] * inverse_gap;
    by_lower[h] = (ratio + lower[h]) * lower_inverse[h] * inverse_gap;
  }
}

// Adds the derivatives by the effects of states, and gives those by both ends of a category.
WIDEST static std::pair<double, double> add_slopes(Eigen::Index states,
                                                   const double* __restrict adjoint,
                                                   const double* __restrict by_upper,
                                                   const double* __restrict by_lower,
                                                   double* __restrict by_effect) {
  constexpr Eigen::Index lanes = 4;
  double uppers[lanes] = {}, lowers[lanes] = {}, rest_upper = 0, rest_lower = 0;
  Eigen::Index h = 0;
  for (; h + lanes <= states; h += lanes)
    for (Eigen::Index lane = 0; lane < lanes; ++lane) {
      const double upper = adjoint[h + lane] * by_upper[h + lane];
      const double lower = adjoint[h + lane] * by_lower[h + lane];
      uppers[lane] += upper;
      lowers[lane] += lower;
      by_effect[h + lane] += upper - lower;
    }
  for (; h < states; ++h) {
    const double upper = adjoint[h] * by_upper[h], lower = adjoint[h] * by_lower[h];
    rest_upper += upper;
    rest_lower += lower;
    by_effect[h] += upper - lower;
  }
  return {(uppers[0] + uppers[1]) + (uppers[2] + uppers[3]) + rest_upper,
          (lowers[0] + lowers[1]) + (lowers[2] + lowers[3]) + rest_lower};
}

// The table (rows: states, columns: cells, those of a rater side by side from the lowest category) and its
// derivatives.
struct OrdinalTable {
  const std::vector<OrdinalCell>& cells;
  Eigen::Index raters, cuts;
  FactorTable probability;
  Matrix by_upper, by_lower;

  OrdinalTable(const Vector& level, const Values& effect, const Vector& cut, bool probit,
               const std::vector<OrdinalCell>& cells)
      : cells(cells),
        raters(level.size()),
        cuts(cut.size()),
        by_upper(effect.size(), cells.size()),
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
    constexpr double least = std::numeric_limits<double>::min();
    const Values gap = (-(-step).expm1()).max(least);
    const Eigen::Index states = effect.size();
    Matrix upper(states, 2), lower(states, 2);  // odds, and the inverse of one plus odds
    const auto set = [&](Matrix& boundary, int rater, int k) {
      fill_odds(states, of_state.data(), of_rater(rater) * of_cut(k), boundary.data(),
                boundary.data() + states);
    };
    OrdinalCell last{-1, 0};  // the boundary in `lower`
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const auto [rater, k] = cells[cell];
      if (k > 0) {
        if (last.rater == rater && last.category == k - 1) upper.swap(lower);
        else set(upper, rater, k - 1);
      }
      if (k < cuts) {
        set(lower, rater, k);
        last = {rater, k};
      }
      const double *const u = upper.data(), *const v = lower.data();
      double* const p = found.col(cell).data();
      double *const by_up = by_upper.col(cell).data(), *const by_low = by_lower.col(cell).data();
      if (k == 0) fill_lowest(states, v, v + states, least, p, by_up, by_low);
      else if (k == cuts) fill_highest(states, u, u + states, least, p, by_up, by_low);
      else
        fill_between(states, u, u + states, v, v + states, gap(k - 1), ratio(k - 1), least, p,
                     by_up, by_low);
    }
  }

  void fill_by_boundaries(const Vector& level, const Values& effect, const Vector& cut, bool probit,
                          Matrix& found) {
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const auto [rater, k] = cells[cell];
      const Values location = level(rater) + effect;
      const auto at = [&](Eigen::Index boundary) {
        return Boundary::at(location - cut(boundary), probit);
      };
      const CategoryProbability category(
          k > 0 ? at(k - 1) : Boundary::outermost(effect.size(), 1),
          k < cuts ? at(k) : Boundary::outermost(effect.size(), -1));
      found.col(cell) = category.probability;
      by_upper.col(cell) = category.by_upper;
      by_lower.col(cell) = category.by_lower;
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
    for (std::size_t cell = 0; cell < table.cells.size(); ++cell) {
      const auto [rater, category] = table.cells[cell];
      const auto [upper, lower] =
          add_slopes(by_table.rows(), by_table.col(cell).data(), table.by_upper.col(cell).data(),
                     table.by_lower.col(cell).data(), by_effect.data());
      by_level(rater) += upper - lower;
      if (category > 0) by_cut(category - 1) -= upper;
      if (category < table.cuts) by_cut(category) += lower;
    }
  }
};

// The cells that have ratings, which in crowds are few of all, and where they stand in a table.
struct UsedCells {
  std::vector<OrdinalCell> cells;
  Integers column;  // of each rating's cell, from 1

  // Of numbers of cells from 1, by category and then by rater.
  UsedCells(const Integers& cell, int raters, int categories) : column(cell.size()) {
    Integers place(raters * categories, 0);
    for (const int each : cell) place[each - 1] = 1;
    for (int rater = 0; rater < raters; ++rater)
      for (int category = 0; category < categories; ++category)
        if (int& at = place[category * raters + rater]; at > 0) {
          cells.push_back({rater, category});
          at = cells.size();
        }
    for (std::size_t c = 0; c < cell.size(); ++c) column[c] = place[cell[c] - 1];
  }
};

}  // namespace reliabayes
