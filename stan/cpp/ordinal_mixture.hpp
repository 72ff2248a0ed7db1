// Ratings in ordered categories with item effects integrated out by quadrature: an item mixture whose
// states are the nodes.
//
// In state h an item has the effect effect[h]; ordinal_table.hpp gives the probabilities of its ratings.
#pragma once
#include "gradient.hpp"
#include "last_values.hpp"
#include "ordinal_mixture_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Level, typename Effect, typename Cut>
stan::return_type_t<Level, Effect, Cut> ordinal_mixture(
    const Level& level, const Effect& effect, const Cut& cut, int probit, const ConstVector& weight,
    const Integers& multiplicity, const Integers& kind, const Integers& first, const Integers& cell,
    const ConstVector& count, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level), e = stan::math::value_of(effect),
               c = stan::math::value_of(cut);
  const DistinctItems data{multiplicity, kind, first, cell, count};
  LastValues<double>& last = last_densities<OrdinalMixtureGradient>();
  const Vector key = last.key(l, e, c, weight);
  if constexpr (stan::is_constant_all<Level, Effect, Cut>::value) {
    if (const double* known = last.find(key)) return *known;
    return ordinal_mixture_pass(l, e, c, probit, weight, data, nullptr);
  } else {
    OrdinalMixtureGradient by;
    const double value = ordinal_mixture_pass(l, e, c, probit, weight, data, &by);
    last.add(key, value);
    return with_gradient(value, Differentiated(level, by.by_level),
                         Differentiated(effect, by.by_effect), Differentiated(cut, by.by_cut));
  }
}

}  // namespace reliabayes

using reliabayes::ordinal_mixture;
