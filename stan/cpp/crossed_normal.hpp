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
#include "digits.hpp"
#include "gradient.hpp"

#include <Eigen/Cholesky>
#include <ostream>
#include <stdexcept>

namespace reliabayes {

using Eigen::Index;

// The distribution of beta given the data, as K = factor factor' and whitened = factor^-1 h.
struct CrossedEffects {
  Matrix factor;
  Vector whitened;

  CrossedEffects(const ConstVector& weight, const ConstVector& precision,
                 const ConstVector& location, const ConstMatrix& gram, const ConstMatrix& moment)
      : factor(precision.size(), precision.size()),
        whitened(moment * weight + precision.cwiseProduct(location)) {
    const Index size = precision.size();
    const Vector packed = gram * weight;
    for (Index column = 0, start = 0; column < size; start += size - column++)
      factor.col(column).tail(size - column) = packed.segment(start, size - column);
    factor.diagonal() += precision;
    if (Eigen::LLT<Eigen::Ref<Matrix>>(factor).info() != Eigen::Success)
      throw std::domain_error("the precision of the crossed effects is not positive definite");
    factor.triangularView<Eigen::Lower>().solveInPlace(whitened);
  }

  double log_det() const { return 2 * factor.diagonal().array().log().sum(); }

  Vector mean() const {
    return factor.triangularView<Eigen::Lower>().transpose().solve(whitened);
  }

  // K^-1, lower triangle. Loops over columns keep the inverse factor triangular, which is a third of
  // the work of dense solves and faster than blocked products at typical sizes.
  Matrix covariance() const {
    const Index size = factor.rows();
    Matrix inverse = Matrix::Identity(size, size);
    for (Index column = 0; column < size; ++column) {
      double* const x = &inverse(0, column);
      for (Index k = column; k < size; ++k) {
        const double* const l = &factor(0, k);
        x[k] /= l[k];
        for (Index row = k + 1; row < size; ++row) x[row] -= x[k] * l[row];
      }
    }
    Matrix covariance(size, size);
    for (Index column = 0; column < size; ++column)
      for (Index row = column; row < size; ++row)
        covariance(row, column)
            = inverse.col(row).tail(size - row).dot(inverse.col(column).tail(size - row));
    return covariance;
  }
};

// Lower triangle, column by column, of a symmetric matrix, with the off-diagonal entries doubled: its
// product with a column of gram is the sum over all entries of the product of both matrices.
inline Vector doubled_triangle(const Matrix& symmetric) {
  const Index size = symmetric.rows();
  Vector packed(size * (size + 1) / 2);
  for (Index column = 0, start = 0; column < size; start += size - column++) {
    packed.segment(start, size - column) = 2 * symmetric.col(column).tail(size - column);
    packed(start) = symmetric(column, column);
  }
  return packed;
}

template <typename Weight, typename Precision>
stan::return_type_t<Weight, Precision> crossed_normal(
    const Weight& weight, const Precision& precision, const ConstVector& location,
    const ConstMatrix& gram, const ConstMatrix& moment, const ConstVector& square,
    std::ostream* = nullptr) {
  const Vector w = stan::math::value_of(weight);
  const Vector p = stan::math::value_of(precision);
  require_digits(w.cwiseAbs().dot(square));
  const CrossedEffects effects(w, p, location, gram, moment);
  const double value = -0.5 * (effects.log_det() + w.dot(square) + p.dot(location.cwiseAbs2())
                               - effects.whitened.squaredNorm());
  if constexpr (stan::is_constant_all<Weight, Precision>::value) {
    return value;
  } else {
    const Vector mean = effects.mean();
    Matrix second = effects.covariance();  // E beta beta', lower triangle
    second.selfadjointView<Eigen::Lower>().rankUpdate(mean);
    const Vector by_weight = -0.5 * (gram.transpose() * doubled_triangle(second) + square
                                     - 2 * (moment.transpose() * mean));
    const Vector by_precision = -0.5 * (second.diagonal() - 2 * location.cwiseProduct(mean)
                                        + location.cwiseAbs2());
    return with_gradient(value, Differentiated(weight, by_weight),
                         Differentiated(precision, by_precision));
  }
}

// A draw of the last effects given the data, as many as there are standard normal variates in noise. The
// last block of the factor belongs to their marginal precision, with the other effects integrated out.
inline Vector crossed_normal_last(const ConstVector& weight, const ConstVector& precision,
                                  const ConstVector& location, const ConstMatrix& gram,
                                  const ConstMatrix& moment, const ConstVector& noise,
                                  std::ostream* = nullptr) {
  const CrossedEffects effects(weight, precision, location, gram, moment);
  const Index last = noise.size();
  return effects.factor.bottomRightCorner(last, last)
      .triangularView<Eigen::Lower>()
      .transpose()
      .solve(effects.whitened.tail(last) + noise);
}

}  // namespace reliabayes

using reliabayes::crossed_normal;
using reliabayes::crossed_normal_last;
