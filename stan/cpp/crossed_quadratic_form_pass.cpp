#include "crossed_quadratic_form_pass.hpp"

#include "digits.hpp"

namespace reliabayes {

CrossedQuadraticForm::CrossedQuadraticForm(const ConstVector& weight, const ConstVector& level,
                                           const ConstVector& number, const ConstVector& sum,
                                           double square, const Integers& first,
                                           const Integers& column, const ConstVector& count,
                                           const ConstVector& total, const Integers& pattern)
    : by_weight(Vector::Zero(weight.size())),
      by_level(2 * weight(0) * (number.cwiseProduct(level) - sum)) {
  by_weight(0) = square - 2 * sum.dot(level) + number.dot(level.cwiseAbs2());
  for (std::size_t row = 0; row < pattern.size(); ++row) {
    const int begin = first[row] - 1, end = first[row + 1] - 1;
    double residual = total(row);
    for (int cell = begin; cell < end; ++cell)
      residual -= count(cell) * level(column[cell] - 1);
    by_weight(pattern[row]) += residual * residual;
    const double slope = -2 * weight(pattern[row]) * residual;
    for (int cell = begin; cell < end; ++cell) by_level(column[cell] - 1) += slope * count(cell);
  }
  require_digits(weight.cwiseAbs().dot(by_weight));
}

}  // namespace reliabayes
