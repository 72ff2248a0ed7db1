// The mixture of ordinal_pair_mixture.hpp in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

namespace reliabayes {

// Distinct items: item i has the entries first[i] .. first[i + 1] - 1, counted from 1.
struct ItemsOfPools {
  const Integers& pool;          // of each rater
  const Integers& multiplicity;  // items with these ratings
  const Integers& first;
  const Integers& cell;
  const ConstVector& count;  // ratings of each entry
};

// Derivatives of the density.
struct OrdinalPairMixtureGradient {
  Vector by_level, by_sd;
  Matrix by_factor, by_cut;
};

// The density of ordinal_pair_mixture.hpp, and its gradient if one is asked for.
double ordinal_pair_mixture_pass(const Vector& level, const Vector& sd, const Matrix& factor,
                                 const Matrix& cut, bool probit, const ConstVector& node,
                                 const ConstVector& weight, const ItemsOfPools& data,
                                 OrdinalPairMixtureGradient* gradient);

}  // namespace reliabayes
