// Ratings whose probabilities depend only on whether they are right: an item mixture, see item_mixture.hpp, whose
// states are the true categories.
//
// A rating in cell v has the probability right[v] if the cell's category is the true one, and else wrong[v], which is
// not larger. An item therefore takes one factor for each of its entries, not one for each entry and state.
#pragma once
#include "gradient.hpp"
#include "right_or_wrong_mixture_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Right, typename Wrong, typename Weight>
stan::return_type_t<Right, Wrong, Weight> right_or_wrong_mixture(
    const Right& right, const Wrong& wrong, const Integers& category, const Weight& log_weight,
    const Integers& multiplicity, const Integers& kind, const Integers& first, const Integers& cell,
    const ConstVector& count, std::ostream* = nullptr) {
  const Vector r = stan::math::value_of(right), w = stan::math::value_of(wrong);
  const Matrix l = stan::math::value_of(log_weight);
  const DistinctItems data{multiplicity, kind, first, cell, count};
  const RightOrWrongMixture found = right_or_wrong_mixture_pass(r, w, category, l, data);
  if constexpr (stan::is_constant_all<Right, Wrong, Weight>::value) {
    return found.value;
  } else {
    return with_gradient(found.value, Differentiated(right, found.by_right),
                         Differentiated(wrong, found.by_wrong),
                         Differentiated(log_weight, found.by_weight));
  }
}

}  // namespace reliabayes

using reliabayes::right_or_wrong_mixture;
