#include "ordinal_marginal_pass.hpp"

#include "category_odds.hpp"
#include "lanes.hpp"
#include "ordinal_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace reliabayes {

constexpr int nodes = 2 * lanes;  // at which an item's ratings are evaluated side by side

// Each rating by itself, item by item: the same for every draw.
class SingleRatings {
 public:
  Integers first, rater, category;  // all counted from 0

  SingleRatings(const RatedItems& of, int raters) : first_(of.first), cell_(of.cell), count_(of.count) {
    for (std::size_t i = 0; i < first_.size(); ++i) {
      first.push_back(rater.size());
      if (i + 1 == first_.size()) break;
      for (int c = first_[i] - 1; c < first_[i + 1] - 1; ++c) {
        const auto [k, j] = std::div(cell_[c] - 1, raters);
        rater.insert(rater.end(), static_cast<std::size_t>(count_(c)), j);
        category.resize(rater.size(), k);
      }
    }
  }

  // Those made last, unless they are of other ratings.
  static const SingleRatings& of(const RatedItems& ratings, int raters) {
    thread_local std::optional<SingleRatings> last;
    if (!last || !last->are_of(ratings)) last.emplace(ratings, raters);
    return *last;
  }

 private:
  bool are_of(const RatedItems& ratings) const {
    return cell_ == ratings.cell && first_ == ratings.first && count_.size() == ratings.count.size() &&
           std::memcmp(count_.data(), ratings.count.data(), count_.size() * sizeof(double)) == 0;
  }

  Integers first_, cell_;
  Vector count_;
};

// Ratings of an item by logistic odds: category_odds.hpp.
class RatingsByOdds {
 public:
  // Of a rating on the effect, at most, and spacing of nodes, as the distribution function needs it.
  static constexpr double information = 0.3, widest = 1.2;

  RatingsByOdds(const Vector& level, const Vector& cut, double farthest)
      : level_(level), of_rater_(level.array().exp()),
        factors_(static_cast<std::size_t>(largest_log / (2 * farthest + 2))) {
    for (Eigen::Index k = 0; k <= cut.size(); ++k) categories_.push_back(CategoryOdds::between(cut, k));
  }

  void clear() { ratings_.clear(), constant_ = 0; }
  double size() const { return ratings_.size(); }

  void add(int rater, int category) {
    const CategoryOdds& of = categories_[category];
    ratings_.push_back({of_rater_(rater), of.below, of.above});
    constant_ += level_(rater) + of.log_gap;
  }

  // At several effects.
  WIDEST void log_probabilities(const double* effect, double* found) const {
    const Lanes low = read(effect), high = read(effect + lanes);
    const Lanes odds[] = {exponential(low), exponential(high)};
    const double size = ratings_.size();
    Lanes sum[] = {constant_ + size * low, constant_ + size * high};
    for (std::size_t from = 0; from < ratings_.size(); from += factors_) {
      const std::size_t to = std::min(from + factors_, ratings_.size());
      Lanes product[] = {all(1), all(1)};
      for (std::size_t n = from; n < to; ++n)
        for (int half = 0; half < 2; ++half) {
          const Lanes u = odds[half] * ratings_[n].odds;
          product[half] *= (u + ratings_[n].below) * (1 + u * ratings_[n].above);
        }
      for (int half = 0; half < 2; ++half) sum[half] -= logarithm(product[half]);
    }
    write(sum[0], found);
    write(sum[1], found + lanes);
  }

 private:
  static constexpr double largest_log = 600;  // of a product that is a number

  struct Rating {
    double odds, below, above;
  };

  const Vector& level_;
  Vector of_rater_;
  std::vector<CategoryOdds> categories_;
  std::vector<Rating> ratings_;
  const std::size_t factors_;  // whose product is a number
  double constant_ = 0;
};

// The same for any residuals, and for locations however far away.
class RatingsByBoundaries {
 public:
  static constexpr double information = 0.8, widest = 0.9;

