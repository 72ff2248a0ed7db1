// The mixture of guessing_mixture.hpp in numbers that Stan need not know of.
#pragma once
#include "item_mixture_pass.hpp"

namespace reliabayes {

// Derivatives of the density.
struct GuessingMixtureGradient {
  Vector by_level, by_difficulty;
  Matrix by_guess, by_weight;
};

// The density of guessing_mixture.hpp, and its gradient if one is asked for.
double guessing_mixture_pass(const Vector& level, const Vector& difficulty, const Matrix& guess,
                             const Matrix& log_weight, const DistinctItems& data,
                             GuessingMixtureGradient* gradient);

}  // namespace reliabayes
