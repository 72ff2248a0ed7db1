// A category between cut points a and b. By the odds u of an item and a rater it has the probability
//
//     u (1 - exp(a - b)) / ((u + exp(a)) (1 + u exp(-b))),
//
// of which nothing cancels in the derivatives.
#pragma once
#include "linear_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reliabayes {

struct CategoryOdds {
  double below, above;    // exp(a) and exp(-b), 0 for the first and the last category
  double log_gap, ratio;  // log(1 - exp(a - b)), and exp(a - b) / (1 - exp(a - b))

  // The category with k cut points below it.
  static CategoryOdds between(const ConstVector& cut, Eigen::Index k) {
    const bool is_first = k == 0, is_last = k == cut.size();
    const double below = is_first ? 0 : std::exp(cut(k - 1)), above = is_last ? 0 : std::exp(-cut(k));
    if (is_first || is_last) return {below, above, 0, 0};
    const double step = cut(k) - cut(k - 1);
    const double gap = std::max(-std::expm1(-step), std::numeric_limits<double>::min());
    return {below, above, std::log(gap), std::exp(-step) / gap};
  }
};

}  // namespace reliabayes
