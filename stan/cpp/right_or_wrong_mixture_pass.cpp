#include "right_or_wrong_mixture_pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reliabayes {

namespace {

// The log density, and what is expected of the ratings in each cell and of the states by kind of item.
struct Expected {
  double value;
  Vector right, ratings;
  Matrix states;
};

// With ratio[v] = right[v] / wrong[v] and the cells v of category h,
//
//     log p = sum_v log wrong[v] sum_i multiplicity_i c(i, v)
//           + sum_i multiplicity_i log sum_h exp(log_weight[h, kind_i]) prod_v ratio[v]^c(i, v),
//
// so that an entry multiplies one state. NaN where the sum is beyond the range in which it is accurate; ratios are at
// least 1, so that no state underflows on the way.
Expected by_products(const Vector& right, const Vector& wrong, const Integers& category,
                     const Matrix& log_weight, const DistinctItems& data) {
  const Vector ratio = right.cwiseQuotient(wrong);
  const Matrix weight = log_weight.array().exp();
  const Eigen::Index states = weight.rows();
  Expected found{0, Vector::Zero(right.size()), Vector::Zero(right.size()),
                 Matrix::Zero(states, weight.cols())};
  // Eigen would check each position.
  const double* const factor = ratio.data();
  const double* const count = data.count.data();
  double* const expected_right = found.right.data();
  double* const ratings = found.ratings.data();
  double product = 1;  // the value is found.value + log(product)
  std::vector<double> state(states);
  for (std::size_t i = 0; i < data.multiplicity.size(); ++i) {
    const int multiplicity = data.multiplicity[i], begin = data.first[i] - 1, end = data.first[i + 1] - 1;
    const Eigen::Index kind = (data.kind[i] - 1) * states;

    std::copy_n(weight.data() + kind, states, state.data());
    for (int c = begin; c < end; ++c) {
      const int cell = data.cell[c] - 1;
      double power = factor[cell];
      for (int n = static_cast<int>(count[c]); n > 1; --n) power *= factor[cell];
      state[category[cell] - 1] *= power;
    }
    double sum = 0;
    for (Eigen::Index h = 0; h < states; ++h) sum += state[h];
    if (!(sum > smallest_product && sum < 1 / smallest_product)) {
      found.value = std::numeric_limits<double>::quiet_NaN();
      return found;
    }
    if (multiplicity > 1) found.value += multiplicity * std::log(sum);
    else product *= sum;
    if (!(product > smallest_product && product < 1 / smallest_product)) {
      found.value += std::log(product);
      product = 1;
    }

    const double scale = multiplicity / sum;
    double* const expected_state = found.states.data() + kind;
    for (Eigen::Index h = 0; h < states; ++h) expected_state[h] += scale * state[h];
    for (int c = begin; c < end; ++c) {
      const int cell = data.cell[c] - 1;
      expected_right[cell] += count[c] * scale * state[category[cell] - 1];
      ratings[cell] += count[c] * multiplicity;
    }
  }
  found.value += std::log(product) + found.ratings.dot(Vector(wrong.array().log()));
  return found;
}

// The same by the table of all states and cells, for any probabilities and numbers of ratings.
Expected by_table(const Vector& right, const Vector& wrong, const Integers& category,
                  const Matrix& log_weight, const DistinctItems& data) {
  Matrix table = wrong.transpose().replicate(log_weight.rows(), 1);
  for (Eigen::Index v = 0; v < right.size(); ++v) table(category[v] - 1, v) = right(v);
  ItemMixtureGradient by{Matrix::Zero(table.rows(), table.cols()),
                         Matrix::Zero(log_weight.rows(), log_weight.cols())};
  const double value = item_mixture_pass(FactorTable::of(table), log_weight, data, &by);
  Expected found{value, Vector(right.size()), by.by_table.colwise().sum(), by.by_weight};
  for (Eigen::Index v = 0; v < right.size(); ++v) found.right(v) = by.by_table(category[v] - 1, v);
  return found;
}

}  // namespace

RightOrWrongMixture right_or_wrong_mixture_pass(const Vector& right, const Vector& wrong,
                                                const Integers& category, const Matrix& log_weight,
                                                const DistinctItems& data) {
  Expected found = by_products(right, wrong, category, log_weight, data);
  if (!std::isfinite(found.value)) found = by_table(right, wrong, category, log_weight, data);
  return {found.value, found.right.cwiseQuotient(right), (found.ratings - found.right).cwiseQuotient(wrong),
          found.states};
}

}  // namespace reliabayes
