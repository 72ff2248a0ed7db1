// A posterior that Gibbs sampling suits, as Python gives it.
#pragma once
#include "hierarchy.hpp"

#include <cstdint>

namespace reliabayes {

using Position = std::int32_t;

// What the posterior depends on; src/reliabayes/inference/gibbs.py has the same structure.
struct Conjugate {
  Count items, states, cells, groups;
  Count repeats;                // draws of who knew and of all probabilities, for each draw of states
  Count passes;                 // draws of states given one another, for each draw of states
  const Count* first;           // entry of each item, and one past the last: items + 1
  const Position* cell;         // of each entry
  const Position* count;        // ratings of each entry
  const Position* kind;         // of each item: 0, or 1 + its state if that is known
  const Count* multiplicity;    // items that each stands for
  const Position* is_settled;   // of each item, whether its state hardly changes
  const Count* group;           // first probability of each group, and one past the last: groups + 1
  const double* prior;          // concentration of each probability in a group
  const Position* weight;       // position of the probability of each state, or -1
  const double* fixed_weight;   // probability of each state where it has no position
  const Position *known, *guess, *guess2;  // by cell and state
  const double* proportion;     // by cell
  const Hierarchy* hierarchy;   // of the rows of raters, or none
  Count kept, size;             // parameters, and numbers in all: the others follow from parameters
  Count offset;                 // items before these, in other parts of the data
};

}  // namespace reliabayes
