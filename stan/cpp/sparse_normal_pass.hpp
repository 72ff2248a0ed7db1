// Sparse normal ratings (see sparse_normal.hpp) in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

#include <ostream>

namespace reliabayes {

// The entries of the factor, and the sums of the data.
struct SparseSums {
  const Integers& start;
  const Integers& row;
  const ConstVector& gram;
  const ConstVector& moment;
  double square;
};

// Derivatives of the density.
struct SparseNormalGradient {
  double by_weight;
  Vector by_precision;
};

// The density of sparse_normal.hpp, and its gradient if one is asked for.
double sparse_normal_pass(double weight, const Vector& precision, const SparseSums& data,
                          SparseNormalGradient* gradient);

// Mean and standard deviation of the last effect given the data.
Vector sparse_normal_last(double weight, const ConstVector& precision, const Integers& start,
                          const Integers& row, const ConstVector& gram, const ConstVector& moment,
                          std::ostream* = nullptr);

}  // namespace reliabayes
