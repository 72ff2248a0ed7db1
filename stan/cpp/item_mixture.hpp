// Categorical ratings of items with a latent state: the density that all annotation models share.
//
// An item of kind g is in state h with log-weight log_weight[h, g]. Given the state its ratings are
// independent, with log-probabilities in the table. With c(i, v) ratings of item i in cell v,
//
//     log p = sum_i multiplicity_i log sum_h exp(log_weight[h, kind_i] + sum_v c(i, v) table[h, v]).
//
// A cell is what the probability of a rating depends on: usually its rater and its category. Items with
// identical ratings are stored once, with a multiplicity. The gradient adds an item's responsibilities,
// the posterior probabilities of its states, to the columns that the value read, so one pass gives both.
#pragma once
#include "gradient.hpp"

#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

namespace reliabayes {

// Distinct items: item i has the entries first[i] .. first[i + 1] - 1, counted from 1.
struct DistinctItems {
  const Integers& multiplicity;  // items with these ratings
  const Integers& kind;
  const Integers& first;
  const Integers& cell;
  const ConstVector& count;  // ratings of each entry
};

// Derivatives of the density.
struct ItemMixtureGradient {
  Matrix by_table;
  Matrix by_weight;
};

// For an item with few ratings probabilities are multiplied, which needs neither exponentials nor
// logarithms, and their sum over states is accurate if it exceeds smallest_product. A state that
// underflows on the way is below 1e-308, and no later factor is large, so it is negligible in the sum.
constexpr double smallest_product = 1e-100, largest_factor = 10;
constexpr int most_factors = 50;

// The density, and its gradient if one is asked for. Small numbers of states are known at compile time,
// so that a column stays in registers.
template <int States>
double item_mixture_pass(const Matrix& table, const Matrix& log_weight, const DistinctItems& data,
                         ItemMixtureGradient* gradient) {
  using Column = Eigen::Array<double, States, 1>;
  const Eigen::Index states = table.rows();
  const auto column = [states](const Matrix& of, int number) {
    return Eigen::Map<const Column>(of.data() + (number - 1) * states, states);
  };
  const auto adjoint = [states](Matrix& of, int number) {
    return Eigen::Map<Column>(of.data() + (number - 1) * states, states);
  };
  const Matrix factor = table.array().exp(), weight = log_weight.array().exp();
  const bool moderate = (factor.array() < largest_factor).all() &&
                        (weight.array() < largest_factor).all();

  double total = 0, product = 1;  // the value is total + log(product)
  Column state(states);
  for (std::size_t i = 0; i < data.multiplicity.size(); ++i) {
    const int kind = data.kind[i], begin = data.first[i] - 1, end = data.first[i + 1] - 1;

    double sum = 0, scale = 0;
    if (moderate && end - begin <= most_factors) {
      state = column(weight, kind);
      int c = begin;
      for (; c < end && data.count[c] == 1; ++c) state *= column(factor, data.cell[c]);
      if (c == end) sum = state.sum();
    }
    if (!(sum > smallest_product)) {
      state = column(log_weight, kind);
      for (int c = begin; c < end; ++c) state += data.count[c] * column(table, data.cell[c]);
      scale = state.maxCoeff();
      if (!(scale > -std::numeric_limits<double>::infinity())) return scale;  // or NaN
      state = (state - scale).exp();
      sum = state.sum();
    }
    total += data.multiplicity[i] * scale;
    if (data.multiplicity[i] > 1) total += data.multiplicity[i] * std::log(sum);
    else product *= sum;
    if (!(product > smallest_product && product < 1 / smallest_product)) {
      total += std::log(product);
      product = 1;
    }

    if (gradient == nullptr) continue;
    state *= data.multiplicity[i] / sum;
    adjoint(gradient->by_weight, kind) += state;
    for (int c = begin; c < end; ++c)
      adjoint(gradient->by_table, data.cell[c]) += data.count[c] * state;
  }
  return total + std::log(product);
}

inline double item_mixture_pass(const Matrix& table, const Matrix& log_weight,
                                const DistinctItems& data, ItemMixtureGradient* gradient) {
  switch (table.rows()) {
    case 2: return item_mixture_pass<2>(table, log_weight, data, gradient);
    case 3: return item_mixture_pass<3>(table, log_weight, data, gradient);
    case 4: return item_mixture_pass<4>(table, log_weight, data, gradient);
    case 5: return item_mixture_pass<5>(table, log_weight, data, gradient);
    default: return item_mixture_pass<Eigen::Dynamic>(table, log_weight, data, gradient);
  }
}

template <typename Table, typename Weight>
stan::return_type_t<Table, Weight> item_mixture(const Table& table, const Weight& log_weight,
                                                const Integers& multiplicity, const Integers& kind,
                                                const Integers& first, const Integers& cell,
                                                const ConstVector& count,
                                                std::ostream* = nullptr) {
  const Matrix t = stan::math::value_of(table);
  const Matrix w = stan::math::value_of(log_weight);
  const DistinctItems data{multiplicity, kind, first, cell, count};
  if constexpr (stan::is_constant_all<Table, Weight>::value) {
    return item_mixture_pass(t, w, data, nullptr);
  } else {
    ItemMixtureGradient gradient{Matrix::Zero(t.rows(), t.cols()),
                                 Matrix::Zero(w.rows(), w.cols())};
    const double value = item_mixture_pass(t, w, data, &gradient);
    return with_gradient(value, Differentiated(table, gradient.by_table),
                         Differentiated(log_weight, gradient.by_weight));
  }
}

}  // namespace reliabayes

using reliabayes::item_mixture;
