#include "sparse_normal_pass.hpp"

#include "digits.hpp"

#include <cmath>
#include <stdexcept>

namespace reliabayes {

// The distribution of beta given the data, as K = L D L' with a unit diagonal of L.
struct SparseEffects {
  const SparseSums& data;
  Vector factor;    // entries of L, and of D in the place of its diagonal
  Vector whitened;  // L^-1 h

  SparseEffects(double weight, const Vector& precision, const SparseSums& data)
      : data(data),
        factor(weight * data.gram),
        whitened(weight * data.moment) {
    Vector column = Vector::Zero(size());
    for (int j = 0; j < size(); ++j) {
      const double pivot = factor[begin(j)] += precision[j];
      if (!(pivot > 0))
        throw std::domain_error("the precision of the effects is not positive definite");
      for (int entry = begin(j) + 1; entry < end(j); ++entry) column[row(entry)] = factor[entry];
      // What remains loses the outer product of the column, of which all entries are in the pattern.
      for (int entry = begin(j) + 1; entry < end(j); ++entry) {
        const int k = row(entry);
        const double l = factor[entry] / pivot;
        whitened[k] -= l * whitened[j];
        if (is_dense(j)) {
          factor.segment(begin(k), size() - k) -= l * factor.segment(entry, size() - k);
        } else if (is_dense(k)) {
          double* const target = &factor[begin(k)] - k;
          for (int own = entry; own < end(j); ++own) target[row(own)] -= l * factor[own];
        } else {
          for (int other = begin(k); other < end(k); ++other)
            factor[other] -= l * column[row(other)];
        }
      }
      for (int entry = begin(j) + 1; entry < end(j); ++entry) {
        column[row(entry)] = 0;
        factor[entry] /= pivot;
      }
    }
  }

  int size() const { return data.moment.size(); }
  int begin(int j) const { return data.start[j] - 1; }
  int end(int j) const { return data.start[j + 1] - 1; }
  int row(int entry) const { return data.row[entry] - 1; }
  // Whether a column has all rows below, so that their places need no search.
  bool is_dense(int j) const { return end(j) - begin(j) == size() - j; }
  double pivot(int j) const { return factor[begin(j)]; }

  double log_det() const {
    double sum = 0;
    for (int j = 0; j < size(); ++j) sum += std::log(pivot(j));
    return sum;
  }

  // h' K^-1 h.
  double explained() const {
    double sum = 0;
    for (int j = 0; j < size(); ++j) sum += whitened[j] * whitened[j] / pivot(j);
    return sum;
  }

  Vector mean() const {
    Vector mean(size());
    for (int j = size() - 1; j >= 0; --j) {
      mean[j] = whitened[j] / pivot(j);
      for (int entry = begin(j) + 1; entry < end(j); ++entry)
        mean[j] -= factor[entry] * mean[row(entry)];
    }
    return mean;
  }

  // The entries of K^-1 that the factor has, from the last column to the first. Takahashi, Fagan & Chen
  // (1973): each column follows from those entries of later columns that are in the pattern.
  Vector covariance() const {
    Vector inverse(factor.size()), column = Vector::Zero(size()), sum = Vector::Zero(size());
    for (int j = size() - 1; j >= 0; --j) {
      for (int entry = begin(j) + 1; entry < end(j); ++entry) column[row(entry)] = factor[entry];
      for (int entry = begin(j) + 1; entry < end(j); ++entry) {
        const int k = row(entry);
        const double l = factor[entry];
        double at_k = inverse[begin(k)] * l;
        if (is_dense(j)) {
          const auto found = inverse.segment(begin(k) + 1, size() - k - 1);
          at_k += found.dot(factor.segment(entry + 1, size() - k - 1));
          sum.segment(k + 1, size() - k - 1) += l * found;
        } else if (is_dense(k)) {
          const double* const found = &inverse[begin(k)] - k;
          for (int own = entry + 1; own < end(j); ++own) {
            at_k += found[row(own)] * factor[own];
            sum[row(own)] += found[row(own)] * l;
          }
        } else {
          for (int other = begin(k) + 1; other < end(k); ++other) {
            at_k += inverse[other] * column[row(other)];
            sum[row(other)] += inverse[other] * l;
          }
        }
        sum[k] += at_k;
      }
      double diagonal = 1 / pivot(j);
      for (int entry = begin(j) + 1; entry < end(j); ++entry) {
        inverse[entry] = -sum[row(entry)];
        diagonal += factor[entry] * sum[row(entry)];
      }
      inverse[begin(j)] = diagonal;
      // The sums reached rows that the column does not have, where they are not needed.
      for (int entry = begin(j) + 1; entry < end(j); ++entry) {
        const int k = row(entry);
        sum[k] = column[k] = 0;
        if (!is_dense(k))
          for (int other = begin(k); other < end(k); ++other) sum[row(other)] = 0;
      }
    }
    return inverse;
  }
};

double sparse_normal_pass(double weight, const Vector& precision, const SparseSums& data,
                          SparseNormalGradient* gradient) {
  require_digits(weight * data.square);
  const SparseEffects effects(weight, precision, data);
  if (gradient != nullptr) {
    const Vector mean = effects.mean();
    const Vector covariance = effects.covariance();
    gradient->by_precision = mean.cwiseAbs2();
    double expected = data.square - 2 * data.moment.dot(mean);  // of the squared residuals
    for (int j = 0; j < effects.size(); ++j) {
      gradient->by_precision[j] += covariance[effects.begin(j)];
      for (int entry = effects.begin(j); entry < effects.end(j); ++entry) {
        const int k = effects.row(entry);
        const double second = covariance[entry] + mean[j] * mean[k];
        expected += (k == j ? 1 : 2) * data.gram[entry] * second;
      }
    }
    gradient->by_precision *= -0.5;
    gradient->by_weight = -0.5 * expected;
  }
  return -0.5 * (effects.log_det() + weight * data.square - effects.explained());
}

Vector sparse_normal_last(double weight, const ConstVector& precision, const Integers& start,
                          const Integers& row, const ConstVector& gram, const ConstVector& moment,
                          std::ostream*) {
  const SparseSums data{start, row, gram, moment, 0};
  const SparseEffects effects(weight, precision, data);
  const int last = effects.size() - 1;
  Vector found(2);
  found << effects.whitened[last] / effects.pivot(last), 1 / std::sqrt(effects.pivot(last));
  return found;
}

}  // namespace reliabayes