  RatingsByBoundaries(const Vector& level, const Vector& cut, bool probit)
      : level_(level), ends_(cut.size() + 2), probit_(probit) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ends_ << -infinity, cut, infinity;
  }

  void clear() { upper_.clear(), lower_.clear(); }
  double size() const { return upper_.size(); }

  void add(int rater, int category) {
    upper_.push_back(level_(rater) - ends_(category));
    lower_.push_back(level_(rater) - ends_(category + 1));
  }

  void log_probabilities(const double* effect, double* found) const {
    std::transform(effect, effect + nodes, found, [&](double x) { return rated(x).probability.log().sum(); });
  }

 private:
  CategoryProbability rated(double effect) const {
    const auto at = [&](const std::vector<double>& distance) {
      return Boundary::at(Eigen::Map<const Values>(distance.data(), distance.size()) + effect, probit_);
    };
    return {at(upper_), at(lower_)};
  }

  const Vector& level_;
  Vector ends_;
  bool probit_;
  std::vector<double> upper_, lower_;  // distances from cut points of locations without the item's effect
};

// A sum of exponentials, however large.
struct SumOfExponentials {
  double scaled = 0, highest = -std::numeric_limits<double>::infinity();  // exp(highest) times the first

  WIDEST void add(const double* exponent) {
    const double here = std::max(highest, *std::max_element(exponent, exponent + nodes));
    Lanes some = all(0);
    for (int k = 0; k < nodes; k += lanes) some += exponential(larger(read(exponent + k) - here, -largest_exponent));
    scaled = scaled * std::exp(highest - here) + sum_of(some);
    highest = here;
  }
};

// Log-probability of an item's ratings: the integral of a log-concave density of its effect, by the trapezoidal rule
// to both sides of a point where it is not small. Nodes are a standard deviation apart, or closer.
template <typename Ratings>
static double log_integral(const Ratings& ratings, double start, double sd) {
  constexpr double least = -22, log_root_2_pi = 0.9189385332046727;
  const double precision = 1 / (sd * sd);
  const double spacing = std::min(1 / std::sqrt(precision + Ratings::information * ratings.size()), Ratings::widest);
  SumOfExponentials sum;
  // Adds nodes side by side, and says whether any beyond the last of them may count.
  const auto add = [&](double from, double step) {
    double x[nodes], value[nodes];
    for (int k = 0; k < nodes; ++k) x[k] = from + k * step;
    ratings.log_probabilities(x, value);
    for (int k = 0; k < nodes; ++k) value[k] -= 0.5 * precision * x[k] * x[k];
    sum.add(value);
    return value[nodes - 1] > sum.highest + least;
  };
  for (double x = start; add(x, spacing);) x += nodes * spacing;
  for (double x = start - spacing; add(x, -spacing);) x -= nodes * spacing;
  return sum.highest + std::log(sum.scaled * spacing / sd) - log_root_2_pi;
}

template <typename Ratings>
static double sum_of_items(Ratings ratings, const Vector& effect, double sd, const SingleRatings& all) {
  double sum = 0;
  for (Eigen::Index i = 0; i < effect.size(); ++i) {
    ratings.clear();
    for (int n = all.first[i]; n < all.first[i + 1]; ++n) ratings.add(all.rater[n], all.category[n]);
    sum += log_integral(ratings, effect(i), sd);
  }
  return sum;
}

double ordinal_marginal_pass(const Vector& effect, double sd_item, const Vector& level, const Vector& cut,
                             bool probit, const RatedItems& data) {
  constexpr double largest_log_odds = 100, farther = 12;  // than the effects, in sds, no node lies
  const double farthest = level.lpNorm<Eigen::Infinity>() + cut.lpNorm<Eigen::Infinity>() +
                          effect.lpNorm<Eigen::Infinity>() + farther * sd_item;
  const SingleRatings& all = SingleRatings::of(data, level.size());
  if (probit || farthest > largest_log_odds)
    return sum_of_items(RatingsByBoundaries(level, cut, probit), effect, sd_item, all);
  return sum_of_items(RatingsByOdds(level, cut, farthest), effect, sd_item, all);
}

}  // namespace reliabayes
