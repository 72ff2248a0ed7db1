// What a chain has drawn for all items in a sweep.
#pragma once
#include "posterior.hpp"

#include <algorithm>
#include <vector>

namespace reliabayes {

struct Drawn {
  std::vector<Count> ratings, items;  // by cell and state, and by state
  // Where states are then drawn given one another: those of items that stand for themselves, and numbers of the items
  // that each stands for by state.
  std::vector<Count> state, equal;

  explicit Drawn(const Conjugate& data) : ratings(data.cells * data.states), items(data.states) {
    if (data.passes == 0) return;
    state.resize(data.items);
    equal.resize(data.items * data.states);
  }

  void clear() {
    for (auto* numbers : {&ratings, &items, &equal}) std::fill(numbers->begin(), numbers->end(), 0);
  }

  // Note how many of the items that one stands for are in a state.
  void add(const Conjugate& data, Count item, Count in, Count number) {
    if (number == 0) return;
    if (data.passes > 0) {
      state[item] = in;
      equal[item * data.states + in] = number;
    }
    items[in] += number;
    for (Count entry = data.first[item]; entry < data.first[item + 1]; ++entry)
      ratings[data.cell[entry] * data.states + in] += number * data.count[entry];
  }
};

}  // namespace reliabayes
