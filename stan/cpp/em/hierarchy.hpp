// What EM of confusion matrices with log odds that resemble one another starts from, and tables of log odds.
//
// Numbers of a point are its prevalence (K), locations and spreads (E), the spread of abilities, abilities (R) and
// effects (E, R), one after another. An error e is a true category h with a wrong one k.
#pragma once
#include "items.hpp"

namespace reliabayes::em {

// src/reliabayes/families/categories/log_odds.py has the same structure.
struct Hierarchy : Items {
  const double* prevalence;    // prior counts
  const double* precision;     // of log odds by error and rater, for a Laplace approximation
  double location_mean, location_sd;
  double spread_df, spread_scale;  // of half t priors; infinite degrees of freedom make them half normal
  double ability_df, ability_scale;

  Count wrong() const { return categories - 1; }
  Count errors() const { return categories * wrong(); }
  const double* locations(const double* x) const { return x + categories; }
  const double* spreads(const double* x) const { return locations(x) + errors(); }
  const double* ability_spread(const double* x) const { return spreads(x) + errors(); }
  const double* abilities(const double* x) const { return ability_spread(x) + 1; }
  const double* effects(const double* x) const { return abilities(x) + raters; }
  double level(const double* x, Count rater) const { return -*ability_spread(x) * abilities(x)[rater]; }
};

// Tables by rater are padded to whole lanes, in which log odds are those of all raters.
inline Count width_of(const Hierarchy& own) { return in_whole_lanes(own.raters); }

// Log odds (E, raters) of a point.
inline std::vector<double> log_odds_of(const Hierarchy& own, const double* x) {
  const Count width = width_of(own);
  std::vector<double> found(own.errors() * width);
  for (Count e = 0; e < own.errors(); ++e) {
    const double *effect = own.effects(x) + e * own.raters, location = own.locations(x)[e], spread = own.spreads(x)[e];
    for (Count j = 0; j < width; ++j)
      found[e * width + j] = location + (j < own.raters ? own.level(x, j) + spread * effect[j] : 0);
  }
  return found;
}

// Odds of errors of four raters, which take the place of their logs, and of what is right; all are divided by the
// largest.
struct Odds {
  Lanes log_largest, right, sum;
};
INLINE Odds to_odds(Aligned* log_odds, Count n) {
  Lanes largest = all(0);
  for (Count k = 0; k < n; ++k) largest = larger(largest, log_odds[k].lanes);
  const Lanes right = exponential(larger(-largest, -largest_exponent));
  Odds found{largest, right, right};
  for (Count k = 0; k < n; ++k)
    found.sum += log_odds[k].lanes = exponential(larger(log_odds[k].lanes - largest, -largest_exponent));
  return found;
}
INLINE Lanes log_total(const Odds& odds) { return odds.log_largest + logarithm(odds.sum); }

// What ratings of such a precision make of four raters: by how much they narrow each error's effect, and the precision
// of the level.
struct Narrowed {
  Lanes log_ratio = all(0), of_level = all(0);
};
INLINE Narrowed narrowed(const Hierarchy& own, const double* variance, Count j) {
  Narrowed found;
  for (Count e = 0; e < own.errors(); ++e) {
    const Lanes some = read_some(own.precision + e * own.raters + j, own.raters - j), ratio = 1 + variance[e] * some;
    found.log_ratio += logarithm(ratio);
    found.of_level += some / ratio;
  }
  return found;
}

WIDEST static double log_prior(const Hierarchy& own, const double* x) {
  const double ability_spread = *own.ability_spread(x);
  double total = log_half_t(ability_spread, own.ability_df, own.ability_scale) + std::log(ability_spread);
  std::vector<double> variance(own.errors());
  Lanes of_raters = all(0);
  for (Count h = 0; h < own.categories; ++h) total += x_log_y(own.prevalence[h], x[h]);
  for (Count e = 0; e < own.errors(); ++e) {
    const double spread = own.spreads(x)[e], *effect = own.effects(x) + e * own.raters;
    variance[e] = spread * spread;
    total += log_normal(own.locations(x)[e], own.location_mean, own.location_sd) +
             log_half_t(spread, own.spread_df, own.spread_scale) + std::log(spread);
    for (Count j = 0; j < own.raters; j += lanes) {
      const Lanes some = read_some(effect + j, own.raters - j);
      of_raters += some * some;
    }
  }
  for (Count j = 0; j < own.raters; j += lanes) {
    const Lanes ability = read_some(own.abilities(x) + j, own.raters - j);
    const Narrowed of = narrowed(own, variance.data(), j);
    of_raters += ability * ability + of.log_ratio + logarithm(1 + squared(ability_spread) * of.of_level);
  }
  return total - 0.5 * sum_of(of_raters);
}

}  // namespace reliabayes::em
