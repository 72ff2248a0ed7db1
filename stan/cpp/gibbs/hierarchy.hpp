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
#include "random.hpp"
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
      : own_(own), philox_(philox), odds_(own.raters * (own.categories - 1)) {
    const double df = own.spread_df;
    log_peak_ = std::isinf(df) ? -0.5 * std::log(2 * M_PI)
                               : std::lgamma((df + 1) / 2) - std::lgamma(df / 2) - 0.5 * std::log(df * M_PI);
  }

  // Rows of the locations, spreads and effects in x.
  void tabulate(double* x) const {
    const Count n = own_.categories;
    for (Count j = 0; j < own_.raters; ++j)
      for (Count h = 0; h < n; ++h) {
        double* row = x + own_.rows + (j * n + h) * n;
        double sum = 0;
        for (Count k = 0; k < n; ++k) sum += row[k] = k == h ? 1 : odds_of(log_odds(x, error(h, k), j));
        for (Count k = 0; k < n; ++k) row[k] = std::max(row[k] / sum, smallest_row);
      }
  }

  // Draw locations, spreads, effects and rows, given ratings by rater, true category and category.
  void draw(const double* ratings, double* x, std::uint32_t sweep, std::uint32_t purpose) {
    for (Count h = 0; h < own_.categories; ++h) {
      read(ratings, h, x);
      for (Count k = 0; k < own_.categories; ++k)
        if (k != h) draw_error(ratings, h, k, x, Stream(philox_, error(h, k), sweep, purpose));
    }
    tabulate(x);
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
  static constexpr double smallest_row = 1e-300, largest_log_odds = 500;
  static constexpr double width = 2.5;  // first steps of slice sampling, in approximate sds
  static constexpr double pseudo = 2;   // ratings that those of all raters count as, in what is said of each

  // What the ratings of a rater with such a true category say of one error.
  struct Rater {
    Count number;
    double total, wrong = 0;      // ratings
    double other = 1;             // odds of all other ratings against the right one
    double log_odds = 0, precision = 0;  // of a normal approximation of the likelihood
    double effect = 0, score = 0;
  };
  struct Population {
    double location, spread;
  };

  Count error(Count truth, Count category) const {
    return truth * (own_.categories - 1) + category - (category > truth);
  }
  static double odds_of(double log_odds) { return std::exp(std::min(log_odds, largest_log_odds)); }
  double log_odds(const double* x, Count e, Count j) const {
    return x[own_.location + e] + x[own_.spread + e] * x[own_.effect + e * own_.raters + j];
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
  static double likelihood(const Rater& rater, double log_odds) {
    return rater.wrong * log_odds - rater.total * std::log(rater.other + odds_of(log_odds));
  }

  // Raters with ratings of items of a true category, and their odds.
  void read(const double* ratings, Count h, const double* x) {
    const Count n = own_.categories;
    raters_.clear();
    for (Count j = 0; j < own_.raters; ++j) {
      double total = 0;
      for (Count k = 0; k < n; ++k) total += ratings[(j * n + h) * n + k];
      if (total == 0) continue;
      double* odds = odds_.data() + raters_.size() * (n - 1);
      for (Count k = 0; k < n - 1; ++k) odds[k] = odds_of(log_odds(x, h * (n - 1) + k, j));
      raters_.push_back({j, total});
    }
  }

  void draw_error(const double* ratings, Count h, Count k, double* x, Stream stream) {
    const Count n = own_.categories, e = error(h, k), at = e - h * (n - 1);
    double* effect = x + own_.effect + e * own_.raters;
    Population of{x[own_.location + e], x[own_.spread + e]};
    double wrong = 0.5, total = 1;
    for (std::size_t i = 0; i < raters_.size(); ++i) {
      Rater& rater = raters_[i];
      const double* odds = odds_.data() + i * (n - 1);
      rater.other = 1;
      for (Count l = 0; l < n - 1; ++l) rater.other += l == at ? 0 : odds[l];
      rater.wrong = ratings[(rater.number * n + h) * n + k];
      wrong += rater.wrong;
      total += rater.total;
    }
    for (Rater& rater : raters_) approximate(rater, wrong / total);
    draw_effects(of, effect, stream);
    draw_given_log_odds(of, effect, stream);
    for (Rater& rater : raters_) rater.effect = effect[rater.number];
    draw_given_effects(of, stream);
    draw_given_scores(of, stream);
    for (std::size_t i = 0; i < raters_.size(); ++i) {
      effect[raters_[i].number] = raters_[i].effect;
      odds_[i * (n - 1) + at] = odds_of(of.location + of.spread * raters_[i].effect);
    }
    x[own_.location + e] = of.location;
    x[own_.spread + e] = of.spread;
  }

  // A normal likelihood with the slope and the curvature of that of the ratings, where the error has a
  // probability between that of the rater's ratings and that of all. It depends on nothing that is drawn next.
  static void approximate(Rater& rater, double common) {
    const double p = (rater.wrong + pseudo * common) / (rater.total + pseudo);
    rater.precision = rater.total * p * (1 - p);
    rater.log_odds = std::log(rater.other * p / (1 - p)) + (rater.wrong - rater.total * p) / rater.precision;
  }

  void draw_effects(const Population& of, double* effect, Stream& stream) const {
    auto rater = raters_.begin();
    for (Count j = 0; j < own_.raters; ++j) {
      if (rater == raters_.end() || rater->number != j) {
        effect[j] = stream.normal();
        continue;
      }
      const double step = width / std::sqrt(1 + of.spread * of.spread * rater->precision);
      effect[j] = slice_sampled(effect[j], step, stream, [&](double z) {
        return likelihood(*rater, of.location + of.spread * z) - 0.5 * z * z;
      });
      ++rater;
    }
  }

  // Their density depends on the mean and the squares of the log odds: the spread, location integrated out,
  // and then the location, whose change is computed so that nothing cancels where the spread is small.
  void draw_given_log_odds(Population& of, double* effect, Stream& stream) const {
    const double n = own_.raters, variance = own_.location_sd * own_.location_sd;
    double sum = 0, squares = 0;
    for (Count j = 0; j < own_.raters; ++j) sum += effect[j];
    for (Count j = 0; j < own_.raters; ++j) squares += (effect[j] - sum / n) * (effect[j] - sum / n);
    const Population old = of;
    const double up = old.spread * sum / n, away = old.location + up - own_.location_mean;
    const double log_ratio = slice_sampled(0, width / std::sqrt(2 * n), stream, [&](double ratio) {
      const double spread = old.spread * std::exp(ratio), of_mean = variance + spread * spread / n;
      return (2 - n) * ratio - 0.5 * squares * std::exp(-2 * ratio) + of_spread(spread) -
             0.5 * (std::log(of_mean) + away * away / of_mean);
    });
    of.spread = old.spread * std::exp(log_ratio);
    const double precision = n / (of.spread * of.spread), sum_of = precision + 1 / variance;
    const double change = (up * precision + (own_.location_mean - old.location) / variance) / sum_of +
                          stream.normal() / std::sqrt(sum_of);
    of.location = old.location + change;
    for (Count j = 0; j < own_.raters; ++j)
      effect[j] = std::exp(-log_ratio) * effect[j] - change / of.spread;
  }

  // Ratings say what the odds of all raters are on average, so that the location falls while the spread
  // rises, at the rate of the mean effect of those who err.
  void draw_given_effects(Population& of, Stream& stream) const {
    double wrong = 1, effects = 0, by_location = 0, by_spread = 0;
    for (const Rater& rater : raters_) {
      wrong += rater.wrong;
      effects += rater.wrong * rater.effect;
    }
    const double rate = effects / wrong;
    for (const Rater& rater : raters_) {
      by_location += rater.precision;
      by_spread += rater.precision * (rater.effect - rate) * (rater.effect - rate);
    }
    draw_both(of, rate, by_location, by_spread, stream, [&](const Population& at) {
      double value = 0;
      for (const Rater& rater : raters_) value += likelihood(rater, at.location + at.spread * rater.effect);
      return value;
    });
  }

  // If the likelihood of a rater's log odds were normal, with the approximate mean and precision, scores would
  // be standard normal given the ratings, whatever location and spread are:
  //
  //     effect = scale^2 spread precision (mean - location) + scale score, scale = 1 / sqrt(1 + spread^2 precision)
  void draw_given_scores(Population& of, Stream& stream) {
    double wrong = 1, scores = 0, by_location = 0, by_spread = 0;
    for (Rater& rater : raters_) {
      const double variance = 1 / (1 + of.spread * of.spread * rater.precision);
      rater.score = (rater.effect - mean_effect(rater, of, variance)) / std::sqrt(variance);
      const double weight = rater.wrong / (1 + rater.precision);
      wrong += weight;
      scores += weight * rater.score;
    }
    const double rate = scores / wrong;
    for (const Rater& rater : raters_) {
      const double weight = rater.precision / (1 + rater.precision);
      by_location += weight;
      by_spread += weight * (rater.score - rate) * (rater.score - rate);
    }
    draw_both(of, rate, by_location, by_spread, stream, [&](const Population& at) {
      double value = 0, variances = 1;
      for (const Rater& rater : raters_) {
        const double variance = 1 / (1 + at.spread * at.spread * rater.precision);
        const double effect = mean_effect(rater, at, variance) + std::sqrt(variance) * rater.score;
        value += likelihood(rater, at.location + at.spread * effect) - 0.5 * effect * effect;
        variances *= variance;
        if (variances < smallest_row) {
          value += 0.5 * std::log(variances);
          variances = 1;
        }
      }
      return value + 0.5 * std::log(variances);
    });
    for (Rater& rater : raters_) {
      const double variance = 1 / (1 + of.spread * of.spread * rater.precision);
      rater.effect = mean_effect(rater, of, variance) + std::sqrt(variance) * rater.score;
    }
  }

  static double mean_effect(const Rater& rater, const Population& of, double variance) {
    return variance * of.spread * rater.precision * (rater.log_odds - of.location);
  }

  // The location, and then the spread, while the location falls at a rate that depends on neither; given the
  // information of the ratings on them.
  template <typename LogLikelihood>
  void draw_both(Population& of, double rate, double by_location, double by_spread, Stream& stream,
                 const LogLikelihood& log_likelihood) const {
    const auto log_density = [&](const Population& at) {
      return log_likelihood(at) + of_location(at.location) + of_spread(at.spread);
    };
    const double location_step = width / std::sqrt(by_location + 1 / (own_.location_sd * own_.location_sd));
    of.location = slice_sampled(of.location, location_step, stream,
                                [&](double location) { return log_density({location, of.spread}); });
    const double level = of.location + rate * of.spread;
    const double spread_step = width / std::sqrt(by_spread + 1 / (own_.spread_scale * own_.spread_scale));
    of.spread = slice_sampled(of.spread, spread_step, stream, [&](double spread) {
      return spread > 0 ? log_density({level - rate * spread, spread}) : -INFINITY;
    });
    of.location = level - rate * of.spread;
  }

  const Hierarchy& own_;
  const Philox& philox_;
  std::vector<Rater> raters_;  // who rated items of one true category
  std::vector<double> odds_;   // of theirs, by rater and wrong category
  double log_peak_;            // of the density of the t distribution with these degrees of freedom
};

}  // namespace reliabayes
