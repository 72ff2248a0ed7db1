// Ratings by raters who know the true category or guess, with the difficulty of items integrated out by
// quadrature: an item mixture whose states are pairs of a node and a true category.
//
// A rater knows the category of an item with the log odds level[rater] - difficulty[node], and otherwise
// rates k with probability guess[rater, k].
#pragma once
#include "gradient.hpp"
#include "guessing_mixture_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Level, typename Difficulty, typename Guess, typename Weight>
stan::return_type_t<Level, Difficulty, Guess, Weight> guessing_mixture(
    const Level& level, const Difficulty& difficulty, const Guess& guess, const Weight& log_weight,
    const Integers& multiplicity, const Integers& kind, const Integers& first, const Integers& cell,
    const ConstVector& count, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level), d = stan::math::value_of(difficulty);
  const Matrix g = stan::math::value_of(guess), w = stan::math::value_of(log_weight);
  const DistinctItems data{multiplicity, kind, first, cell, count};
  if constexpr (stan::is_constant_all<Level, Difficulty, Guess, Weight>::value) {
    return guessing_mixture_pass(l, d, g, w, data, nullptr);
  } else {
    GuessingMixtureGradient by;
    const double value = guessing_mixture_pass(l, d, g, w, data, &by);
    return with_gradient(
        value, Differentiated(level, by.by_level), Differentiated(difficulty, by.by_difficulty),
        Differentiated(guess, by.by_guess), Differentiated(log_weight, by.by_weight));
  }
}

}  // namespace reliabayes

using reliabayes::guessing_mixture;
