// The mixture of guessing_mixture.hpp in numbers that Stan need not know of.
#pragma once
#include "guess_density_pass.hpp"
#include "item_mixture_pass.hpp"

namespace reliabayes {

// Derivatives of the density.
struct GuessingMixtureGradient {
  Vector by_level, by_difficulty;
  Matrix by_log_guess, by_prevalence;  // by the logarithms of both
};

// The density of guessing_mixture.hpp, and its gradient if one is asked for, by the logarithms of guesses
// (rows: raters, columns: categories) and of the prevalence (rows: true categories, columns: kinds of items).
double guessing_mixture_pass(const Vector& level, const Vector& difficulty, const Guesses& guesses,
                             const Matrix& log_prevalence, const ConstVector& node_weight,
                             const DistinctItems& data, GuessingMixtureGradient* gradient);

}  // namespace reliabayes
