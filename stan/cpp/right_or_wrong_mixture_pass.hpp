// The mixture of right_or_wrong_mixture.hpp in numbers that Stan need not know of.
#pragma once
#include "item_mixture_pass.hpp"

namespace reliabayes {

// The density with its derivatives, by probabilities of cells and by log-weights.
struct RightOrWrongMixture {
  double value;
  Vector by_right, by_wrong;
  Matrix by_weight;
};

RightOrWrongMixture right_or_wrong_mixture_pass(const Vector& right, const Vector& wrong,
                                                const Integers& category, const Matrix& log_weight,
                                                const DistinctItems& data);

}  // namespace reliabayes
