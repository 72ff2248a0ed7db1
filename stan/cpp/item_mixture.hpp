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
#include "item_mixture_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Table, typename Weight>
stan::return_type_t<Table, Weight> item_mixture(const Table& table, const Weight& log_weight,
                                                const Integers& multiplicity, const Integers& kind,
                                                const Integers& first, const Integers& cell,
                                                const ConstVector& count,
                                                std::ostream* = nullptr) {
  const FactorTable t = FactorTable::of_logs(stan::math::value_of(table));
  const Matrix w = stan::math::value_of(log_weight);
  const DistinctItems data{multiplicity, kind, first, cell, count};
  if constexpr (stan::is_constant_all<Table, Weight>::value) {
    return item_mixture_pass(t, w, data, nullptr);
  } else {
    ItemMixtureGradient gradient{Matrix::Zero(table.rows(), table.cols()),
                                 Matrix::Zero(w.rows(), w.cols())};
    const double value = item_mixture_pass(t, w, data, &gradient);
    return with_gradient(value, Differentiated(table, gradient.by_table),
                         Differentiated(log_weight, gradient.by_weight));
  }
}

}  // namespace reliabayes

using reliabayes::item_mixture;
