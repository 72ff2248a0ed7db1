// Ratings in ordered categories of items whose effects are summed over nodes: an item mixture.
//
// In state h an item has the effect effect[h]; graded_table.hpp says how probable ratings then are.
#pragma once
#include "graded_table.hpp"
#include "item_mixture.hpp"

#include <ostream>

namespace reliabayes {

template <typename Level, typename Effect, typename Cut>
stan::return_type_t<Level, Effect, Cut> graded_mixture(
    const Level& level, const Effect& effect, const Cut& cut, int probit, const ConstVector& weight,
    const Integers& items, const Integers& kind, const Integers& first, const Integers& cell,
    const ConstVector& count, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(level), c = stan::math::value_of(cut);
  const Values e = stan::math::value_of(effect).array();
  const GradedTable table(l, e, c, probit);
  const Matrix log_weight = weight.array().log();
  const DistinctItems data{items, kind, first, cell, count};
  if constexpr (stan::is_constant_all<Level, Effect, Cut>::value) {
    return item_mixture_pass(table.log_probability(), log_weight, data, nullptr);
  } else {
    ItemMixtureGradient by{Matrix::Zero(e.size(), table.probability.cols()),
                           Matrix::Zero(e.size(), 1)};
    const double value = item_mixture_pass(table.log_probability(), log_weight, data, &by);
    const GradedGradient gradient(table, by.by_table);
    return with_gradient(value, Differentiated(level, gradient.by_level),
                         Differentiated(effect, gradient.by_effect),
                         Differentiated(cut, gradient.by_cut));
  }
}

}  // namespace reliabayes

using reliabayes::graded_mixture;
