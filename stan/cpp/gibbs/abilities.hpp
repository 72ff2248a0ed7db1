// Gibbs sampling of what all errors of a rater share: an ability, which lowers the log odds of each of them.
//
//     log odds[e, j] = location[e] - scale ability[j] + spread[e] effect[e, j],  ability ~ normal(0, 1)
//
// A change of the level, -scale ability, changes the odds of all errors of a rater by one factor, so that the ratings
// of items of one true category count as right or wrong. Abilities and their scale are drawn twice, and what stays
// fixed differs, as for locations and spreads: the effects, by slice sampling, which is best where ratings say little;
// and the log odds of those with ratings, given which abilities are normal, and integrated out where the scale is
// drawn. Last comes what all abilities and the locations have in common, which changes no log odds.
//
// Yu & Meng (2011), https://doi.org/10.1198/jcgs.2011.203main.
#pragma once
#include "hierarchy_data.hpp"
#include "raters.hpp"
#include "slice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reliabayes {

class Abilities {
 public:
  explicit Abilities(const Hierarchy& own)
      : own_(own), width_(in_whole_lanes(own.raters)), wrong_(own.categories * width_), total_(wrong_.size()),
        log_odds_(wrong_.size()), ability_(width_), change_(width_), precision_(width_), mean_(width_),
        variance_(width_), away_(width_), is_rated_(width_) {}

  // Draw abilities and effects in x, the locations and the scale, given ratings by rater, true category and category,
  // and odds of errors by error and rater.
  void draw(const double* ratings, const double* odds, double* x, std::uint32_t sweep, WideStream& stream) {
    read_ratings(ratings, odds);
    double* ability = x + own_.ability;
    double& scale = x[own_.ability_spread];
    std::copy_n(ability, own_.raters, ability_.begin());
    std::fill(ability_.begin() + own_.raters, ability_.end(), 0);  // or they would be those of the sweep before
    draw_given_effects(scale, stream);
    if (sweep % rarer == 0) draw_scale_given_effects(scale, stream);
    draw_given_log_odds(x, scale, stream);
    draw_common(x + own_.location, scale, stream);
    std::copy_n(ability_.begin(), own_.raters, ability);
  }

 private:
  static constexpr double width_of_ability = 5, width_of_scale = 5;  // intervals of slice sampling, in sds
  static constexpr std::uint32_t rarer = 4;                          // sweeps for each scale given effects
  static constexpr double least_spread = 1e-100;                     // whose square is no less than the least number

  // Ratings that are right or wrong, and odds of all errors, by true category and rater.
  void read_ratings(const double* ratings, const double* odds) {
    const Count n = own_.categories;
    std::fill(precision_.begin(), precision_.end(), 0);
    std::fill(is_rated_.begin(), is_rated_.end(), 0);
    for (Count h = 0; h < n; ++h) {
      double *wrong = &wrong_[h * width_], *total = &total_[h * width_], *log_odds = &log_odds_[h * width_];
      std::fill_n(log_odds, width_, 0);
      for (Count l = 0; l < n - 1; ++l)
        for (Count j = 0; j < own_.raters; ++j) log_odds[j] += odds[(h * (n - 1) + l) * own_.raters + j];
      double all_wrong = 0.5, all = 1;
      for (Count j = 0; j < own_.raters; ++j) {
        const double* row = ratings + (j * n + h) * n;
        double sum = 0;
        for (Count k = 0; k < n; ++k) sum += row[k];
        total[j] = sum;
        wrong[j] = sum - row[h];
        all_wrong += wrong[j];
        all += sum;
        if (sum > 0) is_rated_[j] = 1;
      }
      find_precision(h, all_wrong / all);
    }
  }

  WIDEST void find_precision(Count h, double common) {
    for (Count j = 0; j < width_; j += lanes) {
      const Count at = h * width_ + j;
      const Lanes total = read(&total_[at]), wrong = read(&wrong_[at]);
      const Lanes p = (wrong + pseudo * common) / (total + pseudo);
      write(read(&precision_[j]) + total * p * (1 - p), &precision_[j]);
      write(logarithm(larger(read(&log_odds_[at]), 1e-300)), &log_odds_[at]);
    }
  }

  // Log-likelihood of four raters whose log odds of all errors are lowered by so much.
  __attribute__((always_inline)) Lanes log_likelihood(Count j, Lanes lowered) const {
    Lanes found = all(0);
    for (Count at = j; at < own_.categories * width_; at += width_) {
      const Lanes away = read(&log_odds_[at]) - lowered;
      found += read(&wrong_[at]) * away - read(&total_[at]) * softplus(away).value;
    }
    return found;
  }

  // Each ability by slice sampling, the effects fixed.
  WIDEST void draw_given_effects(double scale, WideStream& stream) {
    for (Count j = 0; j < width_; j += lanes) {
      const Lanes at = read(&ability_[j]);
      const auto log_density = [&](Lanes ability) __attribute__((always_inline)) {
        return log_likelihood(j, scale * (ability - at)) - 0.5 * ability * ability;
      };
      const Lanes size = width_of_ability * inverse_root(1 + scale * scale * read(&precision_[j]));
      const Lanes drawn = slice_sampled(at, size, stream, log_density);
      write(drawn, &ability_[j]);
      for (Count row = j; row < own_.categories * width_; row += width_)
        write(read(&log_odds_[row]) - scale * (drawn - at), &log_odds_[row]);
    }
  }

