// Ratings in ordered categories with item effects integrated out by quadrature: an item mixture whose
// states are the nodes.
//
// In state h an item has the effect effect[h]; ordinal_table.hpp gives the probabilities of its ratings.
#pragma once
#include "item_mixture_pass.hpp"
#include "ordinal_table.hpp"

#include <ostream>

namespace reliabayes {

template <typename Level, typename Effect, typename Cut>
stan::return_type_t<Level, Effect, Cut> ordinal_mixture(
    const Level& level, const Effect& effect, const Cut& cut, int probit, const ConstVector& weight,
    const Integers& multiplicity, const Integers& kind, const Integers& first, const Integers& cell,
    const ConstVector& count, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level), c = stan::math::value_of(cut);
  const Values e = stan::math::value_of(effect).array();
  const OrdinalTable table(l, e, c, probit);
  const Matrix log_weight = weight.array().log();
  const DistinctItems data{multiplicity, kind, first, cell, count};
  if constexpr (stan::is_constant_all<Level, Effect, Cut>::value) {
    return item_mixture_pass(table.log_probability(), log_weight, data, nullptr);
  } else {
    ItemMixtureGradient by{Matrix::Zero(e.size(), table.probability.cols()),
                           Matrix::Zero(e.size(), 1)};
    const double value = item_mixture_pass(table.log_probability(), log_weight, data, &by);
    const OrdinalGradient gradient(table, by.by_table);
    return with_gradient(value, Differentiated(level, gradient.by_level),
                         Differentiated(effect, gradient.by_effect),
                         Differentiated(cut, gradient.by_cut));
  }
}

}  // namespace reliabayes

using reliabayes::ordinal_mixture;
