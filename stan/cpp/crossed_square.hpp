// Quadratic form of crossed normal ratings given the levels of the few, the many summed out.
//
// A level is mean plus effect. With the weights of the patterns (see crossed_normal.hpp),
//
//     weight_1 sum over ratings (rating - level)^2 + sum over the many weight_(pattern + 1) left^2,
//
// where left is the sum of a unit's ratings less their levels. One pass over the cells gives value
// and gradient.
#pragma once
#include "gradient.hpp"

#include <ostream>
#include <vector>

namespace reliabayes {

// Derivatives; the form is linear in the weights, so its value is their product with by_weight.
struct CrossedSquare {
  Vector by_weight;
  Vector by_level;

  CrossedSquare(const ConstVector& weight, const ConstVector& level, const ConstVector& ratings,
                const ConstVector& sums, double square, const Integers& first, const Integers& few,
                const ConstVector& count, const ConstVector& total, const Integers& pattern)
      : by_weight(Vector::Zero(weight.size())),
        by_level(2 * weight(0) * (ratings.cwiseProduct(level) - sums)) {
    by_weight(0) = square - 2 * sums.dot(level) + ratings.dot(level.cwiseAbs2());
    for (std::size_t unit = 0; unit < pattern.size(); ++unit) {
      const int begin = first[unit] - 1, end = first[unit + 1] - 1;
      double left = total(unit);
      for (int cell = begin; cell < end; ++cell) left -= count(cell) * level(few[cell] - 1);
      by_weight(pattern[unit]) += left * left;
      const double slope = -2 * weight(pattern[unit]) * left;
      for (int cell = begin; cell < end; ++cell) by_level(few[cell] - 1) += slope * count(cell);
    }
  }
};

template <typename Weight, typename Level>
stan::return_type_t<Weight, Level> crossed_square(
    const Weight& weight, const Level& level, const ConstVector& ratings, const ConstVector& sums,
    double square, const Integers& first, const Integers& few, const ConstVector& count,
    const ConstVector& total, const Integers& pattern, std::ostream* = nullptr) {
  const Vector w = stan::math::value_of(weight);
  const Vector l = stan::math::value_of(level);
  const CrossedSquare form(w, l, ratings, sums, square, first, few, count, total, pattern);
  const double value = w.dot(form.by_weight);
  if constexpr (stan::is_constant_all<Weight, Level>::value)
    return value;
  else
    return with_gradient(value, Differentiated(weight, form.by_weight),
                         Differentiated(level, form.by_level));
}

}  // namespace reliabayes

using reliabayes::crossed_square;
