// Numbers of raters, location + spread effect, of scores that are nearly standard normal given the ratings:
// effects.hpp. They are one node of Stan's reverse mode.
#pragma once
#include "effects.hpp"

#include <stan/math.hpp>

#include <ostream>

namespace reliabayes {

template <typename Location, typename Spread, typename Score>
Eigen::Matrix<stan::return_type_t<Location, Spread, Score>, Eigen::Dynamic, 1> rater_effects(
    const Location& location, const Spread& spread, const Score& score, const ConstMatrix& own_mean,
    const ConstMatrix& own_precision, std::ostream* = nullptr) {
  using stan::math::value_of;
  using Result = Eigen::Matrix<stan::return_type_t<Location, Spread, Score>, Eigen::Dynamic, 1>;
  const double l = value_of(location), s = value_of(spread);
  const Vector u = value_of(score);
  const Effects of(l, s, u, own_mean.col(0), own_precision.col(0));
  const Vector value = l + s * of.value;
  if constexpr (stan::is_constant_all<Location, Spread, Score>::value) {
    return value;
  } else {
    stan::arena_t<Result> result = value;
    stan::arena_t<Score> argument = score;
    stan::arena_t<Vector> by_location = 1 + s * of.by_location, by_spread = of.value + s * of.by_spread,
                          by_score = s * of.scale;
    stan::math::reverse_pass_callback(
        [result, argument, location, spread, by_location, by_spread, by_score]() mutable {
          const Vector by = result.adj();
          if constexpr (!stan::is_constant<Location>::value) location.adj() += by.dot(by_location);
          if constexpr (!stan::is_constant<Spread>::value) spread.adj() += by.dot(by_spread);
          if constexpr (!stan::is_constant<Score>::value)
            argument.adj().array() += by.array() * by_score.array();
        });
    return result;
  }
}

}  // namespace reliabayes

using reliabayes::rater_effects;
