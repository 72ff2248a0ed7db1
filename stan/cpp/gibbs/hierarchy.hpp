// Gibbs sampling of rows of confusion matrices whose log odds come from a population of raters,
//
//     log(row[j, h, k] / row[j, h, h]) = location[e] + level[j] + spread[e] effect[e, j],  effect ~ normal(0, 1),
//
// where error e is true category h with wrong category k, and levels follow from abilities (abilities.hpp). Given
// levels and the numbers of ratings, each log odds has the density of a binomial logit with a normal prior. Effects
// move by Metropolis steps, whose proposals come from a normal approximation, and now and then by slice sampling. Each
// location and spread is drawn up to three times, and what stays fixed differs: the log odds, which is best where
// ratings say much of each rater; the effects, which is best where they say little (Yu & Meng 2011); and scores that
// are nearly independent of both where raters differ in how much is said of them (Papaspiliopoulos et al. 2007).
//
// Neal (2003), https://doi.org/10.1214/aos/1056562461; Yu & Meng, https://doi.org/10.1198/jcgs.2011.203main;
// Papaspiliopoulos, Roberts & Sköld, https://doi.org/10.1214/088342307000000014.
#pragma once
#include "abilities.hpp"
#include "raters.hpp"
#include "slice.hpp"
#include "sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reliabayes {

class Rows {
 public:
  Rows(const Hierarchy& own, const Philox& philox)
      : own_(own), philox_(philox), raters_(own.raters), abilities_(own), level_(own.raters),
        odds_(own.raters * errors()) {}

  // Rows of the locations, spreads, abilities and effects in x.
  void tabulate(double* x) {
    for (Count j = 0; j < own_.raters; ++j) level_[j] = -x[own_.ability_spread] * x[own_.ability + j];
    find_odds(x, 0, errors());
    fill_rows(x);
  }

  // Draw locations, spreads, effects, abilities and rows, given ratings by rater, true category and category.
  void draw(const double* ratings, double* x, std::uint32_t sweep, std::uint32_t purpose) {
    for (Count h = 0; h < own_.categories; ++h) {
      read_raters(ratings, h);
      for (Count k = 0; k < own_.categories; ++k)
        if (k != h) {
          WideStream stream(philox_, error(h, k), sweep, purpose);
          draw_error(ratings, h, k, x, sweep, stream);
        }
    }
    WideStream stream(philox_, errors(), sweep, purpose);
    abilities_.draw(ratings, odds_.data(), x, sweep, stream);
    tabulate(x);
  }

  // Log density of locations, logs of spreads, effects and abilities; the constant is that of the Stan program.
  double log_prior(const double* x) const {
    const double ability_spread = x[own_.ability_spread];
    double total = errors() * log_peak_of_half_t(own_.spread_df, own_.spread_scale) +
                   log_peak_of_half_t(own_.ability_df, own_.ability_scale);
    total += sum_of_logs(nullptr, x + own_.spread, errors()) + std::log(ability_spread) +
             log_half_t(ability_spread, own_.ability_df, own_.ability_scale);
    for (Count e = 0; e < errors(); ++e) total += of_location(x[own_.location + e]) + of_spread(x[own_.spread + e]);
    return total - 0.5 * (sum_of_squares(x + own_.effect, errors() * own_.raters) +
                          sum_of_squares(x + own_.ability, own_.raters));
  }

 private:
  static constexpr double smallest_row = 1e-300;
  static constexpr double width = 14, width_of_effect = 8;  // intervals of slice sampling, in sds
  // One sweep in so many draws by slice sampling, which leaves long tails sooner than Metropolis steps do, and in so
  // many draws locations and spreads given scores. With so many raters both are so many times rarer: that saved more
  // time than effective draws, on all crowds that were tried.
  static constexpr std::uint32_t sliced = 4, scored = 2, rarer = 4;
  static constexpr Count many_raters = 100;

