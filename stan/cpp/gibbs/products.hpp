// Products of the probabilities of an item's ratings, for all states side by side.
#pragma once
#include "../lanes.hpp"
#include "random.hpp"

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

// Multiply probabilities of states, whose number is padded to that of whole lanes, by those of some ratings.
WIDEST static void multiply(const double* factor, Count stride, const std::int32_t* cell, const std::int32_t* count,
                            Count entries, double* state) {
  Count from = 0;
  for (; from + 2 * lanes <= stride; from += 2 * lanes)
    multiply<2>(factor + from, stride, cell, count, entries, state + from);
  if (from < stride) multiply<1>(factor + from, stride, cell, count, entries, state + from);
}

}  // namespace reliabayes
