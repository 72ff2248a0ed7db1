// The quadratic form of crossed_quadratic_form.hpp in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

namespace reliabayes {

// Sums of ratings in a design of rows and columns. Codes count from 1. What is of each row and pool
// goes through the pools of a row, then to the next row.
struct CrossedRatings {
  const ConstVector number, sum;  // of the ratings in each column
  const ConstVector square;       // sum of squares, by pool
  const Integers& pool;           // of each column
  const Integers& first_cell;     // of each row and pool, and one past the last
  const Integers& column;         // of each cell
  const ConstVector count;        // ratings in each cell
  const ConstVector total;        // of the ratings of each row and pool
  const Integers& pattern;        // of each row
  const Integers& pair_pattern;   // of each pair of pools
  const Integers& first;          // pool of each pair
  const Integers& second;         // the other one
};

// The derivatives. The form is linear in the weights, so its value is weight . by_weight.
struct CrossedQuadraticForm {
  Vector by_weight;
  Vector by_level;

  CrossedQuadraticForm(const ConstVector& weight, const ConstVector& level,
                       const CrossedRatings& ratings);
};

}  // namespace reliabayes
