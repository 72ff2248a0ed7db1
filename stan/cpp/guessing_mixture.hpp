// Ratings by raters who know the true category or guess, with the difficulty of items integrated out by
// quadrature: an item mixture whose states are pairs of a node and a true category.
//
// A rater knows the category of an item with the log odds level[rater] - difficulty[node], and otherwise
// guesses it. Guesses are sampled as scores: functions/guesses.stanfunctions.
#pragma once
#include "gradient.hpp"
#include "guessing_mixture_pass.hpp"
#include "last_values.hpp"

#include <ostream>

namespace reliabayes {

// The log density of the ratings, and that of the scores but for the constant of the Dirichlet distribution.
template <typename Level, typename Difficulty, typename Score, typename Shape, typename Weight>
Eigen::Matrix<stan::return_type_t<Level, Difficulty, Score, Shape, Weight>, -1, 1> guessing_mixture(
    const Level& level, const Difficulty& difficulty, const Score& score, const Shape& shape,
    const ConstMatrix& guessed, const Weight& log_prevalence, const ConstVector& node_weight,
    const Integers& multiplicity, const Integers& kind, const Integers& first, const Integers& cell,
    const ConstVector& count, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level), d = stan::math::value_of(difficulty);
  const Matrix u = stan::math::value_of(score), w = stan::math::value_of(log_prevalence);
  const Vector s = stan::math::value_of(shape);
  const Guesses guesses(u, s, guessed);
  const DistinctItems data{multiplicity, kind, first, cell, count};
  LastValues<double>& last = last_densities<GuessingMixtureGradient>();
  const Vector key = last.key(l, d, u, s, w, node_weight);
  if constexpr (stan::is_constant_all<Level, Difficulty, Score, Shape, Weight>::value) {
    const double* const known = last.find(key);
    const double value =
        known ? *known : guessing_mixture_pass(l, d, guesses, w, node_weight, data, nullptr);
    return Eigen::Vector2d(value, guess_density(guesses, s, nullptr));
  } else {
    GuessingMixtureGradient by;
    GuessGradient by_scores;
    const double value = guessing_mixture_pass(l, d, guesses, w, node_weight, data, &by);
    last.add(key, value);
    const double of_scores = guess_density(guesses, s, &by_scores);
    const GuessGradient by_guesses = guesses.gradient(by.by_log_guess, 0);
    Eigen::Matrix<stan::math::var, -1, 1> found(2);
    found << with_gradient(value, Differentiated(level, by.by_level),
                           Differentiated(difficulty, by.by_difficulty),
                           Differentiated(score, by_guesses.by_score),
                           Differentiated(shape, by_guesses.by_shape),
                           Differentiated(log_prevalence, by.by_prevalence)),
        with_gradient(of_scores, Differentiated(score, by_scores.by_score),
                      Differentiated(shape, by_scores.by_shape));
    return found;
  }
}

}  // namespace reliabayes

using reliabayes::guessing_mixture;
