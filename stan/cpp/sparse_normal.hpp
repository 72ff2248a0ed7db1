// Normal ratings with effects that are integrated out in closed form, of which each pair that occurs in a
// rating has an entry in a sparse matrix.
//
// The effects beta ~ normal(0, 1 / precision), and the ratings given them have the residual
// precision w. The ratings enter by gram, the numbers of ratings of pairs of effects, and by moment and
// square, the sums of the ratings by effect and of their squares. With
//
//     K = diag(precision) + w gram,   h = w moment,
//
// beta given the data is normal(K^-1 h, K^-1), and the log density of the data is, up to terms that do
// not depend on these sums,
//
//     -1/2 (log det K + w square - h' K^-1 h).
//
// The entries of K are those of a Cholesky factor of it, column by column: in the rows row[start[j]] to
// row[start[j + 1] - 1] of column j, of which the first is j. Rows and starts count from 1.
#pragma once
#include "gradient.hpp"
#include "sparse_normal_pass.hpp"

namespace reliabayes {

template <typename Weight, typename Precision>
stan::return_type_t<Weight, Precision> sparse_normal(
    const Weight& weight, const Precision& precision, const Integers& start, const Integers& row, const ConstVector& gram, const ConstVector& moment,
    double square, std::ostream* = nullptr) {
  const double w = stan::math::value_of(weight);
  const Vector p = stan::math::value_of(precision);
  const SparseSums data{start, row, gram, moment, square};
  if constexpr (stan::is_constant_all<Weight, Precision>::value) {
    return sparse_normal_pass(w, p, data, nullptr);
  } else {
    SparseNormalGradient by;
    const double value = sparse_normal_pass(w, p, data, &by);
    return with_gradient(value, Differentiated(weight, by.by_weight),
                         Differentiated(precision, by.by_precision));
  }
}

}  // namespace reliabayes

using reliabayes::sparse_normal;
using reliabayes::sparse_normal_last;
