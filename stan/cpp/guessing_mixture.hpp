// Ratings by raters who know the true category or guess, with the difficulty of items integrated out by
// quadrature: an item mixture whose states are pairs of a node and a true category.
//
// A rater knows the category of an item with the log odds level[rater] - difficulty[node], and otherwise
// guesses it. Guesses are sampled as scores: guess_density.hpp.
#pragma once
#include "gradient.hpp"
#include "guessing_mixture_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Level, typename Difficulty, typename Score, typename Shape, typename Weight>
stan::return_type_t<Level, Difficulty, Score, Shape, Weight> guessing_mixture(
    const Level& level, const Difficulty& difficulty, const Score& score, const Shape& shape,
    const ConstMatrix& guessed, const Weight& log_prevalence, const ConstVector& node_weight,
    const Integers& multiplicity, const Integers& kind, const Integers& first, const Integers& cell,
    const ConstVector& count, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level), d = stan::math::value_of(difficulty);
  const Matrix u = stan::math::value_of(score), w = stan::math::value_of(log_prevalence);
  const Vector s = stan::math::value_of(shape);
  const Guesses guesses(u, s, guessed);
  const DistinctItems data{multiplicity, kind, first, cell, count};
  const Matrix& log_guess = guesses.log_probability();
  if constexpr (stan::is_constant_all<Level, Difficulty, Score, Shape, Weight>::value) {
    return guessing_mixture_pass(l, d, log_guess, w, node_weight, data, nullptr);
  } else {
    GuessingMixtureGradient by;
    const double value = guessing_mixture_pass(l, d, log_guess, w, node_weight, data, &by);
    const GuessGradient by_guesses = guesses.gradient(by.by_log_guess, 0);
    return with_gradient(
        value, Differentiated(level, by.by_level), Differentiated(difficulty, by.by_difficulty),
        Differentiated(score, by_guesses.by_score), Differentiated(shape, by_guesses.by_shape),
        Differentiated(log_prevalence, by.by_prevalence));
  }
}

}  // namespace reliabayes

using reliabayes::guessing_mixture;