  Count errors() const { return own_.categories * (own_.categories - 1); }
  Count error(Count truth, Count category) const {
    return truth * (own_.categories - 1) + category - (category > truth);
  }
  double of_location(double location) const {
    const double away = (location - own_.location_mean) / own_.location_sd;
    return -0.5 * away * away;
  }
  double of_spread(double spread) const { return log_half_t(spread, own_.spread_df, own_.spread_scale); }

  // Who has ratings of items of a true category, and after them who has none.
  void read_raters(const double* ratings, Count h) {
    const Count n = own_.categories;
    Count found = 0, last = own_.raters;
    for (Count j = 0; j < own_.raters; ++j) {
      double total = 0;
      for (Count k = 0; k < n; ++k) total += ratings[(j * n + h) * n + k];
      if (total == 0) {
        raters_.number[--last] = j;
        continue;
      }
      raters_.number[found] = j;
      raters_.level[found] = level_[j];
      raters_.total[found++] = total;
    }
    raters_.resize(found);
  }

  void draw_error(const double* ratings, Count h, Count k, double* x, std::uint32_t sweep, WideStream& stream) {
    const Count n = own_.categories, e = error(h, k), first = h * (n - 1);
    double* effect = x + own_.effect + e * own_.raters;
    Population of{x[own_.location + e], x[own_.spread + e]};
    double wrong = 0.5, total = 1;
    std::fill_n(raters_.others.begin(), raters_.size, 1);
    for (Count l = first; l < first + n - 1; ++l)
      if (l != e)
        for (Count i = 0; i < raters_.size; ++i) raters_.others[i] += odds_[l * own_.raters + raters_.number[i]];
    for (Count i = 0; i < raters_.size; ++i) {
      const Count j = raters_.number[i];
      raters_.wrong[i] = ratings[(j * n + h) * n + k];
      raters_.effect[i] = effect[j];
      wrong += raters_.wrong[i];
      total += raters_.total[i];
    }
    approximate(raters_, wrong / total);
    const std::uint32_t times = own_.raters < many_raters ? 1 : rarer;
    const bool slices = sweep % (times * sliced) == 0;
    if (slices) draw_effects(raters_, of, width_of_effect, stream);
    else move_effects(raters_, of, stream);
    draw_given_log_odds(of, stream);
    if (slices) draw_given_effects(of, stream);
    else move_given_effects(of, stream);
    if (sweep % (times * scored) == 0) move_given_scores(of, stream);
    if (of.spread < 0) {  // log odds and priors are the same as with all signs changed
      of.spread = -of.spread;
      for (Count i = 0; i < raters_.size; ++i) raters_.effect[i] = -raters_.effect[i];
    }
    const Count without = own_.raters - raters_.size;
    double* const normal = &raters_.effect[raters_.padded];
    draw_normal(normal, without, stream);
    for (Count i = 0; i < raters_.size; ++i) effect[raters_.number[i]] = raters_.effect[i];
    for (Count i = 0; i < without; ++i) effect[raters_.number[raters_.size + i]] = normal[i];
    x[own_.location + e] = of.location;
    x[own_.spread + e] = of.spread;
    find_odds(x, e, 1);
  }

