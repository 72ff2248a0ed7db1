// The density of hierarchical_mixture.hpp in numbers that Stan need not know of.
#pragma once
#include "item_mixture_pass.hpp"
#include "score_density_pass.hpp"

namespace reliabayes {

// Derivatives of the density.
struct HierarchicalGradient {
  Vector by_location, by_level, by_spread;
  Matrix by_score, by_weight;
};

// The density of hierarchical_mixture.hpp, and the gradient if one is asked for.
double hierarchical_mixture_pass(const Vector& location, const Vector& level, const Vector& spread,
                                 const Matrix& score, const Matrix& log_weight,
                                 const OwnNumbers& own, const DistinctItems& data,
                                 HierarchicalGradient* gradient);

}  // namespace reliabayes
