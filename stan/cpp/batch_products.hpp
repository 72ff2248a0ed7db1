// Products of one matrix and several vectors at a time, so that what is loaded of the matrix is used for
// all of them and sums stay in registers.
//
// Vectors of a batch are either interleaved, the elements of all vectors side by side, or apart, one
// after the other at a distance. Numbers of rows are rounded up to four: memory has to extend as far.
#pragma once
#include "linear_algebra.hpp"
#include "widest.hpp"

namespace reliabayes {

constexpr Eigen::Index batch = 4;  // vectors

typedef double Four __attribute__((vector_size(32), aligned(8)));

static inline const Four& four(const double* at) { return *reinterpret_cast<const Four*>(at); }
static inline Four& four(double* at) { return *reinterpret_cast<Four*>(at); }

// Adds the products of a matrix and interleaved vectors to sums that lie apart.
WIDEST static void add_products(double* __restrict sums, Eigen::Index apart,
                                const double* __restrict matrix, Eigen::Index stride,
                                const double* __restrict vectors, Eigen::Index rows,
                                Eigen::Index columns) {
  Eigen::Index r = 0;
  for (; r + 4 < rows; r += 8) {
    Four sum[2][batch];
    for (int b = 0; b < batch; ++b) {
      sum[0][b] = four(sums + b * apart + r);
      sum[1][b] = four(sums + b * apart + r + 4);
    }
    for (Eigen::Index c = 0; c < columns; ++c) {
      const Four upper = four(matrix + c * stride + r), lower = four(matrix + c * stride + r + 4);
      for (int b = 0; b < batch; ++b) {
        sum[0][b] += upper * vectors[c * batch + b];
        sum[1][b] += lower * vectors[c * batch + b];
      }
    }
    for (int b = 0; b < batch; ++b) {
      four(sums + b * apart + r) = sum[0][b];
      four(sums + b * apart + r + 4) = sum[1][b];
    }
  }
  if (r >= rows) return;
  Four sum[batch];
  for (int b = 0; b < batch; ++b) sum[b] = four(sums + b * apart + r);
  for (Eigen::Index c = 0; c < columns; ++c)
    for (int b = 0; b < batch; ++b) sum[b] += four(matrix + c * stride + r) * vectors[c * batch + b];
  for (int b = 0; b < batch; ++b) four(sums + b * apart + r) = sum[b];
}

// Adds the outer products of vectors that lie apart and interleaved vectors to a matrix.
WIDEST static void add_outer_products(double* __restrict matrix, Eigen::Index stride,
                                      const double* __restrict left, Eigen::Index apart,
                                      const double* __restrict right, Eigen::Index rows,
                                      Eigen::Index columns) {
  for (Eigen::Index r = 0; r < rows; r += 4) {
    const Four l[batch] = {four(left + r), four(left + apart + r), four(left + 2 * apart + r),
                           four(left + 3 * apart + r)};
    for (Eigen::Index c = 0; c < columns; ++c) {
      const double* const with = right + c * batch;
      four(matrix + c * stride + r) += (l[0] * with[0] + l[1] * with[1]) +
                                       (l[2] * with[2] + l[3] * with[3]);
    }
  }
}

}  // namespace reliabayes
