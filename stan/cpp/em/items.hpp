// E step of items with a hidden state: expected numbers of states and ratings, given a table of log-probabilities.
#pragma once
#include "../lanes.hpp"
#include "densities.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace reliabayes::em {

constexpr double none = -1e308, least = -1e300;  // instead of the logarithm of 0: of no state, and of any other

// Distinct items with their ratings. Cells are numbered by category, then by rater.
//
// src/reliabayes/families/categories/compiled_em.py has the same structure.
struct Items {
  Count items, categories, raters;
  const std::int32_t* first;   // entry of each item, and one past the last: items + 1
  const std::int32_t* cell;    // of each entry: category and rater
  const double* count;         // ratings of each entry
  const std::int32_t* kind;    // of each item: 0, or 1 + its true category if that is known
  const double* multiplicity;  // items that each stands for

  Count cells() const { return categories * raters; }
};

// Log-probability of all ratings. Adds expected items (S), and expected ratings by cell and state (V, S), for states
// that fill up whole lanes, of which the last are in no item. True categories of states run fastest.
template <int Blocks>
INLINE double sum_items(const Items& own, Count stride, const double* table, const double* weight, double* items,
                        double* ratings) {
  const Count blocks = Blocks ? Blocks : stride / lanes;
  std::vector<Aligned> many(Blocks ? 0 : blocks);
  Lanes few[Blocks + 1], *const state = Blocks ? few : &many.data()->lanes;
  double total = 0, product = 1;
  for (Count item = 0; item < own.items; ++item) {
    const Count first = own.first[item], last = own.first[item + 1], kind = own.kind[item];
    for (Count b = 0; b < blocks; ++b) state[b] = read(weight + b * lanes);
    for (Count entry = first; entry < last; ++entry) {
      const double *row = table + own.cell[entry] * stride, count = own.count[entry];
      for (Count b = 0; b < blocks; ++b) state[b] += count * read(row + b * lanes);
    }
    for (Count h = 0; h < stride && kind; ++h)
      if (h % own.categories != kind - 1) state[h / lanes][h % lanes] = none;
    Lanes each = state[0];
    for (Count b = 1; b < blocks; ++b) each = larger(each, state[b]);
    const double largest = std::max({none, each[0], each[1], each[2], each[3]});
    Lanes sums = all(0);
    for (Count b = 0; b < blocks; ++b) sums += state[b] = exponential(larger(state[b] - largest, -largest_exponent));
    const double sum = sum_of(sums), number = own.multiplicity[item], share = number / sum;
    total += number * largest;
    if (number == 1)
      product *= sum;  // which is at least 1
    else
      total += number * std::log(sum);
    if (product > 1e200) total += std::log(std::exchange(product, 1));
    for (Count b = 0; b < blocks; ++b) {
      state[b] *= share;
      write(read(items + b * lanes) + state[b], items + b * lanes);
    }
    for (Count entry = first; entry < last; ++entry) {
      double *row = ratings + own.cell[entry] * stride, count = own.count[entry];
      for (Count b = 0; b < blocks; ++b) write(read(row + b * lanes) + count * state[b], row + b * lanes);
    }
  }
  return total + std::log(product);
}

WIDEST static double sum_items(const Items& own, Count stride, const double* table, const double* weight,
                               double* items, double* ratings) {
  switch (stride / lanes) {
    case 1: return sum_items<1>(own, stride, table, weight, items, ratings);
    case 2: return sum_items<2>(own, stride, table, weight, items, ratings);
    default: return sum_items<0>(own, stride, table, weight, items, ratings);
  }
}

// The E step, from functions that give the log-probability of a state and fill the table. Expected numbers are those of
// items (S), and of ratings by cell and state (V, S).
template <typename LogWeight, typename Tabulate>
double expect(const Items& own, Count states, const LogWeight& log_weight, const Tabulate& tabulate, double* items,
              double* ratings) {
  const Count stride = in_whole_lanes(states), cells = own.cells();
  std::vector<double> table(cells * stride), of_cell(cells * stride), weight(stride, none), of_state(stride);
  for (Count s = 0; s < states; ++s) weight[s] = std::max(log_weight(s), least);
  tabulate(table.data());
  const double found = sum_items(own, stride, table.data(), weight.data(), of_state.data(), of_cell.data());
  std::copy_n(of_state.begin(), states, items);
  for (Count v = 0; v < cells; ++v) std::copy_n(&of_cell[v * stride], states, ratings + v * states);
  return found;
}

}  // namespace reliabayes::em
