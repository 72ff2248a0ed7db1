// The quadratic form of crossed_quadratic_form.hpp in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

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
                       const ConstVector& total, const Integers& pattern);
};

}  // namespace reliabayes
