// Gibbs sampling of rows of confusion matrices whose log odds come from a population of raters,
//
//     log(row[j, h, k] / row[j, h, h]) = location[e] + spread[e] effect[e, j],  effect ~ normal(0, 1),
//
// where error e is true category h with wrong category k. Given the numbers of ratings, each log odds has the
// density of a binomial logit with a normal prior, which slice sampling draws from. Each location and spread
// is drawn three times, and what stays fixed differs: the log odds, which is best where ratings say much of
// each rater; the effects, which is best where they say little (Yu & Meng 2011); and scores that are nearly
// independent of both where raters differ in how much is said of them (Papaspiliopoulos et al. 2007).
//
// Neal (2003), https://doi.org/10.1214/aos/1056562461; Yu & Meng, https://doi.org/10.1198/jcgs.2011.203main;
// Papaspiliopoulos, Roberts & Sköld, https://doi.org/10.1214/088342307000000014.
#pragma once
#include "raters.hpp"
#include "slice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reliabayes {

// Sizes, positions of first numbers in x, and priors; src/reliabayes/inference/conjugate.py has the same.
struct Hierarchy {
  Count raters, categories;
  Count location, spread;  // by error
  Count effect;            // by error and rater
  Count rows;              // by rater, true category and category
  double location_mean, location_sd;
  double spread_df, spread_scale;  // of half t priors; infinite degrees of freedom make them half normal
};

class Rows {
 public:
  Rows(const Hierarchy& own, const Philox& philox)
      : own_(own), philox_(philox), raters_(own.raters),
        odds_(own.raters * own.categories * (own.categories - 1)) {
    const double df = own.spread_df;
    log_peak_ = std::isinf(df) ? -0.5 * std::log(2 * M_PI)
                               : std::lgamma((df + 1) / 2) - std::lgamma(df / 2) - 0.5 * std::log(df * M_PI);
  }

  // Rows of the locations, spreads and effects in x.
  void tabulate(double* x) {
    for (Count e = 0; e < own_.categories * (own_.categories - 1); ++e) find_odds(x, e);
    fill_rows(x);
  }

  // Draw locations, spreads, effects and rows, given ratings by rater, true category and category.
  void draw(const double* ratings, double* x, std::uint32_t sweep, std::uint32_t purpose) {
    for (Count h = 0; h < own_.categories; ++h) {
      read_raters(ratings, h);
      for (Count k = 0; k < own_.categories; ++k)
        if (k != h) {
          WideStream stream(philox_, error(h, k), sweep, purpose);
          draw_error(ratings, h, k, x, stream);
        }
    }
    fill_rows(x);
  }

  // Log density of locations, logs of spreads and effects; the constant is that of the Stan program.
  double log_prior(const double* x) const {
    const Count errors = own_.categories * (own_.categories - 1);
    double total = errors * (std::log(2 / own_.spread_scale) + log_peak_);
    for (Count e = 0; e < errors; ++e) {
      const double spread = x[own_.spread + e];
      total += of_location(x[own_.location + e]) + of_spread(spread) + std::log(spread);
    }
    for (Count i = 0; i < errors * own_.raters; ++i) total -= 0.5 * x[own_.effect + i] * x[own_.effect + i];
    return total;
  }

 private:
  static constexpr double smallest_row = 1e-300;
  static constexpr double width = 14, width_of_effect = 8;  // intervals of slice sampling, in approximate sds

  Count error(Count truth, Count category) const {
    return truth * (own_.categories - 1) + category - (category > truth);
  }
  double of_location(double location) const {
    const double away = (location - own_.location_mean) / own_.location_sd;
    return -0.5 * away * away;
  }
  double of_spread(double spread) const {
    const double square = spread * spread / (own_.spread_scale * own_.spread_scale);
    if (std::isinf(own_.spread_df)) return -0.5 * square;
    return -0.5 * (own_.spread_df + 1) * std::log1p(square / own_.spread_df);
  }

  // Who has ratings of items of a true category.
  void read_raters(const double* ratings, Count h) {
    const Count n = own_.categories;
    Count found = 0;
    for (Count j = 0; j < own_.raters; ++j) {
      double total = 0;
      for (Count k = 0; k < n; ++k) total += ratings[(j * n + h) * n + k];
      if (total == 0) continue;
      raters_.number[found] = j;
      raters_.total[found++] = total;
    }
    raters_.resize(found);
  }

