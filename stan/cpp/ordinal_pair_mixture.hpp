// Ratings in ordered categories by two pools, with correlated item effects integrated out.
//
// An item's effects in the pools are sd[1] x and sd[2] y, with standard scores x and y of correlation
// rho. One is integrated out first, given the other; if that is y,
//
//     p(ratings) = sum_x weight[x] p(ratings of pool 1 | x) sum_y p(y | x) p(ratings of pool 2 | y),
//     y given x ~ normal(rho x, sqrt(1 - rho^2)),
//
// a product of positive matrices. The nodes of y resolve that conditional density whatever rho. Near a
// correlation of 1 there are thousands of them, but only a few lie within reach of a node of x.
// Items with the same ratings by that pool share the inner sum, so it is the one with fewer different ratings.
#pragma once
#include "gradient.hpp"
#include "last_values.hpp"
#include "ordinal_pair_mixture_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Level, typename Sd, typename Factor, typename Cut>
stan::return_type_t<Level, Sd, Factor, Cut> ordinal_pair_mixture(
    const Level& level, const Sd& sd, const Factor& factor, const Cut& cut, const Integers& pool,
    int probit, const ConstVector& node, const ConstVector& weight, const Integers& multiplicity,
    const Integers& first, const Integers& cell, const ConstVector& count,
    std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level), s = stan::math::value_of(sd);
  const Matrix f = stan::math::value_of(factor), c = stan::math::value_of(cut);
  const ItemsOfPools data{pool, multiplicity, first, cell, count};
  LastValues<double>& last = last_densities<OrdinalPairMixtureGradient>();
  const Vector key = last.key(l, s, f, c, weight);
  if constexpr (stan::is_constant_all<Level, Sd, Factor, Cut>::value) {
    if (const double* known = last.find(key)) return *known;
    return ordinal_pair_mixture_pass(l, s, f, c, probit, node, weight, data, nullptr);
  } else {
    OrdinalPairMixtureGradient by;
    const double value = ordinal_pair_mixture_pass(l, s, f, c, probit, node, weight, data, &by);
    last.add(key, value);
    return with_gradient(value, Differentiated(level, by.by_level), Differentiated(sd, by.by_sd),
                         Differentiated(factor, by.by_factor), Differentiated(cut, by.by_cut));
  }
}

}  // namespace reliabayes

using reliabayes::ordinal_pair_mixture;
