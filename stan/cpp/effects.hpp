// Effects of raters on one number, of scores that are nearly standard normal given the ratings:
//
//     effect = mean + scale score,   scale = 1 / sqrt(1 + spread^2 precision),
//     mean = scale^2 spread precision (own mean - location).
//
// They are standard normal, and the number is location + spread effect; own mean and precision are those that
// a rater's ratings say it has.
#pragma once
#include "linear_algebra.hpp"

namespace reliabayes {

struct Effects {
  Eigen::ArrayXd value, scale, by_location, by_spread;
  Eigen::ArrayXd scale_by_spread;  // relative to the scale

  // The location is one number, or one for each rater.
  template <typename Location, typename Score, typename Mean, typename Precision>
  Effects(const Location& location, double spread, const Score& score, const Mean& own_mean,
          const Precision& own_precision) {
    const auto precision = own_precision.array();
    const auto away = own_mean.array() - location;
    const Eigen::ArrayXd squared = 1 / (1 + spread * spread * precision);
    scale = squared.sqrt();
    scale_by_spread = -spread * precision * squared;
    by_location = -spread * precision * squared;
    value = -by_location * away + scale * score.array();
    by_spread = precision * away * squared * (2 * squared - 1) + scale_by_spread * scale * score.array();
  }
};

}  // namespace reliabayes
