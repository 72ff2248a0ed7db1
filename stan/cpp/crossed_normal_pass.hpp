// Crossed normal ratings (see crossed_normal.hpp) in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

#include <ostream>

namespace reliabayes {

// The location of the effects, and the sums of the data by pattern.
struct CrossedSums {
  const ConstVector& location;
  const ConstMatrix& gram;
  const ConstMatrix& moment;
  const ConstVector& square;
};

// Derivatives of the density.
struct CrossedNormalGradient {
  Vector by_weight;
  Vector by_precision;
};

// The density of crossed_normal.hpp, and its gradient if one is asked for.
double crossed_normal_pass(const Vector& weight, const Vector& precision, const CrossedSums& data,
                           CrossedNormalGradient* gradient);

// A draw of the last effects given the data, as many as there are standard normal variates in noise. The
// last block of the factor belongs to their marginal precision, with the other effects integrated out.
Vector crossed_normal_last(const ConstVector& weight, const ConstVector& precision,
                           const ConstVector& location, const ConstMatrix& gram,
                           const ConstMatrix& moment, const ConstVector& noise,
                           std::ostream* = nullptr);

}  // namespace reliabayes
