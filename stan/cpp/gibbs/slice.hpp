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

// The same of four numbers side by side; one at which the density overflows stays where it is.
template <typename LogDensity>
INLINE Lanes slice_sampled(Lanes at, Lanes size, WideStream& stream, const LogDensity& log_density) {
  const Lanes level = log_density(at) + logarithm(uniforms(stream));
  Lanes left = at - size * uniforms(stream), right = left + size, drawn = at;
  Bits open = Bits(level > -INFINITY) & Bits(size < INFINITY);
  while (is_any(open)) {
    const Lanes found = left + (right - left) * uniforms(stream);
    const Bits is_in = Bits(log_density(found) >= level) | Bits(found == at);
    drawn = chosen(open & is_in, found, drawn);
    open &= ~is_in;
    const Bits is_left = Bits(found < at);
    left = chosen(is_left, found, left);
    right = chosen(is_left, right, found);
  }
  return drawn;
}

}  // namespace reliabayes
