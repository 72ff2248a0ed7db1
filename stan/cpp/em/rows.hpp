// Rows of confusion matrices, given expected ratings, and Newton steps to where they are likeliest.
#pragma once
#include "hierarchy.hpp"

#include <utility>

namespace reliabayes::em {

// The log density of raters' log odds of errors around common locations and raters' levels, given expected ratings:
// one for each true category h.
class Rows {
 public:
  Rows(const Hierarchy& own, const double* ratings, const double* x)
      : own_(own), n_(own.wrong()), width_(width_of(own)), wrong_(own.errors() * width_),
        total_(own.categories * width_), level_(width_), precision_(own.errors()), alone_(width_ * n_ / lanes),
        direction_(width_ * n_ / lanes), diagonal_(width_ * n_ / lanes), weight_(width_ / lanes), of_four_(n_),
        curvature_(n_ * n_), slope_(n_) {
    for (Count e = 0; e < own.errors(); ++e) precision_[e] = 1 / squared(own.spreads(x)[e]);
    for (Count j = 0; j < own.raters; ++j) level_[j] = own.level(x, j);
    for (Count k = 0; k < own.categories; ++k)
      for (Count j = 0; j < own.raters; ++j)
        for (Count h = 0; h < own.categories; ++h) {
          const double found = ratings[(k * own.raters + j) * own.categories + h];
          total_[h * width_ + j] += found;
          if (k != h) wrong_[(h * n_ + k - (k > h)) * width_ + j] = found;
        }
  }

  // Where a step of some size leads from a location and log odds.
  WIDEST double value(Count h, const double* location, const double* log_odds, double size, const double* of_location,
                      const double* of_log_odds) {
    const double *wrong = &wrong_[h * n_ * width_], *total = &total_[h * width_], *precision = &precision_[h * n_];
    double of_locations = 0;
    Lanes found = all(0);
    for (Count k = 0; k < n_; ++k)
      of_locations += log_normal(location[k] + size * of_location[k], own_.location_mean, own_.location_sd);
    for (Count j = 0; j < width_; j += lanes) {
      for (Count k = 0; k < n_; ++k) {
        const Count at = k * width_ + j;
        const Lanes own = of_four_[k].lanes = read(log_odds + at) + size * read(of_log_odds + at);
        const Lanes away = own - read(&level_[j]) - (location[k] + size * of_location[k]);
        found += read(wrong + at) * own - 0.5 * precision[k] * away * away;
      }
      found -= read(total + j) * log_total(to_odds(of_four_.data(), n_));
    }
    return of_locations + sum_of(found);
  }

  // Newton step. Locations are solved for first, then log odds rater by rater, by the Sherman-Morrison formula.
  WIDEST void step(Count h, const double* location, const double* log_odds, double* of_location, double* of_log_odds) {
    const double *wrong = &wrong_[h * n_ * width_], *total = &total_[h * width_], *precision = &precision_[h * n_];
    const double prior = 1 / squared(own_.location_sd);
    for (Aligned& each : curvature_) each.lanes = all(0);
    for (Aligned& each : slope_) each.lanes = all(0);
    for (Count j = 0, block = 0; j < width_; j += lanes, ++block) {
      Aligned *direction = &direction_[block * n_], *diagonal = &diagonal_[block * n_], *alone = &alone_[block * n_];
      for (Count k = 0; k < n_; ++k) of_four_[k].lanes = read(log_odds + k * width_ + j);
      const Odds odds = to_odds(of_four_.data(), n_);
      const Lanes ratings = read(total + j), each = 1 / odds.sum;
      Lanes right = odds.right * each;
      for (Count k = 0; k < n_; ++k) {
        const Lanes share = of_four_[k].lanes * each, expected = ratings * share;
        const Lanes away = precision[k] * (read(log_odds + k * width_ + j) - read(&level_[j]) - location[k]);
        diagonal[k].lanes = expected + precision[k];
        direction[k].lanes = share / diagonal[k].lanes;
        right += precision[k] * direction[k].lanes;
        of_four_[k].lanes = read(wrong + k * width_ + j) - expected - away;
        slope_[k].lanes += away;
        curvature_[k * n_ + k].lanes += precision[k] * expected / diagonal[k].lanes;
      }
      weight_[block].lanes = ratings / right;
      solve(block, of_four_.data(), alone);
      for (Count k = 0; k < n_; ++k) {
        slope_[k].lanes += precision[k] * alone[k].lanes;
        const Lanes root = precision[k] * (weight_[block].lanes * direction[k].lanes);
        for (Count l = 0; l < n_; ++l) curvature_[k * n_ + l].lanes -= root * (precision[l] * direction[l].lanes);
      }
    }
    std::vector<double> hessian(n_ * n_);
    for (Count i = 0; i < n_ * n_; ++i) hessian[i] = sum_of(curvature_[i].lanes);
    for (Count k = 0; k < n_; ++k) {
      hessian[k * n_ + k] += prior;
      of_location[k] = sum_of(slope_[k].lanes) - (location[k] - own_.location_mean) * prior;
    }
    eliminate(hessian.data(), of_location);
    for (Count k = 0; k < n_; ++k) slope_[k].lanes = all(precision[k] * of_location[k]);
    for (Count j = 0, block = 0; j < width_; j += lanes, ++block) {
      solve(block, slope_.data(), of_four_.data());
      for (Count k = 0; k < n_; ++k)
        write(of_four_[k].lanes + alone_[block * n_ + k].lanes, of_log_odds + k * width_ + j);
    }
  }

 private:
  __attribute__((always_inline)) void solve(Count block, const Aligned* x, Aligned* found) const {
    const Aligned *direction = &direction_[block * n_], *diagonal = &diagonal_[block * n_];
    Lanes along = all(0);
    for (Count k = 0; k < n_; ++k) along += direction[k].lanes * x[k].lanes;
    along *= weight_[block].lanes;
    for (Count k = 0; k < n_; ++k) found[k].lanes = x[k].lanes / diagonal[k].lanes + direction[k].lanes * along;
  }

  // Solve linear equations in place, with the largest pivot of each column.
  void eliminate(double* matrix, double* x) const {
    for (Count k = 0; k < n_; ++k) {
      Count pivot = k;
      for (Count l = k + 1; l < n_; ++l)
        if (std::abs(matrix[l * n_ + k]) > std::abs(matrix[pivot * n_ + k])) pivot = l;
      if (pivot != k) std::swap_ranges(matrix + k * n_, matrix + (k + 1) * n_, matrix + pivot * n_);
      std::swap(x[k], x[pivot]);
      for (Count l = k + 1; l < n_; ++l) {
        const double factor = matrix[l * n_ + k] / matrix[k * n_ + k];
        for (Count m = k; m < n_; ++m) matrix[l * n_ + m] -= factor * matrix[k * n_ + m];
        x[l] -= factor * x[k];
      }
    }
    for (Count k = n_ - 1; k >= 0; --k) {
      for (Count m = k + 1; m < n_; ++m) x[k] -= matrix[k * n_ + m] * x[m];
      x[k] /= matrix[k * n_ + k];
    }
  }

  const Hierarchy& own_;
  const Count n_, width_;
  std::vector<double> wrong_, total_;  // by error or true category, and rater
  std::vector<double> level_;          // by rater: what all log odds share
  std::vector<double> precision_;      // of each error
  std::vector<Aligned> alone_, direction_, diagonal_, weight_, of_four_, curvature_, slope_;  // of four raters
};

}  // namespace reliabayes::em
