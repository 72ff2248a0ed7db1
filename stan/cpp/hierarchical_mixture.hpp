// Categorical ratings with true categories marginalised, by raters whose log odds of errors come from a
// population, with a level that all those of a rater share: an item mixture, see item_mixture.hpp. The density of their
// scores is in score_density.hpp.
//
// There are thousands of log odds, and the ratings need little time beside them: each density is one
// node of Stan's reverse mode. Matrices have a row for each rater and a column for each error.
#pragma once
#include "gradient.hpp"
#include "hierarchical_mixture_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename Location, typename Level, typename Spread, typename Score, typename Weight>
stan::return_type_t<Location, Level, Spread, Score, Weight> hierarchical_mixture(
    const Location& location, const Level& level, const Spread& spread, const Score& score,
    const Weight& log_weight, const ConstMatrix& mean, const ConstMatrix& precision,
    const Integers& multiplicity, const Integers& kind, const Integers& first, const Integers& cell,
    const ConstVector& count, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(location), v = stan::math::value_of(level);
  const Vector s = stan::math::value_of(spread);
  const Matrix u = stan::math::value_of(score), w = stan::math::value_of(log_weight);
  const OwnNumbers own{mean, precision};
  const DistinctItems data{multiplicity, kind, first, cell, count};
  if constexpr (stan::is_constant_all<Location, Level, Spread, Score, Weight>::value) {
    return hierarchical_mixture_pass(l, v, s, u, w, own, data, nullptr);
  } else {
    HierarchicalGradient by;
    const double value = hierarchical_mixture_pass(l, v, s, u, w, own, data, &by);
    return with_gradient(value, Differentiated(location, by.by_location),
                         Differentiated(level, by.by_level), Differentiated(spread, by.by_spread),
                         Differentiated(score, by.by_score), Differentiated(log_weight, by.by_weight));
  }
}

}  // namespace reliabayes

using reliabayes::hierarchical_mixture;
