// Sums of squares over residual variances nearly cancel if the residual is tiny beside the effects.
#pragma once
#include <stdexcept>

namespace reliabayes {

// Refuse a point, like one outside of the support, where the largest of such sums lets rounding change
// the density by 1e-3 nats or so.
inline void require_digits(double largest_sum) {
  if (!(largest_sum < 1e13))
    throw std::domain_error("the residual sd is so small that the density has too few digits");
}

}  // namespace reliabayes
