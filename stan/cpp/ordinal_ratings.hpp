// Ratings in ordered categories by several pools, given the item effects: density and gradient in one
// pass.
//
// Item i has the effect effect(i, g) in pool g; ordinal_table.hpp gives the probabilities of its
// ratings. No two items share an entry, because each has its own effects.
#pragma once
#include "gradient.hpp"
#include "ordinal_ratings_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Effect, typename Level, typename Cut>
stan::return_type_t<Effect, Level, Cut> ordinal_ratings(
    const Effect& effect, const Level& level, const Cut& cut, const Integers& pool, int probit,
    const Integers& first, const Integers& cell, const ConstVector& count,
    std::ostream* = nullptr) {
  const Matrix e = stan::math::value_of(effect), c = stan::math::value_of(cut);
  const Vector l = stan::math::value_of(level);
  OrdinalRatingsGradient by{Matrix::Zero(e.rows(), e.cols()), Vector::Zero(l.size()),
                           Matrix::Zero(c.rows(), c.cols())};
  const double value = ordinal_ratings_pass(e, l, c, pool, probit, first, cell, count, by);
  if constexpr (stan::is_constant_all<Effect, Level, Cut>::value) {
    return value;
  } else {
    return with_gradient(value, Differentiated(effect, by.by_effect),
                         Differentiated(level, by.by_level), Differentiated(cut, by.by_cut));
  }
}

}  // namespace reliabayes

using reliabayes::ordinal_ratings;
