// One pass over the ratings: an item mixture and its gradient, in numbers that Stan need not know of.
// It is compiled once, by itself, because Stan's headers take longer to read than this takes to compile.
#pragma once
#include "factor_table.hpp"

namespace reliabayes {

// Distinct items: item i has the entries first[i] .. first[i + 1] - 1, counted from 1.
struct DistinctItems {
  const Integers& multiplicity;  // items with these ratings
  const Integers& kind;
  const Integers& first;
  const Integers& cell;
  const ConstVector& count;  // ratings of each entry
};

// Derivatives of the density by the logarithms; by weights unless that is empty.
struct ItemMixtureGradient {
  Matrix by_table;
  Matrix by_weight;
};

// For an item with few ratings probabilities are multiplied, which needs neither exponentials nor
// logarithms, and their sum over states is accurate if it exceeds smallest_product. A state that
// underflows on the way is below 1e-308, and no later factor is large, so it is negligible in the sum.
constexpr double smallest_product = 1e-100;
constexpr int most_factors = 50;

// The density of item_mixture.hpp, and its gradient if one is asked for.
double item_mixture_pass(const FactorTable& table, const Matrix& log_weight,
                         const DistinctItems& data, ItemMixtureGradient* gradient);

}  // namespace reliabayes
