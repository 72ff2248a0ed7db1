// Quadratic form of crossed normal ratings given the levels of the columns of the design, with the
// effects of its rows integrated out.
//
// A level is mean plus effect. With the weights of the patterns (see crossed_normal.hpp) it is
//
//     weight_1 sum over ratings (rating - level)^2 + sum over rows weight_(pattern + 1) residual^2,
//
// where residual is the sum of a row's ratings minus their levels. One pass over the cells gives the
// value and the gradient.
#pragma once
#include "crossed_quadratic_form_pass.hpp"
#include "gradient.hpp"

#include <ostream>

namespace reliabayes {

template <typename Weight, typename Level>
stan::return_type_t<Weight, Level> crossed_quadratic_form(
    const Weight& weight, const Level& level, const ConstVector& number, const ConstVector& sum,
    double square, const Integers& first, const Integers& column, const ConstVector& count,
    const ConstVector& total, const Integers& pattern, std::ostream* = nullptr) {
  const Vector w = stan::math::value_of(weight);
  const Vector l = stan::math::value_of(level);
  const CrossedQuadraticForm form(w, l, number, sum, square, first, column, count, total, pattern);
  const double value = w.dot(form.by_weight);
  if constexpr (stan::is_constant_all<Weight, Level>::value)
    return value;
  else
    return with_gradient(value, Differentiated(weight, form.by_weight),
                         Differentiated(level, form.by_level));
}

}  // namespace reliabayes

using reliabayes::crossed_quadratic_form;
