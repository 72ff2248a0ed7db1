// Steps of EM for confusion matrices with log odds that resemble one another: what src/reliabayes/inference/log_odds.py
// and src/reliabayes/likelihoods/item_mixture.py compute with NumPy, without the time that it takes for small arrays.
#include "em/hierarchy.hpp"
#include "em/rows.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace reliabayes::em {
namespace {

// Log-probabilities of ratings by cell and state, in whole lanes.
WIDEST void tabulate(const Hierarchy& own, const double* log_odds, double* table) {
  const Count n = own.wrong(), width = width_of(own), stride = in_whole_lanes(own.categories);
  std::vector<Aligned> of_four(n), odds(n);
  for (Count h = 0; h < own.categories; ++h)
    for (Count from = 0; from < own.raters; from += lanes) {
      for (Count k = 0; k < n; ++k) of_four[k].lanes = read(log_odds + (h * n + k) * width + from);
      odds = of_four;
      const Lanes total = log_total(to_odds(odds.data(), n));
      for (Count k = 0; k < own.categories; ++k) {
        const Lanes found = (k == h ? all(0) : of_four[k - (k > h)].lanes) - total;
        for (Count j = from; j < std::min(from + lanes, own.raters); ++j)
          table[(k * own.raters + j) * stride + h] = found[j - from];
      }
    }
}

constexpr int steps = 3, halvings = 20;
constexpr double rounding = 1e-13;  // of a log density, relative
constexpr double enough = 1e-3;     // nats that a step gains at most if another one is left to the next M step

// Improve locations (E) and log odds (E, raters) by damped Newton steps, those of all true categories until none
// gains much.
void improve(const Hierarchy& own, const double* ratings, const double* x, std::vector<double>& location,
             std::vector<double>& log_odds) {
  const Count n = own.wrong(), of_row = width_of(own) * n;
  Rows rows(own, ratings, x);
  std::vector<double> of_location(location.size()), of_log_odds(log_odds.size());
  std::vector<double> here(own.categories), there(own.categories), size(own.categories);
  const auto value = [&](Count h, double part) {
    return rows.value(h, &location[h * n], &log_odds[h * of_row], part, &of_location[h * n], &of_log_odds[h * of_row]);
  };
  for (Count h = 0; h < own.categories; ++h) here[h] = value(h, 0);
  for (int step = 0; step < steps; ++step) {
    double gain = -INFINITY;
    for (Count h = 0; h < own.categories; ++h) {
      rows.step(h, &location[h * n], &log_odds[h * of_row], &of_location[h * n], &of_log_odds[h * of_row]);
      size[h] = 1;
      int halving = 0;
      while (!((there[h] = value(h, size[h])) >= here[h] - rounding * std::abs(here[h])) && ++halving < halvings)
        size[h] /= 2;
      if (halving == halvings) return;  // no step is small enough
      gain = std::max(gain, there[h] - here[h]);
    }
    for (Count h = 0; h < own.categories; ++h) {
      for (Count k = h * n; k < (h + 1) * n; ++k) location[k] += size[h] * of_location[k];
      for (Count i = h * of_row; i < (h + 1) * of_row; ++i) log_odds[i] += size[h] * of_log_odds[i];
      here[h] = there[h];
    }
    if (gain < enough) return;
  }
}

// The maximum of a tangent that bounds the density of a variance from below.
double improved(double variance, double squares, double slope, double df, double scale) {
  const double falling = (1 + 1 / df) / (squared(scale) + variance / df) + slope;
  return (1 + std::sqrt(1 + 4 * squares * falling)) / (2 * falling);
}

// Variances of all errors and, last, of levels, three times improved given sums of squares.
WIDEST void improve_variances(const Hierarchy& own, const double* squares, double* variance) {
  const Count errors = own.errors();
  std::vector<Aligned> slope(errors + 1);
  for (int step = 0; step < 3; ++step) {
    for (Aligned& each : slope) each.lanes = all(0);
    for (Count j = 0; j < own.raters; j += lanes) {
      const Lanes of_level = narrowed(own, variance, j).of_level, shrunk = 1 + variance[errors] * of_level;
      for (Count e = 0; e < errors; ++e) {
        const Lanes some = read_some(own.precision + e * own.raters + j, own.raters - j);
        const Lanes weight = some / (1 + variance[e] * some);
        slope[e].lanes += weight - variance[errors] * weight * weight / shrunk;
      }
      slope[errors].lanes += of_level / shrunk;
    }
    for (Count e = 0; e < errors; ++e)
      variance[e] = improved(variance[e], squares[e], sum_of(slope[e].lanes), own.spread_df, own.spread_scale);
    variance[errors] = improved(variance[errors], squares[errors], sum_of(slope[errors].lanes), own.ability_df,
                                own.ability_scale);
  }
}

}  // namespace

// Log posterior density at a point x, up to a constant; expected items (K), and ratings by cell and state (V, K).
extern "C" double reliabayes_hierarchy_expect(const Hierarchy* own, const double* x, double* items, double* ratings) {
  const auto log_weight = [&](Count h) { return std::log(x[h]); };
  const auto fill = [&](double* table) { tabulate(*own, log_odds_of(*own, x).data(), table); };
  return expect(*own, own->categories, log_weight, fill, items, ratings) + log_prior(*own, x);
}

// The M step: a point of higher expected density, given what is expected at another.
extern "C" void reliabayes_hierarchy_maximise(const Hierarchy* own, const double* x, const double* items,
                                              const double* ratings, double* next) {
  const Count n = own->categories, raters = own->raters, width = width_of(*own);
  for (Count h = 0; h < n; ++h) next[h] = items[h] + own->prevalence[h];
  to_shares(next, n);
  std::vector<double> location(own->locations(x), own->locations(x) + own->errors());
  std::vector<double> log_odds = log_odds_of(*own, x);
  improve(*own, ratings, x, location, log_odds);
  std::copy(location.begin(), location.end(), next + n);
  const Count errors = own->errors();
  double *spreads = next + n + errors, *abilities = spreads + errors + 1, *effects = abilities + raters;
  std::vector<double> squares(errors + 1), variance(errors + 1), level(raters);
  double total = 1 / squared(*own->ability_spread(x));
  for (Count e = 0; e < errors; ++e) {
    variance[e] = squared(own->spreads(x)[e]);
    total += 1 / variance[e];
    for (Count j = 0; j < raters; ++j) level[j] += (log_odds[e * width + j] - location[e]) / variance[e];
  }
  variance[errors] = squared(*own->ability_spread(x));
  for (double& each : level) squares[errors] += squared(each /= total);
  for (Count e = 0; e < errors; ++e)
    for (Count j = 0; j < raters; ++j) squares[e] += squared(log_odds[e * width + j] - location[e] - level[j]);
  improve_variances(*own, squares.data(), variance.data());
  for (Count e = 0; e <= errors; ++e) spreads[e] = std::sqrt(variance[e]);
  for (Count j = 0; j < raters; ++j) abilities[j] = -level[j] / spreads[errors];
  for (Count e = 0; e < errors; ++e)
    for (Count j = 0; j < raters; ++j)
      effects[e * raters + j] = (log_odds[e * width + j] - location[e] - level[j]) / spreads[e];
}

}  // namespace reliabayes::em
