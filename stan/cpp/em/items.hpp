// E step of items with a hidden state: expected numbers of states and ratings, given a table of log-probabilities.
#pragma once
#include "../lanes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace reliabayes::em {

using Count = std::int64_t;

constexpr double none = -1e308, least = -1e300;  // instead of the logarithm of 0: of no state, and of any other

// Distinct items with their ratings. Cells are numbered by category, then by rater.
//
// src/reliabayes/models/bases/compiled_em.py has the same structure.
struct Items {
  Count items, categories, raters;
  const std::int32_t* first;   // entry of each item, and one past the last: items + 1
  const std::int32_t* cell;    // of each entry: category and rater
  const double* count;         // ratings of each entry
  const std::int32_t* kind;    // of each item: 0, or 1 + its true category if that is known
  const double* multiplicity;  // items that each stands for

  Count cells() const { return categories * raters; }
};

inline double squared(double x) { return x * x; }
inline double x_log_y(double x, double y) { return x == 0 ? 0 : x * std::log(y); }
inline double log_normal(double x, double mean, double sd) { return -0.5 * squared((x - mean) / sd) - std::log(sd); }
inline double log_half_t(double x, double df, double scale) {
  const double square = squared(x / scale);
  return -0.5 * (std::isinf(df) ? square : (df + 1) * std::log1p(square / df));
}

// Log-probability of all ratings. Adds expected items (S), and expected ratings by cell and state (V, S), for states
// that fill up whole lanes, of which the last are in no item. True categories of states run fastest.
template <int Blocks>
INLINE double expect(const Items& own, Count stride, const double* table, const double* weight, double* items,
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

WIDEST static double expect(const Items& own, Count stride, const double* table, const double* weight, double* items,
                            double* ratings) {
  switch (stride / lanes) {
    case 1: return expect<1>(own, stride, table, weight, items, ratings);
    case 2: return expect<2>(own, stride, table, weight, items, ratings);
    default: return expect<0>(own, stride, table, weight, items, ratings);
  }
}

}  // namespace reliabayes::em
