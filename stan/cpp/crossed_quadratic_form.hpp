// Quadratic form of crossed normal ratings given the levels of the columns of the design, with the
// effects of its rows integrated out.
//
// A level is mean plus effect; each column belongs to a pool, and a row has an effect in each. With the
// weights of the pools and of the pairs of pools that a pattern has ratings of (see pooled_weights), it
// is
//
//     sum over ratings weight[pool] (rating - level)^2
//     + sum over rows, and over ordered pairs of pools, weight[pair] residual[g] residual[h],
//
// where residual is the sum of a row's ratings in a pool minus their levels. One pass over the cells
// gives the value and the gradient.
#pragma once
#include "crossed_quadratic_form_pass.hpp"
#include "gradient.hpp"

#include <ostream>

namespace reliabayes {

template <typename Weight, typename Level>
stan::return_type_t<Weight, Level> crossed_quadratic_form(
    const Weight& weight, const Level& level, const ConstVector& number, const ConstVector& sum,
    const ConstVector& square, const Integers& pool, const Integers& first_cell,
    const Integers& column, const ConstVector& count, const ConstVector& total,
    const Integers& pattern, const Integers& pair_pattern, const Integers& first,
    const Integers& second, std::ostream* = nullptr) {
  const Vector w = stan::math::value_of(weight);
  const Vector l = stan::math::value_of(level);
  const CrossedQuadraticForm form(w, l,
                                  {number, sum, square, pool, first_cell, column, count, total,
                                   pattern, pair_pattern, first, second});
  const double value = w.dot(form.by_weight);
  if constexpr (stan::is_constant_all<Weight, Level>::value)
    return value;
  else
    return with_gradient(value, Differentiated(weight, form.by_weight),
                         Differentiated(level, form.by_level));
}

}  // namespace reliabayes

using reliabayes::crossed_quadratic_form;
