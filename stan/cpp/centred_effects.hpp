// Effects that have given standard scores under a normal approximation of their posterior.
//
// With the information of the ratings on them, which is sparse, and their prior precision,
//
//     Q = information + diag(precision) = L L',   effects = Q^-1 moment + L'^-1 score,
//
// in the order in which Q is factorised. The last value is the log volume, -log det L.
#pragma once
#include "centred_effects_pass.hpp"
#include "gradient.hpp"

#include <ostream>

namespace reliabayes {

template <typename Score, typename Precision, typename Moment>
Eigen::Matrix<stan::return_type_t<Score, Precision, Moment>, Eigen::Dynamic, 1> centred_effects(
    const Score& score, const Precision& precision, const Moment& moment, const Integers& order,
    const Integers& first, const ConstVector& information, std::ostream* = nullptr) {
  const int size = first.size();
  const CentredEffects found({order, first}, information, stan::math::value_of(score),
                             stan::math::value_of(precision), stan::math::value_of(moment));
  Vector values(size + 1);
  values << found.effect, found.log_volume;
  if constexpr (stan::is_constant_all<Score, Precision, Moment>::value) {
    return values;
  } else {
    using stan::math::var;
    stan::arena_t<Eigen::Matrix<var, Eigen::Dynamic, 1>> result = values;
    stan::arena_t<Score> of_score = score;
    stan::arena_t<Precision> of_precision = precision;
    stan::arena_t<Moment> of_moment = moment;
    auto* const kept = stan::math::make_chainable_ptr(found);
    stan::math::reverse_pass_callback([=, &order, &first]() mutable {
      const Vector by = result.adj();
      const auto gradient = kept->gradient({order, first}, by.head(size), by[size]);
      if constexpr (!stan::is_constant<Score>::value) of_score.adj() += gradient.by_score;
      if constexpr (!stan::is_constant<Precision>::value)
        of_precision.adj() += gradient.by_precision;
      if constexpr (!stan::is_constant<Moment>::value) of_moment.adj() += gradient.by_moment;
    });
    return result;
  }
}

}  // namespace reliabayes

using reliabayes::centred_effects;
