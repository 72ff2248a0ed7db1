#include "ordinal_marginal_pass.hpp"

#include "category_odds.hpp"
#include "lanes.hpp"
#include "last_made.hpp"
#include "ordinal_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace reliabayes {

constexpr int nodes = 2 * lanes;  // at which an item's ratings are evaluated side by side

// Each rating by itself, item by item: the same for every draw. The odds u of its item and rater are in the numerator
// of its probability once, or twice in the last category, which RatingsByOdds needs.
class SingleRatings {
 public:
  Integers first, rater, category;  // all counted from 0
  Vector of_item, of_rater;         // how often their odds are in numerators
  Vector of_category;               // ratings

  SingleRatings(const RatedItems& of, int raters, int categories)
      : of_item(Vector::Zero(of.first.size() - 1)), of_rater(Vector::Zero(raters)),
        of_category(Vector::Zero(categories)) {
    for (Eigen::Index i = 0; i < of_item.size(); ++i) {
      first.push_back(rater.size());
      for (int c = of.first[i] - 1; c < of.first[i + 1] - 1; ++c) {
        const auto [k, j] = std::div(of.cell[c] - 1, raters);
        const double numerators = of.count(c) * (k + 1 < categories ? 1 : 2);
        of_item(i) += numerators, of_rater(j) += numerators, of_category(k) += of.count(c);
        rater.insert(rater.end(), static_cast<std::size_t>(of.count(c)), j);
        category.resize(rater.size(), k);
      }
    }
    first.push_back(rater.size());
  }

  int size(Eigen::Index item) const { return first[item + 1] - first[item]; }

  static const SingleRatings& of(const RatedItems& ratings, int raters, int categories) {
    thread_local LastMade<SingleRatings> last;
    return last.of({ratings.first, ratings.cell, ratings.count}, {raters, categories}, ratings, raters, categories);
  }
};

// Ratings by logistic odds u of item and rater: between cut points a and b
//
//     u (exp(b) - exp(a)) / ((u + exp(a)) (u + exp(b))),
//
// exp(b) / (u + exp(b)) in the first category, and u / (u + exp(a)) in the last. Where a cut point is missing, 0 takes
// the place of its exponential, and another u is in the numerator.
class RatingsByOdds {
 public:
  // Of a rating on the effect, at most, and spacing of nodes, as the distribution function needs it.
  static constexpr double information = 0.3, widest = 1.2;

  RatingsByOdds(const SingleRatings& all, const Vector& level, const Vector& cut, double farthest)
      : all_(all), of_rater_(level.array().exp()), constant_(all.of_rater.dot(level)),
        factors_(largest_log / (2 * farthest + 2)) {
    for (Eigen::Index k = 0; k <= cut.size(); ++k) {
      cut_.push_back({k > 0 ? std::exp(cut(k - 1)) : 0, k < cut.size() ? std::exp(cut(k)) : 0});
      if (k < cut.size()) constant_ += all.of_category(k) * (CategoryOdds::between(cut, k).log_gap + cut(k));
    }
  }

  double constant() const { return constant_; }

  // Of an item's ratings at several effects, but for the constant of all items.
  WIDEST void log_probabilities(Eigen::Index item, const double* effect, double* found) const {
    const int end = all_.first[item + 1];
    const int *const rater = all_.rater.data(), *const category = all_.category.data();
    const double* const of_rater = of_rater_.data();
    const CutPoints* const cut = cut_.data();
    const Lanes low = read(effect), high = read(effect + lanes);
    const Lanes odds[] = {exponential(low), exponential(high)};
    Binary product[] = {{all(1), all(0)}, {all(1), all(0)}};
    for (int from = all_.first[item], to; from < end; from = to) {
      to = std::min(from + factors_, end);
      Lanes some[] = {product[0].fraction, product[1].fraction};
      for (int n = from; n < to; ++n) {
        const auto [lower, upper] = cut[category[n]];
        for (int half = 0; half < 2; ++half) {
          const Lanes u = odds[half] * of_rater[rater[n]];
          some[half] *= (u + lower) * (u + upper);
        }
      }
      for (int half = 0; half < 2; ++half) {
        const Binary here = binary(some[half]);
        product[half] = {here.fraction, product[half].exponent + here.exponent};
      }
    }
    write(all_.of_item(item) * low - logarithm(product[0]), found);
    write(all_.of_item(item) * high - logarithm(product[1]), found + lanes);
  }

 private:
  static constexpr double largest_log = 600;  // of a product that is a number

