// The density of score_density.hpp in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

namespace reliabayes {

// What the ratings of each rater (rows) say of numbers (columns): mean and precision.
struct OwnNumbers {
  const ConstMatrix& mean;
  const ConstMatrix& precision;
};

// Derivatives of the density.
struct ScoreGradient {
  Vector by_location, by_level, by_spread;
  Matrix by_score;
};

// The density of score_density.hpp, and its gradient if one is asked for.
double score_density_pass(const Vector& location, const Vector& level, const Vector& spread,
                          const Matrix& score, const OwnNumbers& own, ScoreGradient* gradient);

}  // namespace reliabayes
