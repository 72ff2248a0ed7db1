// Quadrature over the second of two correlated standard scores, given the first.
//
// Given x, y is normal(rho x, sqrt(1 - rho^2)). Its integral becomes a sum over equally spaced nodes
// that resolve this density whatever rho.
#pragma once
#include "linear_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace reliabayes {

// Relative probabilities, of which the largest is 1, are raised to smallest_probability, so that a
// product of two is still a normal number: arithmetic on subnormal numbers takes a hundred times as
// long. Those below support_limit are left out of sums. Neither is visible in a sum above smallest_sum;
// smaller sums are taken by logarithms.
constexpr double smallest_probability = 1e-145, support_limit = 1e-60, smallest_sum = 1e-30;

// A range of nodes of the second score, and the nodes of the first from which they are within reach.
struct DensityBlock {
  Eigen::Index row, column;  // first node of x and of y
  Matrix density;            // of y given x, times the spacing: (nodes of x, nodes of y)
};

// The nodes of the second score y, and its density given x. If the conditional density is narrow, it is
// stored in blocks along the diagonal.
class ConditionalDensity {
 public:
  // The nodes resolve both what the nodes of x resolve and the density given x. Their number is bounded:
  // a density narrower than the ratings could ever distinguish is not resolved.
  ConditionalDensity(const Vector& first, double rho, double root)
      : first_(first), rho_(rho), scale_(std::max(root, narrowest)), resolved_(root > narrowest) {
    constexpr double widest = 1.1;  // spacing, in standard deviations of a normal density
    const double last = first(first.size() - 1), near = first(1) - first(0);
    const double precision = 1 / (near * near) + (1 / (scale_ * scale_) - 1) / (widest * widest);
    second_ = Vector::LinSpaced(1 + std::ceil(2 * last * std::sqrt(precision)), -last, last);
    constant_ = std::log((second_(1) - second_(0)) / scale_ * M_SQRT1_2 * M_2_SQRTPI / 2);

    const double reach = scale_ * std::sqrt(-2 * std::log(support_limit));
    const Eigen::Index all = second_.size(), width = reach < last ? 32 : all;
    for (Eigen::Index column = 0; column < all; column += width)
      add_block(column, std::min(width, all - column), reach);
  }

  const Vector& first() const { return first_; }
  const Vector& second() const { return second_; }
  const std::vector<DensityBlock>& blocks() const { return blocks_; }

  // Of all nodes given all. Computed at first use, because many evaluations never need it.
  const Matrix& log_density() const {
    if (log_density_.size() == 0)
      log_density_ = logs(deviation(0, 0, first_.size(), second_.size()));
    return log_density_;
  }

  // Derivatives by rho and by sqrt(1 - rho^2) of the log density of the items expected at a block of
  // nodes.
  Eigen::RowVector2d by_factor(Eigen::Index row, Eigen::Index column, const Matrix& expected) const {
    const Matrix z = deviation(row, column, expected.rows(), expected.cols());
    const Vector by_row = expected.cwiseProduct(z).rowwise().sum();
    const double by_scale = expected.cwiseProduct((z.array().square() - 1).matrix()).sum();
    return {by_row.dot(first_.segment(row, expected.rows())) / scale_, resolved_ * by_scale / scale_};
  }

 private:
  static constexpr double narrowest = 1. / 256;  // rho = .99999

  void add_block(Eigen::Index column, Eigen::Index columns, double reach) {
    const auto is_near = [&](double x) {
      return rho_ * x + reach >= second_(column) &&
             rho_ * x - reach <= second_(column + columns - 1);
    };
    Eigen::Index begin = 0, end = first_.size();
    while (begin < end && !is_near(first_(begin))) ++begin;
    while (begin < end && !is_near(first_(end - 1))) --end;
    const Matrix log_density = logs(deviation(begin, column, end - begin, columns));
    blocks_.push_back({begin, column, log_density.array().exp().max(smallest_probability)});
  }

  // Distance of y from its conditional mean, in conditional standard deviations.
  Matrix deviation(Eigen::Index row, Eigen::Index column, Eigen::Index rows,
                   Eigen::Index columns) const {
    const auto y = second_.segment(column, columns).transpose();
    return (y.replicate(rows, 1).colwise() - rho_ * first_.segment(row, rows)) / scale_;
  }

  Matrix logs(const Matrix& z) const { return constant_ - 0.5 * z.array().square(); }

  Vector first_, second_;
  double rho_, scale_;
  bool resolved_;
  double constant_;
  std::vector<DensityBlock> blocks_;
  mutable Matrix log_density_;
};

}  // namespace reliabayes
