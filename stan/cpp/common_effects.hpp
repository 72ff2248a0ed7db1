// Numbers of raters or of items, mean + sd effect, and the log density of their effects as the last value, of scores
// that are nearly standard normal given the ratings: effects.hpp. The location is the mean from where own means count,
// which may be elsewhere. The first score, before a reflection, is what all have in common. They are one node of Stan's
// reverse mode.
#pragma once
#include "effects.hpp"
#include "lanes.hpp"

#include <stan/math.hpp>

#include <ostream>

namespace reliabayes {

inline Vector reflected(const Vector& score, const ConstVector& direction) {
  return score - 2 * direction.dot(score) * direction;
}

template <typename Mean, typename Location, typename Sd, typename Common, typename Others>
Eigen::Matrix<stan::return_type_t<Mean, Location, Sd, Common, Others>, Eigen::Dynamic, 1> common_effects(
    const Mean& mean, const Location& location, const Sd& sd, const Common& common, const Others& others,
    const ConstVector& own_mean, const ConstVector& precision, const ConstVector& direction, std::ostream* = nullptr) {
  using stan::math::value_of;
  using Result = Eigen::Matrix<stan::return_type_t<Mean, Location, Sd, Common, Others>, Eigen::Dynamic, 1>;
  const Eigen::Index size = own_mean.size();
  const double s = value_of(sd);
  Vector score(size);
  score << value_of(common), value_of(others);
  const Effects of(value_of(location), s, reflected(score, direction), own_mean, precision);
  Vector values(size + 1);
  const double log_density = sum_of_logs(nullptr, of.scale.data(), size) - 0.5 * of.value.square().sum();
  values << (value_of(mean) + s * of.value).matrix(), log_density;
  if constexpr (stan::is_constant_all<Mean, Location, Sd, Common, Others>::value) {
    return values;
  } else {
    stan::arena_t<Result> result = values;
    stan::arena_t<Others> of_others = others;
    stan::arena_t<Vector> effect = of.value, by_location = of.by_location, by_sd = of.by_spread, scale = of.scale,
                          away = direction;
    const double log_scale_by_sd = of.scale_by_spread.sum();
    stan::math::reverse_pass_callback([=]() mutable {
      const Vector by = result.adj();
      const auto by_number = by.head(size);
      const double by_density = by(size);
      const Vector by_effect = s * by_number - by_density * effect;
      if constexpr (!stan::is_constant<Mean>::value) mean.adj() += by_number.sum();
      if constexpr (!stan::is_constant<Location>::value) location.adj() += by_effect.dot(by_location);
      if constexpr (!stan::is_constant<Sd>::value)
        sd.adj() += by_number.dot(effect) + by_effect.dot(by_sd) + by_density * log_scale_by_sd;
      const Vector by_score = reflected(by_effect.cwiseProduct(scale), away);
      if constexpr (!stan::is_constant<Common>::value) common.adj() += by_score(0);
      if constexpr (!stan::is_constant<Others>::value) of_others.adj() += by_score.tail(size - 1);
    });
    return result;
  }
}

}  // namespace reliabayes

using reliabayes::common_effects;
