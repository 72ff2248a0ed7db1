// The density of panel_mixture.hpp in numbers that Stan need not know of.
#pragma once
#include "item_mixture_pass.hpp"

namespace reliabayes {

// What families say of items: each entry c has the readings reading[first[c]] .. reading[first[c + 1] - 1] of
// judges, counted from 1, and the misreading matrix matrix_of[c]; entries are ordered by matrix.
struct FamilyEntries {
  const Integers& matrix_of;
  const Integers& first;
  const Integers& reading;
};

// Derivatives of the density.
struct PanelGradient {
  Matrix by_people, by_reading, by_misreading, by_weight;
};

// The density of panel_mixture.hpp, and the gradient if one is asked for.
double panel_mixture_pass(const Matrix& people, const Matrix& log_reading, const Matrix& misreading,
                          const Matrix& log_weight, const FamilyEntries& families,
                          const DistinctItems& data, PanelGradient* gradient);

}  // namespace reliabayes