  WIDEST double log_likelihood_of_scale(double change) const {
    Lanes found = all(0);
    for (Count j = 0; j < width_; j += lanes) found += log_likelihood(j, change * read(&ability_[j]));
    return sum_of(found);
  }

  // The scale, effects and abilities fixed. The density is the same if the signs of all these change.
  void draw_scale_given_effects(double& scale, WideStream& stream) {
    const double old = scale;
    const auto log_density = [&](double at) { return log_likelihood_of_scale(at - old) + of_scale(at); };
    double value = log_density(old);
    scale = slice_sampled(old, width_of_scale * own_.ability_scale, &value, stream, log_density);
    if (scale >= 0) return;
    scale = -scale;
    for (double& each : ability_) each = -each;
  }

  // The log odds of those with ratings fixed. Of these the level has a normal likelihood, whose mean lies so far
  // from where it is; what is left of a difference that is small is computed as such.
  void draw_given_log_odds(double* x, double& scale, WideStream& stream) {
    const Count n = own_.categories;
    std::fill(variance_.begin(), variance_.end(), 0);
    std::fill(away_.begin(), away_.end(), 0);
    for (Count e = 0; e < n * (n - 1); ++e) {
      const double* total = &total_[e / (n - 1) * width_];
      const double root = 1 / std::max(x[own_.spread + e], least_spread), *effect = x + own_.effect + e * own_.raters;
      for (Count j = 0; j < own_.raters; ++j)
        if (total[j] > 0) {
          variance_[j] += root * root;
          away_[j] += root * effect[j];
        }
    }
    for (Count j = 0; j < own_.raters; ++j)
      if (is_rated_[j] > 0) {
        variance_[j] = 1 / variance_[j];
        away_[j] *= variance_[j];
        mean_[j] = away_[j] - scale * ability_[j];
      }
    const double old = scale;
    const auto log_density = [&](double at) { return log_density_of_scale(at * at) + of_scale(at); };
    double value = log_density(old);
    scale = std::abs(slice_sampled(old, width_of_scale * own_.ability_scale, &value, stream, log_density));
    draw_normal(change_.data(), own_.raters, stream);
    const double square = scale * scale;
    for (Count j = 0; j < own_.raters; ++j) {
      const double normal = change_[j];
      change_[j] = 0;
      if (is_rated_[j] == 0) {
        ability_[j] = normal;
        continue;
      }
      const double both = square + variance_[j], level = -old * ability_[j];
      const double fresh = std::sqrt(variance_[j] / both) * normal;
      change_[j] = (square * away_[j] - variance_[j] * level) / both + scale * fresh;
      ability_[j] = -scale * mean_[j] / both - fresh;
    }
    for (Count e = 0; e < n * (n - 1); ++e) {
      const double* total = &total_[e / (n - 1) * width_];
      const double root = 1 / std::max(x[own_.spread + e], least_spread);
      double* effect = x + own_.effect + e * own_.raters;
      for (Count j = 0; j < own_.raters; ++j)
        if (total[j] > 0) effect[j] -= root * change_[j];
    }
  }

  WIDEST double log_density_of_scale(double square) const {
    Lanes found = all(0);
    for (Count j = 0; j < width_; j += lanes) {
      const Lanes both = square + read(&variance_[j]), mean = read(&mean_[j]);
      const Lanes own = mean * mean / both + logarithm(larger(both, 1e-300));
      found += chosen(Bits(read(&is_rated_[j]) > 0), own, all(0));
    }
    return -0.5 * sum_of(found);
  }

  // What is added to the abilities of those with ratings, and the scale times as much to all locations.
  void draw_common(double* location, double scale, WideStream& stream) {
    const Count errors = own_.categories * (own_.categories - 1);
    const double prior = 1 / (own_.location_sd * own_.location_sd);
    double precision = errors * scale * scale * prior, slope = 0, normal[2 * lanes];
    for (Count e = 0; e < errors; ++e) slope -= scale * prior * (location[e] - own_.location_mean);
    for (Count j = 0; j < own_.raters; ++j) {
      precision += is_rated_[j];
      slope -= is_rated_[j] * ability_[j];
    }
    if (!(precision > 0)) return;
    draw_normal(normal, 1, stream);
    const double change = slope / precision + normal[0] / std::sqrt(precision);
    for (Count j = 0; j < own_.raters; ++j) ability_[j] += is_rated_[j] * change;
    for (Count e = 0; e < errors; ++e) location[e] += scale * change;
  }

  double of_scale(double scale) const { return log_half_t(scale, own_.ability_df, own_.ability_scale); }

  const Hierarchy& own_;
  const Count width_;                             // raters in whole lanes
  std::vector<double> wrong_, total_, log_odds_;  // by true category and rater: of all errors
  std::vector<double> ability_, change_, precision_, mean_, variance_, away_, is_rated_;  // by rater
};

}  // namespace reliabayes