  // Their density depends on the mean and the squares of the log odds of those with ratings: the spread, location
  // integrated out, and then the location, whose change is computed so that nothing cancels where the spread is small.
  void draw_given_log_odds(Population& of, WideStream& stream) {
    const double n = raters_.size, variance = own_.location_sd * own_.location_sd;
    if (n == 0) return;
    double* effect = raters_.effect.data();
    double sum = 0, squares = 0;
    for (Count i = 0; i < raters_.size; ++i) sum += effect[i];
    for (Count i = 0; i < raters_.size; ++i) squares += (effect[i] - sum / n) * (effect[i] - sum / n);
    const Population old = of;
    const double up = old.spread * sum / n, away = old.location + up - own_.location_mean;
    const auto log_density = [&](double ratio) {
      const double spread = old.spread * std::exp(ratio), of_mean = variance + spread * spread / n;
      return (2 - n) * ratio - 0.5 * squares * std::exp(-2 * ratio) + of_spread(spread) -
             0.5 * (std::log(of_mean) + away * away / of_mean);
    };
    double value = log_density(0);
    const double log_ratio = slice_sampled(0, width / std::sqrt(2 * n), &value, stream, log_density);
    of.spread = old.spread * std::exp(log_ratio);
    const double precision = n / (of.spread * of.spread), sum_of = precision + 1 / variance;
    double normal[2 * lanes];
    draw_normal(normal, 1, stream);
    const double change = (up * precision + (own_.location_mean - old.location) / variance) / sum_of +
                          normal[0] / std::sqrt(sum_of);
    of.location = old.location + change;
    const double ratio = std::exp(-log_ratio), shift = change / of.spread;
    for (Count i = 0; i < raters_.size; ++i) effect[i] = ratio * effect[i] - shift;
  }

  void draw_given_effects(Population& of, WideStream& stream) {
    const auto log_density = [&](double location, double spread) -> double {
      if (!(spread > 0)) return -INFINITY;
      return log_likelihood(raters_, {location, spread}) + of_location(location) + of_spread(spread);
    };
    double value = log_density(of.location, of.spread);
    of.location = slice_sampled(of.location, width * own_.location_sd, &value, stream,
                                [&](double location) { return log_density(location, of.spread); });
    of.spread = slice_sampled(of.spread, width * own_.spread_scale, &value, stream,
                              [&](double spread) { return log_density(of.location, spread); });
  }
  void move_given_effects(Population& of, WideStream& stream) {
    of = moved(of, stream, [&](const Population& at) { return with_priors(curve_given_effects(raters_, at), at); });
  }
  void move_given_scores(Population& of, WideStream& stream) {
    set_scores(raters_, of);
    of = moved(of, stream, [&](const Population& at) { return with_priors(curve_given_scores(raters_, at), at); });
    set_effects(raters_, of);
  }
  Curve with_priors(Curve of, const Population& at) const {
    const double precision = 1 / (own_.location_sd * own_.location_sd), square = own_.spread_scale * own_.spread_scale;
    const double df = own_.spread_df;
    const double of_square = std::isinf(df) ? 1 / square : (df + 1) / (df * square + at.spread * at.spread);
    of.value += of_location(at.location) + of_spread(at.spread);
    of.slope[0] -= precision * (at.location - own_.location_mean);
    of.slope[1] -= of_square * at.spread;
    of.curvature[0] += precision;
    of.curvature[2] += of_square;
    return of;
  }

  void fill_rows(double* x) const {
    const Count n = own_.categories;
    for (Count j = 0; j < own_.raters; ++j)
      for (Count h = 0; h < n; ++h) {
        const double* odds = &odds_[h * (n - 1) * own_.raters + j];
        double* row = x + own_.rows + (j * n + h) * n;
        double sum = 1;
        for (Count l = 0; l < n - 1; ++l) sum += odds[l * own_.raters];
        const double right = 1 / sum;
        row[h] = std::max(right, smallest_row);
        for (Count l = 0; l < n - 1; ++l) row[l + (l >= h)] = std::max(right * odds[l * own_.raters], smallest_row);
      }
  }

  void find_odds(const double* x, Count first, Count errors) {
    const Count at = first * own_.raters;
    odds_of(x + own_.effect + at, level_.data(), own_.raters, errors, x + own_.location + first,
            x + own_.spread + first, odds_.data() + at);
  }

  const Hierarchy& own_;
  const Philox& philox_;
  Raters raters_;              // who rated items of one true category
  Abilities abilities_;
  std::vector<double> level_;  // by rater
  std::vector<double> odds_;   // by error and rater
};

}  // namespace reliabayes
