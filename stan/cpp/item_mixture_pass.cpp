#include "item_mixture_pass.hpp"

#include "columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reliabayes {

constexpr double largest_factor = 10;  // log-weights and a table may be any numbers

// Writes cells into room, each as often as it has ratings.
static const int* repeated(const int* cell, const double* count, int cells, int* room) {
  int* end = room;
  for (int c = 0; c < cells; ++c) end = std::fill_n(end, static_cast<int>(count[c]), cell[c]);
  return room;
}

// Small numbers of states are known at compile time, so that a column stays in registers.
template <int States>
double pass_of_states(const FactorTable& table, const Matrix& log_weight, const DistinctItems& data,
                      ItemMixtureGradient* gradient) {
  using Column = Eigen::Array<double, States, 1>;
  constexpr bool many_states = States == Eigen::Dynamic;
  const Matrix& factor = table.factor();
  const Eigen::Index states = factor.rows();
  const auto column = [states](const Matrix& of, int number) {
    return Eigen::Map<const Column>(of.data() + (number - 1) * states, states);
  };
  const auto adjoint = [states](Matrix& of, int number) {
    return Eigen::Map<Column>(of.data() + (number - 1) * states, states);
  };
  const Matrix weight = log_weight.array().exp();
  const bool moderate = (factor.array() < largest_factor).all() &&
                        (weight.array() < largest_factor).all();

  double total = 0, product = 1;  // the value is total + log(product)
  Column state(states);
  int room[most_factors];
  for (std::size_t i = 0; i < data.multiplicity.size(); ++i) {
    const int kind = data.kind[i], begin = data.first[i] - 1, end = data.first[i + 1] - 1;

    double sum = 0, scale = 0;
    const double ratings = data.count.segment(begin, end - begin).sum();
    const bool of_one_each = ratings == end - begin;
    if (moderate && ratings <= most_factors) {
      const auto start = column(weight, kind);
      const int* const cell = data.cell.data() + begin;
      const int* const rated = of_one_each ? cell : repeated(cell, data.count.data() + begin, end - begin, room);
      const int factors = static_cast<int>(ratings);
      if constexpr (many_states) {
        sum = multiply_columns(state.data(), start.data(), states, factor.data(), rated, factors);
      } else {
        state = start;
        for (int f = 0; f < factors; ++f) state *= column(factor, rated[f]);
        sum = state.sum();
      }
    }
    if (!(sum > smallest_product)) {
      state = column(log_weight, kind);
      for (int c = begin; c < end; ++c) state += data.count[c] * column(table.log(), data.cell[c]);
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
    multiply(state.data(), states, data.multiplicity[i] / sum);
    if (gradient->by_weight.size() > 0) adjoint(gradient->by_weight, kind) += state;
    if (many_states)
      add_to_columns(state.data(), states, gradient->by_table.data(), data.cell.data() + begin,
                     data.count.data() + begin, end - begin);
    else
      for (int c = begin; c < end; ++c)
        adjoint(gradient->by_table, data.cell[c]) += data.count[c] * state;
  }
  return total + std::log(product);
}

double item_mixture_pass(const FactorTable& table, const Matrix& log_weight,
                         const DistinctItems& data, ItemMixtureGradient* gradient) {
  switch (table.factor().rows()) {
    case 2: return pass_of_states<2>(table, log_weight, data, gradient);
    case 3: return pass_of_states<3>(table, log_weight, data, gradient);
    case 4: return pass_of_states<4>(table, log_weight, data, gradient);
    case 5: return pass_of_states<5>(table, log_weight, data, gradient);
    default: return pass_of_states<Eigen::Dynamic>(table, log_weight, data, gradient);
  }
}

}  // namespace reliabayes
