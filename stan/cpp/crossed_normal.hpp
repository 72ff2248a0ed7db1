// Normal ratings with crossed effects that are integrated out in closed form.
//
// The density depends on the data only through sums, by pattern d with weight w_d. The effects
// beta ~ normal(location, 1 / precision). With
//
//     K = diag(precision) + sum_d w_d gram_d,   h = precision .* location + sum_d w_d moment_d,
//
// beta given the data is normal(K^-1 h, K^-1), and the log density of the data is, up to terms that do
// not depend on these sums,
//
//     -1/2 (log det K + sum_d w_d square_d + location' diag(precision) location - h' K^-1 h).
//
// A column of gram holds the lower triangle of gram_d, column by column.
#pragma once
#include "crossed_normal_pass.hpp"
#include "gradient.hpp"

namespace reliabayes {

template <typename Weight, typename Precision>
stan::return_type_t<Weight, Precision> crossed_normal(
    const Weight& weight, const Precision& precision, const ConstVector& location,
    const ConstMatrix& gram, const ConstMatrix& moment, const ConstVector& square,
    std::ostream* = nullptr) {
  const Vector w = stan::math::value_of(weight);
  const Vector p = stan::math::value_of(precision);
  const CrossedSums data{location, gram, moment, square};
  if constexpr (stan::is_constant_all<Weight, Precision>::value) {
    return crossed_normal_pass(w, p, data, nullptr);
  } else {
    CrossedNormalGradient by;
    const double value = crossed_normal_pass(w, p, data, &by);
    return with_gradient(value, Differentiated(weight, by.by_weight),
                         Differentiated(precision, by.by_precision));
  }
}

}  // namespace reliabayes

using reliabayes::crossed_normal;
using reliabayes::crossed_normal_last;