  struct CutPoints {
    double lower, upper;
  };

  const SingleRatings& all_;
  const Vector of_rater_;
  std::vector<CutPoints> cut_;
  double constant_;
  const int factors_;  // whose product is a number
};

// The same for any residuals, and for locations however far away.
class RatingsByBoundaries {
 public:
  static constexpr double information = 0.8, widest = 0.9;

  RatingsByBoundaries(const SingleRatings& all, const Vector& level, const Vector& cut, bool probit)
      : all_(all), upper_(all.rater.size()), lower_(all.rater.size()), probit_(probit) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Values ends(cut.size() + 2);
    ends << -infinity, cut, infinity;
    for (Eigen::Index n = 0; n < upper_.size(); ++n) {
      upper_(n) = level(all.rater[n]) - ends(all.category[n]);
      lower_(n) = level(all.rater[n]) - ends(all.category[n] + 1);
    }
  }

  double constant() const { return 0; }

  void log_probabilities(Eigen::Index item, const double* effect, double* found) const {
    const int first = all_.first[item], size = all_.size(item);
    std::transform(effect, effect + nodes, found, [&](double x) {
      const CategoryProbability rated(Boundary::at(upper_.segment(first, size) + x, probit_),
                                      Boundary::at(lower_.segment(first, size) + x, probit_));
      return rated.probability.log().sum();
    });
  }

 private:
  const SingleRatings& all_;
  Values upper_, lower_;  // distances of ratings from cut points, without the item's effect
  bool probit_;
};

// A sum of exponentials, however large.
struct SumOfExponentials {
  double scaled = 0, highest = -std::numeric_limits<double>::infinity();  // exp(highest) times the first

  WIDEST void add(const double* exponent) {
    const Lanes low = read(exponent), high = read(exponent + lanes), largest = larger(low, high);
    const double here = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
    if (here > highest) {
      scaled *= std::exp(highest - here);
      highest = here;
    }
    scaled += sum_of(exponential(larger(low - highest, -largest_exponent)) +
                     exponential(larger(high - highest, -largest_exponent)));
  }
};

// Log-probability of an item's ratings: the integral of a log-concave density of its effect, by the trapezoidal rule
// to both sides of a point where it is not small. Nodes are a standard deviation apart, or closer.
template <typename Ratings>
static double log_integral(const Ratings& ratings, Eigen::Index item, int size, double start, double sd) {
  constexpr double least = -19, log_root_2_pi = 0.9189385332046727;
  const double precision = 1 / (sd * sd);
  const double spacing = std::min(1 / std::sqrt(precision + Ratings::information * size), Ratings::widest);
  SumOfExponentials sum;
  // Adds nodes side by side, and says whether any beyond the last of them may count.
  const auto add = [&](double from, double step) {
    double x[nodes], value[nodes];
    for (int k = 0; k < nodes; ++k) x[k] = from + k * step;
    ratings.log_probabilities(item, x, value);
    for (int k = 0; k < nodes; ++k) value[k] -= 0.5 * precision * x[k] * x[k];
    sum.add(value);
    return value[nodes - 1] > sum.highest + least;
  };
  for (double x = start; add(x, spacing);) x += nodes * spacing;
  for (double x = start - spacing; add(x, -spacing);) x -= nodes * spacing;
  return sum.highest + std::log(sum.scaled * spacing / sd) - log_root_2_pi;
}

template <typename Ratings>
static double sum_of_items(const Ratings& ratings, const Vector& effect, double sd, const SingleRatings& all) {
  double sum = ratings.constant();
  for (Eigen::Index i = 0; i < effect.size(); ++i) sum += log_integral(ratings, i, all.size(i), effect(i), sd);
  return sum;
}

double ordinal_marginal_pass(const Vector& effect, double sd_item, const Vector& level, const Vector& cut,
                             bool probit, const RatedItems& data) {
  constexpr double largest_log_odds = 100, farther = 12;  // sds from effects; products of a few more still are numbers
  const double farthest = level.lpNorm<Eigen::Infinity>() + cut.lpNorm<Eigen::Infinity>() +
                          effect.lpNorm<Eigen::Infinity>() + farther * sd_item;
  const SingleRatings& all = SingleRatings::of(data, level.size(), cut.size() + 1);
  if (probit || !(farthest < largest_log_odds))
    return sum_of_items(RatingsByBoundaries(all, level, cut, probit), effect, sd_item, all);
  return sum_of_items(RatingsByOdds(all, level, cut, farthest), effect, sd_item, all);
}

}  // namespace reliabayes
