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
#include "digits.hpp"
#include "gradient.hpp"

#include <ostream>
#include <vector>

namespace reliabayes {

// The derivatives. The form is linear in the weights, so its value is weight . by_weight.
struct CrossedQuadraticForm {
  Vector by_weight;
  Vector by_level;

  // By column: number of ratings and their sum; over all ratings: sum of squares. By row: its cells,
  // the total of its ratings and its pattern.
  CrossedQuadraticForm(const ConstVector& weight, const ConstVector& level,
                       const ConstVector& number, const ConstVector& sum, double square,
                       const Integers& first, const Integers& column, const ConstVector& count,
                       const ConstVector& total, const Integers& pattern)
      : by_weight(Vector::Zero(weight.size())),
        by_level(2 * weight(0) * (number.cwiseProduct(level) - sum)) {
    by_weight(0) = square - 2 * sum.dot(level) + number.dot(level.cwiseAbs2());
    for (std::size_t row = 0; row < pattern.size(); ++row) {
      const int begin = first[row] - 1, end = first[row + 1] - 1;
      double residual = total(row);
      for (int cell = begin; cell < end; ++cell)
        residual -= count(cell) * level(column[cell] - 1);
      by_weight(pattern[row]) += residual * residual;
      const double slope = -2 * weight(pattern[row]) * residual;
      for (int cell = begin; cell < end; ++cell) by_level(column[cell] - 1) += slope * count(cell);
    }
  }
};

template <typename Weight, typename Level>
stan::return_type_t<Weight, Level> crossed_quadratic_form(
    const Weight& weight, const Level& level, const ConstVector& number, const ConstVector& sum,
    double square, const Integers& first, const Integers& column, const ConstVector& count,
    const ConstVector& total, const Integers& pattern, std::ostream* = nullptr) {
  const Vector w = stan::math::value_of(weight);
  const Vector l = stan::math::value_of(level);
  const CrossedQuadraticForm form(w, l, number, sum, square, first, column, count, total, pattern);
  require_digits(w.cwiseAbs().dot(form.by_weight));
  const double value = w.dot(form.by_weight);
  if constexpr (stan::is_constant_all<Weight, Level>::value)
    return value;
  else
    return with_gradient(value, Differentiated(weight, form.by_weight),
                         Differentiated(level, form.by_level));
}

}  // namespace reliabayes

using reliabayes::crossed_quadratic_form;
