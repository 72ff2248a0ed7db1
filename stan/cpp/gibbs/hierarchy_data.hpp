// Rows of confusion matrices with log odds that resemble one another: sizes, places and priors.
#pragma once
#include "../em/densities.hpp"
#include "random.hpp"

#include <cmath>

namespace reliabayes {

// Sizes, positions of first numbers in x, and priors; src/reliabayes/inference/conjugate.py has the same.
struct Hierarchy {
  Count raters, categories;
  Count location, spread;         // by error
  Count effect;                   // by error and rater
  Count ability_spread, ability;  // of all errors together: one number, and by rater
  Count rows;                     // by rater, true category and category
  double location_mean, location_sd;
  double spread_df, spread_scale;  // of half t priors; infinite degrees of freedom make them half normal
  double ability_df, ability_scale;
};

using em::log_half_t;
// The constant that it leaves out.
inline double log_peak_of_half_t(double df, double scale) {
  const double log_peak = std::isinf(df)
                              ? -0.5 * std::log(2 * M_PI)
                              : std::lgamma((df + 1) / 2) - std::lgamma(df / 2) - 0.5 * std::log(df * M_PI);
  return log_peak + std::log(2 / scale);
}

}  // namespace reliabayes
