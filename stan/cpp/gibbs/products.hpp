// Products of the probabilities of an item's ratings, for all states side by side.
#pragma once
#include "../lanes.hpp"
#include "random.hpp"

#include <algorithm>
#include <cmath>

namespace reliabayes {

template <int Blocks>
INLINE void multiply(const double* factor, Count stride, const std::int32_t* cell, const std::int32_t* count,
                     Count entries, double* state) {
  Lanes product[Blocks];
  for (int b = 0; b < Blocks; ++b) product[b] = read(state + b * lanes);
  for (Count entry = 0; entry < entries; ++entry) {
    const double* own = factor + cell[entry] * stride;
    if (count[entry] == 1)
      for (int b = 0; b < Blocks; ++b) product[b] *= read(own + b * lanes);
    else
      for (int i = 0; i < Blocks * lanes; ++i) product[i / lanes][i % lanes] *= std::pow(own[i], count[entry]);
  }
  for (int b = 0; b < Blocks; ++b) write(product[b], state + b * lanes);
}

INLINE void multiply_all(const double* factor, Count stride, const std::int32_t* cell, const std::int32_t* count,
                         Count entries, double* state) {
  Count from = 0;
  for (; from + 2 * lanes <= stride; from += 2 * lanes)
    multiply<2>(factor + from, stride, cell, count, entries, state + from);
  if (from < stride) multiply<1>(factor + from, stride, cell, count, entries, state + from);
}

// Multiply probabilities of states, whose number is padded to that of whole lanes, by those of some ratings.
WIDEST static void multiply(const double* factor, Count stride, const std::int32_t* cell, const std::int32_t* count,
                            Count entries, double* state) {
  multiply_all(factor, stride, cell, count, entries, state);
}

// The same for some items one after another: weights of states times the factors of the first entries of each.
WIDEST static void multiply_items(const double* weight, const double* factor, Count stride, const Count* first,
                                  const std::int32_t* cell, const std::int32_t* count, Count most, Count items,
                                  double* state) {
  for (Count item = 0; item < items; ++item, state += stride) {
    const Count entry = first[item], entries = std::min(most, first[item + 1] - entry);
    std::copy_n(weight, stride, state);
    multiply_all(factor, stride, cell + entry, count + entry, entries, state);
  }
}

}  // namespace reliabayes
