// Ratings in ordered categories by several pools, effects of items known: one pass with the gradient.
//
// Item i has the effect effect(i, g) in pool g; graded_table.hpp says how probable ratings then are.
// Each item stands for itself, for it has effects of its own.
#pragma once
#include "graded_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <vector>

namespace reliabayes {

// What ratings depend on, all counted from 0.
struct Rated {
  Eigen::Index item, rater, pool, category;
};

// Derivatives of the density.
struct GradedRatingsGradient {
  Matrix by_effect;
  Vector by_level;
  Matrix by_cut;
};

// The density and its gradient. So many cells at a time as stay in the processor's cache.
inline double graded_ratings_pass(const Matrix& effect, const Vector& level, const Matrix& cut,
                                  const Integers& pool, bool probit, const Integers& first,
                                  const Integers& cell, const ConstVector& count,
                                  GradedRatingsGradient& by) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::size_t most = 256;
  const int raters = pool.size(), cuts = cut.rows();
  double value = 0;
  Eigen::Index item = 0;
  std::vector<Rated> rated;
  for (std::size_t start = 0; start < cell.size(); start += most) {
    const std::size_t size = std::min(most, cell.size() - start);
    Values from_upper(size), from_lower(size);
    rated.clear();
    for (std::size_t n = 0; n < size; ++n) {
      const int c = start + n;
      while (first[item + 1] - 1 <= c) ++item;
      const auto [category, rater] = std::div(cell[c] - 1, raters);
      const int g = pool[rater] - 1;
      const double location = level(rater) + effect(item, g);
      from_upper(n) = category > 0 ? location - cut(category - 1, g) : infinity;
      from_lower(n) = category < cuts ? location - cut(category, g) : -infinity;
      rated.push_back({item, rater, g, category});
    }
    const Between here(Edge::at(from_upper, probit), Edge::at(from_lower, probit));
    const auto times = count.segment(start, size).array();
    value += (times * here.probability.log()).sum();
    const Values upper = times * here.by_upper, lower = times * here.by_lower;
    for (std::size_t n = 0; n < size; ++n) {
      const auto& [i, rater, g, category] = rated[n];
      by.by_effect(i, g) += upper(n) - lower(n);
      by.by_level(rater) += upper(n) - lower(n);
      if (category > 0) by.by_cut(category - 1, g) -= upper(n);
      if (category < cuts) by.by_cut(category, g) += lower(n);
    }
  }
  return value;
}

template <typename Effect, typename Level, typename Cut>
stan::return_type_t<Effect, Level, Cut> graded_ratings(
    const Effect& effect, const Level& level, const Cut& cut, const Integers& pool, int probit,
    const Integers& first, const Integers& cell, const ConstVector& count,
    std::ostream* = nullptr) {
  const Matrix e = stan::math::value_of(effect), c = stan::math::value_of(cut);
  const Vector l = stan::math::value_of(level);
  GradedRatingsGradient by{Matrix::Zero(e.rows(), e.cols()), Vector::Zero(l.size()),
                           Matrix::Zero(c.rows(), c.cols())};
  const double value = graded_ratings_pass(e, l, c, pool, probit, first, cell, count, by);
  if constexpr (stan::is_constant_all<Effect, Level, Cut>::value) {
    return value;
  } else {
    return with_gradient(value, Differentiated(effect, by.by_effect),
                         Differentiated(level, by.by_level), Differentiated(cut, by.by_cut));
  }
}

}  // namespace reliabayes

using reliabayes::graded_ratings;
