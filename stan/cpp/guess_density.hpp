// Distributions of raters' guesses over categories, of scores that are nearly standard normal given the
// ratings: functions/guesses.stanfunctions.
#pragma once
#include "gradient.hpp"
#include "guess_density_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Score, typename Shape>
stan::return_type_t<Score, Shape> guess_density(const Score& score, const Shape& shape,
                                                const ConstMatrix& guessed, std::ostream* = nullptr) {
  const Matrix u = stan::math::value_of(score);
  const Vector s = stan::math::value_of(shape);
  if constexpr (stan::is_constant_all<Score, Shape>::value) {
    return guess_density_pass(u, s, guessed, nullptr);
  } else {
    GuessGradient by;
    const double value = guess_density_pass(u, s, guessed, &by);
    return with_gradient(value, Differentiated(score, by.by_score), Differentiated(shape, by.by_shape));
  }
}

}  // namespace reliabayes

using reliabayes::guess_density;
