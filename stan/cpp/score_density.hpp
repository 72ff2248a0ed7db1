// The density of scores in place of effects of raters, each of which is standard normal: effects.hpp. It is one
// node of Stan's reverse mode. Matrices have a row for each rater and a column for each kind of effect. Levels, one
// for each rater, move all locations.
#pragma once
#include "gradient.hpp"
#include "score_density_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Location, typename Level, typename Spread, typename Score>
stan::return_type_t<Location, Level, Spread, Score> score_density(
    const Location& location, const Level& level, const Spread& spread, const Score& score,
    const ConstMatrix& mean, const ConstMatrix& precision, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(location), v = stan::math::value_of(level);
  const Vector s = stan::math::value_of(spread);
  const Matrix u = stan::math::value_of(score);
  const OwnNumbers own{mean, precision};
  if constexpr (stan::is_constant_all<Location, Level, Spread, Score>::value) {
    return score_density_pass(l, v, s, u, own, nullptr);
  } else {
    ScoreGradient by;
    const double value = score_density_pass(l, v, s, u, own, &by);
    return with_gradient(value, Differentiated(location, by.by_location),
                         Differentiated(level, by.by_level), Differentiated(spread, by.by_spread),
                         Differentiated(score, by.by_score));
  }
}

template <typename Location, typename Spread, typename Score>
stan::return_type_t<Location, Spread, Score> score_density(const Location& location,
                                                           const Spread& spread,
                                                           const Score& score,
                                                           const ConstMatrix& mean,
                                                           const ConstMatrix& precision,
                                                           std::ostream* pstream = nullptr) {
  const Vector none = Vector::Zero(score.rows());
  return score_density(location, none, spread, score, mean, precision, pstream);
}

}  // namespace reliabayes

using reliabayes::score_density;
