#include "centred_effects_pass.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace reliabayes {

CentredEffects::CentredEffects(const Envelope& at, const Vector& information, const Vector& score,
                               const Vector& precision, const Vector& moment)
    : effect(at.size()), log_volume(0), factor_(information), whitened_(at.size()) {
  const int size = at.size();
  std::vector<double*> rows(size);  // entry (i, j) is rows[i][j]
  double* next = factor_.data();
  for (int i = 0; i < size; ++i) {
    const int begin = at.begin(i), own = at.effect(i);
    double* const row = rows[i] = next - begin;
    next = row + i + 1;
    double pivot = row[i] + precision[own], left = moment[own];
    for (int j = begin; j < i; ++j) {
      const double* const other = rows[j];
      double entry = row[j];
      for (int k = std::max(begin, at.begin(j)); k < j; ++k) entry -= row[k] * other[k];
      row[j] = entry *= other[j];
      pivot -= entry * entry;
      left -= entry * whitened_[j];
    }
    if (!(pivot > 0))
      throw std::domain_error("the precision of the effects is not positive definite");
    row[i] = 1 / std::sqrt(pivot);
    whitened_[i] = left * row[i];
    log_volume -= 0.5 * std::log(pivot);
  }
  Vector solved(size);
  for (int i = 0; i < size; ++i) solved[i] = score[at.effect(i)] + whitened_[i];
  for (int i = size - 1; i >= 0; --i) {
    const double* const row = rows[i];
    const double value = effect[at.effect(i)] = solved[i] *= row[i];
    for (int k = at.begin(i); k < i; ++k) solved[k] -= row[k] * value;
  }
}

CentredEffects::Gradient CentredEffects::gradient(const Envelope& at, const Vector& by_effect,
                                                  double by_log_volume) const {
  const int size = at.size();
  Gradient by{Vector(size), Vector(size), Vector(size)};
  std::vector<const double*> rows(size);
  std::vector<double*> by_rows(size);  // derivatives by the entries of the factor
  Vector by_factor(factor_.size()), by_sum(size), by_left(size);
  const double* next = factor_.data();
  for (int i = 0; i < size; ++i) {  // by the sum of a score and what is whitened
    const int begin = at.begin(i);
    const double* const row = rows[i] = next - begin;
    by_rows[i] = by_factor.data() + (row - factor_.data());
    next = row + i + 1;
    double left = by_effect[at.effect(i)];
    for (int k = begin; k < i; ++k) left -= row[k] * by_sum[k];
    by.by_score[at.effect(i)] = by_left[i] = by_sum[i] = left * row[i];
  }
  for (int i = size - 1; i >= 0; --i) {  // by the moment
    const double* const row = rows[i];
    const double value = by.by_moment[at.effect(i)] = by_left[i] *= row[i];
    for (int k = at.begin(i); k < i; ++k) by_left[k] -= row[k] * value;
  }
  for (int i = 0; i < size; ++i) {
    const double solved = effect[at.effect(i)];
    for (int j = at.begin(i); j <= i; ++j)
      by_rows[i][j] = -solved * by_sum[j] - by_left[i] * whitened_[j];
    by_rows[i][i] -= by_log_volume * rows[i][i];
  }
  for (int i = size - 1; i >= 0; --i) {  // the steps of the factorisation, backwards
    const int begin = at.begin(i);
    const double* const row = rows[i];
    double* const by_row = by_rows[i];
    const double by_pivot = by_row[i] * row[i];
    by.by_precision[at.effect(i)] = 0.5 * by_pivot;
    for (int k = begin; k < i; ++k) by_row[k] -= row[k] * by_pivot;
    for (int j = i - 1; j >= begin; --j) {
      const double* const other = rows[j];
      double* const by_other = by_rows[j];
      const double entry = by_row[j] * other[j];
      by_other[j] -= entry * row[j];
      for (int k = std::max(begin, at.begin(j)); k < j; ++k) {
        by_row[k] -= entry * other[k];
        by_other[k] -= entry * row[k];
      }
    }
  }
  return by;
}

}  // namespace reliabayes