  void draw_error(const double* ratings, Count h, Count k, double* x, WideStream& stream) {
    const Count n = own_.categories, e = error(h, k), first = h * (n - 1);
    double* effect = x + own_.effect + e * own_.raters;
    Population of{x[own_.location + e], x[own_.spread + e]};
    double wrong = 0.5, total = 1;
    for (Count i = 0; i < raters_.size; ++i) {
      const Count j = raters_.number[i];
      double others = 1;
      for (Count l = first; l < first + n - 1; ++l) others += l == e ? 0 : odds_[l * own_.raters + j];
      raters_.others[i] = others;
      raters_.wrong[i] = ratings[(j * n + h) * n + k];
      raters_.effect[i] = effect[j];
      wrong += raters_.wrong[i];
      total += raters_.total[i];
    }
    approximate(raters_, wrong / total);
    draw_effects(raters_, of, width_of_effect, stream);
    draw_given_log_odds(of, stream);
    draw_given_effects(of, stream);
    draw_given_scores(of, stream);
    draw_normal(effect, own_.raters, stream);  // of those without ratings
    for (Count i = 0; i < raters_.size; ++i) effect[raters_.number[i]] = raters_.effect[i];
    x[own_.location + e] = of.location;
    x[own_.spread + e] = of.spread;
    find_odds(x, e);
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

  // Ratings say what the odds of all raters are on average, so that the location falls while the spread rises, at the
  // rate of the mean effect of those who err.
  void draw_given_effects(Population& of, WideStream& stream) {
    double wrong = 1, effects = 0, by_location = 0, by_spread = 0;
    for (Count i = 0; i < raters_.size; ++i) {
      wrong += raters_.wrong[i];
      effects += raters_.wrong[i] * raters_.effect[i];
    }
    const double rate = effects / wrong;
    for (Count i = 0; i < raters_.size; ++i) {
      const double effect = raters_.effect[i] - rate;
      by_location += raters_.precision[i];
      by_spread += raters_.precision[i] * effect * effect;
      raters_.away[i] = of.location + of.spread * raters_.effect[i] - raters_.others[i];
      raters_.rate[i] = 1;
    }
    const auto by_change = [&](double change) {
      return log_likelihood_along(raters_, change) + of_location(of.location + change);
    };
    double value = by_change(0);
    const double change = slice_sampled(0, location_size(by_location), &value, stream, by_change);
    of.location += change;
    for (Count i = 0; i < raters_.size; ++i) {
      raters_.away[i] += change;
      raters_.rate[i] = raters_.effect[i] - rate;
    }
    const auto by_rise = [&](double rise) -> double {
      if (!(of.spread + rise > 0)) return -INFINITY;
      return log_likelihood_along(raters_, rise) + of_location(of.location - rate * rise) + of_spread(of.spread + rise);
    };
    value += of_spread(of.spread);
    const double rise = slice_sampled(0, spread_size(by_spread), &value, stream, by_rise);
    of.location -= rate * rise;
    of.spread += rise;
  }

  void draw_given_scores(Population& of, WideStream& stream) {
    set_scores(raters_, of);
    double wrong = 1, scores = 0, by_location = 0, by_spread = 0;
    for (Count i = 0; i < raters_.size; ++i) {
      const double weight = raters_.wrong[i] / (1 + raters_.precision[i]);
      wrong += weight;
      scores += weight * raters_.score[i];
    }
    const double rate = scores / wrong;
    double falls = 0, squares = 0;
    for (Count i = 0; i < raters_.size; ++i) {
      const double precision = raters_.precision[i], weight = precision / (1 + precision);
      const double score = raters_.score[i] - rate;
      by_location += weight;
      by_spread += weight * score * score;
      const double slope = of.spread * precision / (1 + of.spread * of.spread * precision);  // of the effect, downwards
      raters_.away[i] = of.location + of.spread * raters_.effect[i] - raters_.others[i];
      raters_.rate[i] = 1 - of.spread * slope;
      falls += raters_.effect[i] * slope;
      squares += slope * slope;
    }
    const auto by_change = [&](double change) {
      return log_likelihood_along(raters_, change) + (falls - 0.5 * squares * change) * change +
             of_location(of.location + change);
    };
    double value = by_change(0);
    of.location += slice_sampled(0, location_size(by_location), &value, stream, by_change);
    const double level = of.location + rate * of.spread;
    const auto by_spread_at = [&](double spread) -> double {
      if (!(spread > 0)) return -INFINITY;
      const Population at{level - rate * spread, spread};
      return log_density_given_scores(raters_, at) + of_location(at.location) + of_spread(spread);
    };
    value = by_spread_at(of.spread);
    of.spread = slice_sampled(of.spread, spread_size(by_spread), &value, stream, by_spread_at);
    of.location = level - rate * of.spread;
    set_effects(raters_, of);
  }

  void fill_rows(double* x) const {
    const Count n = own_.categories;
    for (Count j = 0; j < own_.raters; ++j)
      for (Count h = 0; h < n; ++h) {
        double* row = x + own_.rows + (j * n + h) * n;
        double sum = 0;
        for (Count k = 0; k < n; ++k) sum += row[k] = k == h ? 1 : odds_[error(h, k) * own_.raters + j];
        for (Count k = 0; k < n; ++k) row[k] = std::max(row[k] / sum, smallest_row);
      }
  }

  // Sizes of intervals, given the information of the ratings.
  double location_size(double information) const {
    return width / std::sqrt(information + 1 / (own_.location_sd * own_.location_sd));
  }
  double spread_size(double information) const {
    return width / std::sqrt(information + 1 / (own_.spread_scale * own_.spread_scale));
  }

  void find_odds(const double* x, Count e) {
    odds_of(x + own_.effect + e * own_.raters, own_.raters, x[own_.location + e], x[own_.spread + e],
            odds_.data() + e * own_.raters);
  }

  const Hierarchy& own_;
  const Philox& philox_;
  Raters raters_;             // who rated items of one true category
  std::vector<double> odds_;  // by error and rater
  double log_peak_;           // of the density of the t distribution with these degrees of freedom
};

}  // namespace reliabayes
