// The mixture of ordinal_mixture.hpp in numbers that Stan need not know of.
#pragma once
#include "item_mixture_pass.hpp"

namespace reliabayes {

// Derivatives of the density.
struct OrdinalMixtureGradient {
  Vector by_level, by_effect, by_cut;
};

// The density of ordinal_mixture.hpp, and its gradient if one is asked for.
double ordinal_mixture_pass(const Vector& level, const Vector& effect, const Vector& cut,
                            bool probit, const ConstVector& weight, const DistinctItems& data,
                            OrdinalMixtureGradient* gradient);

}  // namespace reliabayes
