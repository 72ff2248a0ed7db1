// Slice sampling of one number, with steps to both sides.
//
// Neal (2003), https://doi.org/10.1214/aos/1056562461, figures 3 and 5.
#pragma once
#include "random.hpp"

#include <cmath>

namespace reliabayes {

constexpr int most_steps = 30;  // in total; whatever it is, the density stays the same

// The next of a chain of numbers that have a density. The step may depend on anything but where the chain is.
template <typename LogDensity>
double slice_sampled(double at, double step, Stream& stream, const LogDensity& log_density) {
  const double level = log_density(at) + std::log(stream.uniform());
  if (!(level > -INFINITY && step > 0 && step < INFINITY)) return at;  // numbers overflow
  double left = at - step * stream.uniform(), right = left + step;
  int steps = static_cast<int>(most_steps * stream.uniform()), others = most_steps - 1 - steps;
  for (; steps > 0 && log_density(left) > level; --steps) left -= step;
  for (; others > 0 && log_density(right) > level; --others) right += step;
  for (;;) {
    const double found = left + (right - left) * stream.uniform();
    if (found == at || log_density(found) >= level) return found;
    (found < at ? left : right) = found;
  }
}

}  // namespace reliabayes
