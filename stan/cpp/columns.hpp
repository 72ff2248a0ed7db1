// Products of columns of a table, and sums into them: what items with few ratings consist of.
#pragma once
#include "linear_algebra.hpp"
#include "widest.hpp"

namespace reliabayes {

// The products of a block of a column and of those of cells, which stay in registers, and their sum.
template <int Block>
__attribute__((always_inline)) static inline double product_of_block(double* state, const double* start,
                                                                     Eigen::Index states, const double* factor,
                                                                     const int* cell, int cells) {
  double product[Block];
  for (int h = 0; h < Block; ++h) product[h] = start[h];
  for (int c = 0; c < cells; ++c) {
    const double* const column = factor + (cell[c] - 1) * states;
    for (int h = 0; h < Block; ++h) product[h] *= column[h];
  }
  for (int h = 0; h < Block; ++h) state[h] = product[h];
  for (int width = Block / 2; width > 0; width /= 2)
    for (int h = 0; h < width; ++h) product[h] += product[h + width];
  return product[0];
}

// The products of a column and of those of cells of one rating each, numbered from 1, and their sum.
WIDEST static double multiply_columns(double* state, const double* start, Eigen::Index states,
                                      const double* factor, const int* cell, int cells) {
  double sum = 0;
  Eigen::Index h = 0;
  for (; h + 16 <= states; h += 16) sum += product_of_block<16>(state + h, start + h, states, factor + h, cell, cells);
  if (h + 8 <= states) {
    sum += product_of_block<8>(state + h, start + h, states, factor + h, cell, cells);
    h += 8;
  }
  if (h + 4 <= states) {
    sum += product_of_block<4>(state + h, start + h, states, factor + h, cell, cells);
    h += 4;
  }
  for (; h < states; ++h) sum += product_of_block<1>(state + h, start + h, states, factor + h, cell, cells);
  return sum;
}

WIDEST static void multiply(double* state, Eigen::Index states, double by) {
  for (Eigen::Index h = 0; h < states; ++h) state[h] *= by;
}

// Adds a state, times the ratings of each cell, to the columns of cells.
WIDEST static void add_to_columns(const double* __restrict state, Eigen::Index states, double* __restrict adjoint,
                                  const int* cell, const double* count, int cells) {
  for (int c = 0; c < cells; ++c) {
    double* const column = adjoint + (cell[c] - 1) * states;
    for (Eigen::Index h = 0; h < states; ++h) column[h] += count[c] * state[h];
  }
}

// Multiplies a state by a factor, and raises what is below a bound to it.
WIDEST static void multiply_above(double* state, Eigen::Index states, double factor, double bound) {
  for (Eigen::Index h = 0; h < states; ++h) {
    const double product = state[h] * factor;
    state[h] = product > bound ? product : bound;
  }
}

// The sum of the products of two states.
WIDEST static double sum_of_products(Eigen::Index states, const double* __restrict one,
                                     const double* __restrict two) {
  constexpr Eigen::Index lanes = 8;
  double sums[lanes] = {}, rest = 0;
  Eigen::Index h = 0;
  for (; h + lanes <= states; h += lanes)
    for (Eigen::Index lane = 0; lane < lanes; ++lane) sums[lane] += one[h + lane] * two[h + lane];
  for (; h < states; ++h) rest += one[h] * two[h];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest;
}

// Adds two states, times a factor, each to the sum of the other.
WIDEST static void add_to_each_other(Eigen::Index states, double factor, const double* __restrict one,
                                     const double* __restrict two, double* __restrict sum_of_one,
                                     double* __restrict sum_of_two) {
  for (Eigen::Index h = 0; h < states; ++h) {
    sum_of_one[h] += factor * two[h];
    sum_of_two[h] += factor * one[h];
  }
}

}  // namespace reliabayes
