#include "ordinal_ratings_pass.hpp"

#include "ordinal_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

namespace reliabayes {

// Indices of a cell's ratings, all from 0.
struct CellIndex {
  Eigen::Index item, rater, pool, category;
};

// In blocks of cells that fit the processor's cache.
double ordinal_ratings_pass(const Matrix& effect, const Vector& level, const Matrix& cut,
                            const Integers& pool, bool probit, const Integers& first,
                            const Integers& cell, const ConstVector& count,
                            OrdinalRatingsGradient& by) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::size_t block = 256;
  const int raters = pool.size(), cuts = cut.rows();
  double value = 0;
  Eigen::Index item = 0;
  std::vector<CellIndex> index;
  for (std::size_t start = 0; start < cell.size(); start += block) {
    const std::size_t size = std::min(block, cell.size() - start);
    Values to_upper(size), to_lower(size);  // distances from the location
    index.clear();
    for (std::size_t n = 0; n < size; ++n) {
      const int c = start + n;
      while (first[item + 1] - 1 <= c) ++item;
      const auto [category, rater] = std::div(cell[c] - 1, raters);
      const int g = pool[rater] - 1;
      const double location = level(rater) + effect(item, g);
      to_upper(n) = category > 0 ? location - cut(category - 1, g) : infinity;
      to_lower(n) = category < cuts ? location - cut(category, g) : -infinity;
      index.push_back({item, rater, g, category});
    }
    const CategoryProbability rated(Boundary::at(to_upper, probit), Boundary::at(to_lower, probit));
    const auto times = count.segment(start, size).array();
    value += (times * rated.probability.log()).sum();
    const Values upper = times * rated.by_upper, lower = times * rated.by_lower;
    for (std::size_t n = 0; n < size; ++n) {
      const auto& [i, rater, g, category] = index[n];
      by.by_effect(i, g) += upper(n) - lower(n);
      by.by_level(rater) += upper(n) - lower(n);
      if (category > 0) by.by_cut(category - 1, g) -= upper(n);
      if (category < cuts) by.by_cut(category, g) += lower(n);
    }
  }
  return value;
}

}  // namespace reliabayes
