// The integral of ordinal_marginal.hpp in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

namespace reliabayes {

// Item i has the cells first[i] .. first[i + 1] - 1, counted from 1, which are numbered by category, then by rater.
struct RatedItems {
  const Integers &first, &cell;
  const ConstVector& count;
};

double ordinal_marginal_pass(const Vector& effect, double sd_item, const Vector& level, const Vector& cut,
                             bool probit, const RatedItems& data);

}  // namespace reliabayes
