// The densities of hierarchical_mixture.hpp in numbers that Stan need not know of.
#pragma once
#include "item_mixture_pass.hpp"

namespace reliabayes {

// What the ratings of each rater (rows) say of the log odds of each error (columns): mean and precision.
struct OwnLogOdds {
  const ConstMatrix& mean;
  const ConstMatrix& precision;
};

// Derivatives of a density.
struct HierarchicalGradient {
  Vector by_location, by_spread;
  Matrix by_score, by_weight;
};

// The densities of hierarchical_mixture.hpp, and the gradient if one is asked for.
double hierarchical_mixture_pass(const Vector& location, const Vector& spread, const Matrix& score,
                                 const Matrix& log_weight, const OwnLogOdds& own,
                                 const DistinctItems& data, HierarchicalGradient* gradient);
double score_density_pass(const Vector& location, const Vector& spread, const Matrix& score,
                          const OwnLogOdds& own, HierarchicalGradient* gradient);

}  // namespace reliabayes
