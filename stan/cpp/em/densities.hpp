// Log densities of priors, up to constants.
#pragma once
#include <cmath>
#include <cstdint>

namespace reliabayes::em {

using Count = std::int64_t;

inline double squared(double x) { return x * x; }
inline double x_log_y(double x, double y) { return x == 0 ? 0 : x * std::log(y); }
inline double log_normal(double x, double mean, double sd) { return -0.5 * squared((x - mean) / sd) - std::log(sd); }
inline double log_half_t(double x, double df, double scale) {
  const double square = squared(x / scale);
  return -0.5 * (std::isinf(df) ? square : (df + 1) * std::log1p(square / df));
}
// The derivative by the log of x.
inline double slope_of_half_t(double x, double df, double scale) {
  const double square = squared(x / scale);
  return std::isinf(df) ? -square : -(df + 1) * square / (df + square);
}

// Divide numbers by their sum.
inline void to_shares(double* x, Count size) {
  double sum = 0;
  for (Count i = 0; i < size; ++i) sum += x[i];
  for (Count i = 0; i < size; ++i) x[i] /= sum;
}

}  // namespace reliabayes::em
