// Categorical ratings of items whose state is hidden: the density that all annotation models share.
//
// An item of kind g is in state h with log-weight log_weight[h, g]; given the state its ratings are
// independent, each a draw from the table. With c(i, v) ratings of item i in cell v,
//
//     log p = sum_i items_i log sum_h exp(log_weight[h, kind_i] + sum_v c(i, v) table[h, v]).
//
// A cell is what matters of a rating: who gave it, and which category. Items with equal cells are
// stored once, with their number. The gradient adds an item's responsibilities, the posterior of
// its state, to the columns that the value read, so that one pass gives both.
#pragma once
#include "gradient.hpp"

#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

namespace reliabayes {

// Items by their cells: item i has cells first[i] .. first[i + 1] - 1, all counted from 1.
struct DistinctItems {
  const Integers& items;  // how many there are
  const Integers& kind;
  const Integers& first;
  const Integers& cell;
  const ConstVector& count;  // ratings in the cell
};

// Derivatives of the density.
struct ItemMixtureGradient {
  Matrix by_table;
  Matrix by_weight;
};

// The density, and its gradient where one is wanted. The number of states is known at compile time
// where it is small, so that a column is held in registers.
template <int States>
double item_mixture_pass(const Matrix& table, const Matrix& log_weight, const DistinctItems& data,
                         ItemMixtureGradient* gradient) {
  using Column = Eigen::Array<double, States, 1>;
  using ConstColumn = Eigen::Map<const Column>;
  const Eigen::Index states = table.rows();
  const auto column = [states](const Matrix& of, int number) {
    return ConstColumn(of.data() + (number - 1) * states, states);
  };
  const auto adjoint = [states](Matrix& of, int number) {
    return Eigen::Map<Column>(of.data() + (number - 1) * states, states);
  };

  double total = 0;
  Column state(states);
  for (std::size_t i = 0; i < data.items.size(); ++i) {
    const int begin = data.first[i] - 1, end = data.first[i + 1] - 1;
    state = column(log_weight, data.kind[i]);
    for (int c = begin; c < end; ++c) state += data.count[c] * column(table, data.cell[c]);

    const double largest = state.maxCoeff();
    if (!(largest > -std::numeric_limits<double>::infinity())) return largest;  // or not a number
    state = (state - largest).exp();
    const double sum = state.sum();
    total += data.items[i] * (largest + std::log(sum));

    if (gradient == nullptr) continue;
    state *= data.items[i] / sum;
    adjoint(gradient->by_weight, data.kind[i]) += state;
    for (int c = begin; c < end; ++c)
      adjoint(gradient->by_table, data.cell[c]) += data.count[c] * state;
  }
  return total;
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
                                                const Integers& items, const Integers& kind,
                                                const Integers& first, const Integers& cell,
                                                const ConstVector& count,
                                                std::ostream* = nullptr) {
  const Matrix t = stan::math::value_of(table);
  const Matrix w = stan::math::value_of(log_weight);
  const DistinctItems data{items, kind, first, cell, count};
  if constexpr (stan::is_constant_all<Table, Weight>::value) {
    return item_mixture_pass(t, w, data, nullptr);
  } else {
    ItemMixtureGradient gradient{Matrix::Zero(t.rows(), t.cols()),
                                 Matrix::Zero(w.rows(), w.cols())};
    const double value = item_mixture_pass(t, w, data, &gradient);
    return with_gradient(value, table, gradient.by_table, log_weight, gradient.by_weight);
  }
}

}  // namespace reliabayes

using reliabayes::item_mixture;
