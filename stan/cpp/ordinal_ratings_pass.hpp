// The density of ordinal_ratings.hpp in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

namespace reliabayes {

// Derivatives of the density.
struct OrdinalRatingsGradient {
  Matrix by_effect;
  Vector by_level;
  Matrix by_cut;
};

// The density of ordinal_ratings.hpp; its gradient is added to zeros.
double ordinal_ratings_pass(const Matrix& effect, const Vector& level, const Matrix& cut,
                            const Integers& pool, bool probit, const Integers& first,
                            const Integers& cell, const ConstVector& count,
                            OrdinalRatingsGradient& by);

}  // namespace reliabayes
