#include "crossed_normal_pass.hpp"

#include "digits.hpp"

#include <Eigen/Cholesky>
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
static Vector doubled_triangle(const Matrix& symmetric) {
  const Index size = symmetric.rows();
  Vector packed(size * (size + 1) / 2);
  for (Index column = 0, start = 0; column < size; start += size - column++) {
    packed.segment(start, size - column) = 2 * symmetric.col(column).tail(size - column);
    packed(start) = symmetric(column, column);
  }
  return packed;
}

double crossed_normal_pass(const Vector& weight, const Vector& precision, const CrossedSums& data,
                           CrossedNormalGradient* gradient) {
  const auto& [location, gram, moment, square] = data;
  require_digits(weight.cwiseAbs().dot(square));
  const CrossedEffects effects(weight, precision, location, gram, moment);
  if (gradient != nullptr) {
    const Vector mean = effects.mean();
    Matrix second = effects.covariance();  // E beta beta', lower triangle
    second.selfadjointView<Eigen::Lower>().rankUpdate(mean);
    gradient->by_weight = -0.5 * (gram.transpose() * doubled_triangle(second) + square
                                  - 2 * (moment.transpose() * mean));
    gradient->by_precision = -0.5 * (second.diagonal() - 2 * location.cwiseProduct(mean)
                                     + location.cwiseAbs2());
  }
  return -0.5 * (effects.log_det() + weight.dot(square) + precision.dot(location.cwiseAbs2())
                 - effects.whitened.squaredNorm());
}

Vector crossed_normal_last(const ConstVector& weight, const ConstVector& precision,
                           const ConstVector& location, const ConstMatrix& gram,
                           const ConstMatrix& moment, const ConstVector& noise, std::ostream*) {
  const CrossedEffects effects(weight, precision, location, gram, moment);
  const Index last = noise.size();
  return effects.factor.bottomRightCorner(last, last)
      .triangularView<Eigen::Lower>()
      .transpose()
      .solve(effects.whitened.tail(last) + noise);
}

}  // namespace reliabayes
