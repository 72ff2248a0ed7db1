// Slice sampling of one number, in an interval of given size around it.
//
// Neal (2003), https://doi.org/10.1214/aos/1056562461, figures 3 and 5; the interval takes no steps outwards.
#pragma once
#include "wide_random.hpp"

#include <cmath>

namespace reliabayes {

// The next of a chain of numbers that have a density, given and giving its log. The size may depend on anything but
// where the chain is.
template <typename LogDensity>
double slice_sampled(double at, double size, double* value, WideStream& stream, const LogDensity& log_density) {
  const double level = *value + std::log(uniform(stream));
  if (!(level > -INFINITY && size > 0 && size < INFINITY)) return at;  // numbers overflow
  double left = at - size * uniform(stream), right = left + size;
  for (;;) {
    const double found = left + (right - left) * uniform(stream);
    if (found == at) return at;
    const double there = log_density(found);
    if (there >= level) {
      *value = there;
      return found;
    }
    (found < at ? left : right) = found;
  }
}

}  // namespace reliabayes
