#include "ordinal_ratings_pass.hpp"

#include "category_odds.hpp"
#include "lanes.hpp"
#include "ordinal_table.hpp"
#include "rated_cells.hpp"

#include <algorithm>
#include <utility>

namespace reliabayes {

// Numbers by item and pool, and by rater, and derivatives by them.
struct Numbers {
  const double *of_item, *of_rater;
};
struct Slopes {
  double *of_item, *of_rater;
};

// Sums over ratings in a category: of their log-probabilities, and derivatives by the cut points below, times -1,
// and above it.
struct SumOfCategory {
  double value, upper, lower;
};

INLINE Lanes chosen_lanes(const double* from, const int* place) {
  return Lanes{from[place[0]], from[place[1]], from[place[2]], from[place[3]]};
}

INLINE void add_to(double* sums, const int* place, Lanes values) {
  for (int lane = 0; lane < lanes; ++lane) sums[place[lane]] += values[lane];
}

// Of so many probabilities the product is a number, and one logarithm is taken.
WIDEST static SumOfCategory add_by_odds(const RatedCells& cells, const RatedCells::Run& run,
                                        const CategoryOdds& between, int factors, Numbers odds, Slopes by) {
  Lanes value = all(0), uppers = all(0), lowers = all(0), product = all(1);
  int multiplied = 0;
  for (std::size_t n = run.begin; n < run.end; n += lanes) {
    const int *const item = &cells.item[n], *const rater = &cells.rater[n];
    const Lanes of_run = places(run.end - n);
    const Lanes u = chosen_lanes(odds.of_item, item) * chosen_lanes(odds.of_rater, rater);
    const Lanes from_lower = u + between.below, to_upper = 1 + u * between.above;
    const Lanes inverse = of_run / (from_lower * to_upper);
    const Lanes upper = between.below * to_upper * inverse, lower = u * between.above * from_lower * inverse;
    uppers += upper, lowers += lower;
    add_to(by.of_item, item, run.number * (upper - lower));
    add_to(by.of_rater, rater, run.number * (upper - lower));
    product *= u * inverse + (1 - of_run);
    if (++multiplied < factors) continue;
    value += logarithm(product);
    product = all(1);
    multiplied = 0;
  }
  value += logarithm(product);
  const double size = run.end - run.begin;
  return {run.number * (sum_of(value) + size * between.log_gap),
          run.number * (sum_of(uppers) + size * between.ratio),
          run.number * (sum_of(lowers) + size * between.ratio)};
}

// For any residuals, and for locations however far away.
static SumOfCategory add_by_boundaries(const RatedCells& cells, const RatedCells::Run& run, const Matrix& cut,
                                       bool probit, Numbers location, Slopes by) {
  constexpr std::size_t block = 256;  // ratings that fit the processor's cache
  SumOfCategory sum{0, 0, 0};
  for (std::size_t start = run.begin; start < run.end; start += block) {
    const std::size_t size = std::min(block, run.end - start);
    Values at(size);
    for (std::size_t n = 0; n < size; ++n)
      at(n) = location.of_item[cells.item[start + n]] + location.of_rater[cells.rater[start + n]];
    const auto boundary = [&](int k) { return Boundary::at(at - cut(k, run.pool), probit); };
    const CategoryProbability rated(
        run.category > 0 ? boundary(run.category - 1) : Boundary::outermost(size, 1),
        run.category < cut.rows() ? boundary(run.category) : Boundary::outermost(size, -1));
    const Values upper = run.number * rated.by_upper, lower = run.number * rated.by_lower;
    sum.value += run.number * rated.probability.log().sum();
    sum.upper += upper.sum(), sum.lower += lower.sum();
    for (std::size_t n = 0; n < size; ++n) {
      by.of_item[cells.item[start + n]] += upper(n) - lower(n);
      by.of_rater[cells.rater[start + n]] += upper(n) - lower(n);
    }
  }
  return sum;
}

WIDEST static void exponentials(const double* x, double* found, std::int64_t size) {
  for (std::int64_t n = 0; n < size; n += lanes)
    write_some(exponential(read_some(x + n, size - n)), found + n, size - n);
}

template <typename Logs>
static Logs odds_of(const Logs& log_odds) {
  Logs found(log_odds.rows(), log_odds.cols());
  exponentials(log_odds.data(), found.data(), found.size());
  return found;
}

double ordinal_ratings_pass(const Matrix& effect, const Vector& level, const Matrix& cut,
                            const Integers& pool, bool probit, const Integers& first,
                            const Integers& cell, const ConstVector& count,
                            OrdinalRatingsGradient& by) {
  constexpr double largest_log_odds = 150, largest_log = 600;  // of which products are numbers
  const double farthest = level.lpNorm<Eigen::Infinity>() + effect.lpNorm<Eigen::Infinity>() +
                          cut.lpNorm<Eigen::Infinity>();
  const bool by_odds = !probit && farthest < largest_log_odds;
  const Matrix of_item = by_odds ? odds_of(effect) : effect;
  const Vector of_rater = by_odds ? odds_of(level) : level;
  const Numbers numbers{of_item.data(), of_rater.data()};
  const Slopes slopes{by.by_effect.data(), by.by_level.data()};
  const RatedCells& cells = RatedCells::of({pool, first, cell, count});
  const int factors = std::min(1000.0, largest_log / (farthest + 2));
  double value = 0;
  for (const RatedCells::Run& run : cells.runs) {
    const auto [k, g] = std::pair(run.category, run.pool);
    const SumOfCategory sum =
        by_odds ? add_by_odds(cells, run, CategoryOdds::between(cut.col(g), k), factors, numbers, slopes)
                : add_by_boundaries(cells, run, cut, probit, numbers, slopes);
    value += sum.value;
    if (k > 0) by.by_cut(k - 1, g) -= sum.upper;
    if (k < cut.rows()) by.by_cut(k, g) += sum.lower;
  }
  return value;
}

}  // namespace reliabayes
