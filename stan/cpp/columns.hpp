// Products of columns of a table, and sums into them: what items with few ratings consist of.
#pragma once
#include "linear_algebra.hpp"
#include "widest.hpp"

namespace reliabayes {

// Multiplies a state by the columns of cells of one rating each, numbered from 1; a block of states stays in registers.
WIDEST static void multiply_columns(double* __restrict state, Eigen::Index states,
                                    const double* __restrict factor, const int* cell, int cells) {
  constexpr Eigen::Index block = 16;
  Eigen::Index done = 0;
  for (; done + block <= states; done += block) {
    double product[block];
    for (Eigen::Index h = 0; h < block; ++h) product[h] = state[done + h];
    for (int c = 0; c < cells; ++c) {
      const double* const column = factor + (cell[c] - 1) * states + done;
      for (Eigen::Index h = 0; h < block; ++h) product[h] *= column[h];
    }
    for (Eigen::Index h = 0; h < block; ++h) state[done + h] = product[h];
  }
  for (int c = 0; c < cells; ++c) {
    const double* const column = factor + (cell[c] - 1) * states;
    for (Eigen::Index h = done; h < states; ++h) state[h] *= column[h];
  }
}

// Adds a state to the columns of cells.
WIDEST static void add_to_columns(const double* __restrict state, Eigen::Index states,
                                  double* __restrict adjoint, const int* cell, int cells) {
  for (int c = 0; c < cells; ++c) {
    double* const column = adjoint + (cell[c] - 1) * states;
    for (Eigen::Index h = 0; h < states; ++h) column[h] += state[h];
  }
}

// Multiplies a state by a factor, and raises what is below a bound to it.
WIDEST static void multiply_above(double* state, Eigen::Index states, double factor, double bound) {
  for (Eigen::Index h = 0; h < states; ++h) {
    const double product = state[h] * factor;
    state[h] = product > bound ? product : bound;
  }
}

// Multiplies a state by two others, raises what is below a bound to it, and gives the sum.
WIDEST static double multiply_and_sum(double* __restrict state, Eigen::Index states,
                                      const double* __restrict one, const double* __restrict other,
                                      double bound) {
  constexpr Eigen::Index lanes = 4;
  double sums[lanes] = {}, rest = 0;
  Eigen::Index h = 0;
  for (; h + lanes <= states; h += lanes)
    for (Eigen::Index lane = 0; lane < lanes; ++lane) {
      const double product = state[h + lane] * one[h + lane] * other[h + lane];
      state[h + lane] = product > bound ? product : bound;
      sums[lane] += state[h + lane];
    }
  for (; h < states; ++h) {
    const double product = state[h] * one[h] * other[h];
    state[h] = product > bound ? product : bound;
    rest += state[h];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
}

}  // namespace reliabayes
