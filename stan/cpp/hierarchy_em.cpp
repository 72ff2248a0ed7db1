// Steps of EM for confusion matrices with log odds that resemble one another: what src/reliabayes/inference/log_odds.py
// and src/reliabayes/likelihoods/item_mixture.py compute with NumPy, without the time that it takes for small arrays.
//
// Numbers of a point are its prevalence (K), locations and spreads (E), and effects (E, R), one after another. An error
// e is a true category h with a wrong one k.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using Count = std::int64_t;

// src/reliabayes/models/bases/hierarchy_em.py has the same structure.
struct Problem {
  Count items, categories, raters;
  const std::int32_t* first;   // entry of each item, and one past the last: items + 1
  const std::int32_t* cell;    // of each entry: category and rater
  const double* count;         // ratings of each entry
  const std::int32_t* kind;    // of each item: 0, or 1 + its true category if that is known
  const double* multiplicity;  // items that each stands for
  const double* prevalence;    // prior counts
  const double* precision;     // of log odds by error and rater, for a Laplace approximation
  double location_mean, location_sd;
  double spread_df, spread_scale;  // of half t priors; infinite degrees of freedom make them half normal

  Count wrong() const { return categories - 1; }
  Count errors() const { return categories * wrong(); }
  const double* locations(const double* x) const { return x + categories; }
  const double* spreads(const double* x) const { return locations(x) + errors(); }
  const double* effects(const double* x) const { return spreads(x) + errors(); }
};

double squared(double x) { return x * x; }

double log_normal(double x, const Problem& of) {
  return -0.5 * squared((x - of.location_mean) / of.location_sd) - std::log(of.location_sd);
}
double log_half_t(double x, const Problem& of) {
  const double square = squared(x / of.spread_scale);
  return -0.5 * (std::isinf(of.spread_df) ? square : (of.spread_df + 1) * std::log1p(square / of.spread_df));
}
double x_log_y(double x, double y) { return x == 0 ? 0 : x * std::log(y); }

// Log of 1 plus the sum of odds, and the probability of each rating that is an error; returns that log.
double probabilities(const double* log_odds, Count n, double* probability, double* right) {
  const double largest = std::max(0.0, *std::max_element(log_odds, log_odds + n));
  double sum = *right = std::exp(-largest);
  for (Count k = 0; k < n; ++k) sum += probability[k] = std::exp(log_odds[k] - largest);
  for (Count k = 0; k < n; ++k) probability[k] /= sum;
  *right /= sum;
  return largest + std::log(sum);
}
double log_total(const double* log_odds, Count n) {
  const double largest = std::max(0.0, *std::max_element(log_odds, log_odds + n));
  double sum = std::exp(-largest);
  for (Count k = 0; k < n; ++k) sum += std::exp(log_odds[k] - largest);
  return largest + std::log(sum);
}

// Log odds (K, R, K - 1) of a point.
std::vector<double> log_odds_of(const Problem& own, const double* x) {
  const Count n = own.wrong(), raters = own.raters;
  std::vector<double> found(own.errors() * raters);
  for (Count h = 0, e = 0; h < own.categories; ++h)
    for (Count k = 0; k < n; ++k, ++e)
      for (Count j = 0; j < raters; ++j)
        found[(h * raters + j) * n + k] =
            own.locations(x)[e] + own.spreads(x)[e] * own.effects(x)[e * raters + j];
  return found;
}

double log_prior(const Problem& own, const double* x) {
  double total = 0;
  for (Count h = 0; h < own.categories; ++h) total += x_log_y(own.prevalence[h], x[h]);
  for (Count e = 0; e < own.errors(); ++e) {
    const double spread = own.spreads(x)[e], variance = spread * spread;
    total += log_normal(own.locations(x)[e], own) + log_half_t(spread, own) + std::log(spread);
    const double *effect = own.effects(x) + e * own.raters, *precision = own.precision + e * own.raters;
    for (Count j = 0; j < own.raters; ++j) total -= 0.5 * (squared(effect[j]) + std::log1p(variance * precision[j]));
  }
  return total;
}

// Log-probability of all ratings. Adds expected items (K), and expected ratings by cell and state (V, K).
template <int States>
double expect(const Problem& own, const double* table, const double* weight, double* items, double* ratings) {
  const Count n = States ? States : own.categories;
  std::vector<double> many(n);
  double few[States + 1], total = 0;
  double* state = States ? few : many.data();
  for (Count item = 0; item < own.items; ++item) {
    const Count first = own.first[item], last = own.first[item + 1], kind = own.kind[item];
    const Count from = kind ? kind - 1 : 0, until = kind ? kind : n;
    std::copy(weight, weight + n, state);
    for (Count entry = first; entry < last; ++entry) {
      const double *row = table + own.cell[entry] * n, count = own.count[entry];
      for (Count h = 0; h < n; ++h) state[h] += count * row[h];
    }
    const double largest = std::max(-1e308, *std::max_element(state + from, state + until));
    double sum = 0;
    for (Count h = 0; h < n; ++h) sum += state[h] = h < from || h >= until ? 0 : std::exp(state[h] - largest);
    total += own.multiplicity[item] * (largest + std::log(sum));
    const double share = own.multiplicity[item] / std::max(sum, 1.0);
    for (Count h = 0; h < n; ++h) items[h] += state[h] *= share;
    for (Count entry = first; entry < last; ++entry) {
      double *row = ratings + own.cell[entry] * n, count = own.count[entry];
      for (Count h = 0; h < n; ++h) row[h] += count * state[h];
    }
  }
  return total;
}

// The log density of raters' log odds of errors around common locations, given expected ratings: one for each true
// category h.
class Rows {
 public:
  Rows(const Problem& own, const double* ratings, const double* spreads)
      : own_(own), n_(own.wrong()), wrong_(own.errors() * own.raters), total_(own.categories * own.raters),
        precision_(own.errors()), alone_(own.raters * n_), direction_(own.raters * n_), diagonal_(own.raters * n_),
        weight_(own.raters), trial_(n_) {
    for (Count e = 0; e < own.errors(); ++e) precision_[e] = 1 / squared(spreads[e]);
    for (Count h = 0; h < own.categories; ++h)
      for (Count j = 0; j < own.raters; ++j) {
        double* wrong = &wrong_[(h * own.raters + j) * n_];
        double& total = total_[h * own.raters + j];
        for (Count k = 0; k < own.categories; ++k) {
          const double found = ratings[(k * own.raters + j) * own.categories + h];
          total += found;
          if (k != h) wrong[k - (k > h)] = found;
        }
      }
  }

  // Where a step of some size leads from a location and log odds.
  double value(Count h, const double* location, const double* log_odds, double size, const double* of_location,
               const double* of_log_odds) {
    const double *wrong = &wrong_[h * own_.raters * n_], *total = &total_[h * own_.raters];
    const double* precision = &precision_[h * n_];
    double found = 0;
    for (Count k = 0; k < n_; ++k) found += log_normal(location[k] + size * of_location[k], own_);
    for (Count j = 0; j < own_.raters; ++j) {
      for (Count k = 0; k < n_; ++k) {
        const Count at = j * n_ + k;
        trial_[k] = log_odds[at] + size * of_log_odds[at];
        const double away = trial_[k] - (location[k] + size * of_location[k]);
        found += wrong[at] * trial_[k] - 0.5 * precision[k] * away * away;
      }
      if (total[j] > 0) found -= total[j] * log_total(trial_.data(), n_);
    }
    return found;
  }

  // Newton step. Locations are solved for first, then log odds rater by rater, by the Sherman-Morrison formula.
  void step(Count h, const double* location, const double* log_odds, double* of_location, double* of_log_odds) {
    const double *wrong = &wrong_[h * own_.raters * n_], *total = &total_[h * own_.raters];
    const double* precision = &precision_[h * n_];
    const double prior = 1 / squared(own_.location_sd);
    std::vector<double> hessian(n_ * n_), root(n_), x(n_);
    for (Count k = 0; k < n_; ++k) {
      hessian[k * n_ + k] = prior;
      of_location[k] = -(location[k] - own_.location_mean) * prior;
    }
    for (Count j = 0; j < own_.raters; ++j) {
      double *direction = &direction_[j * n_], *diagonal = &diagonal_[j * n_], *alone = &alone_[j * n_];
      double right;
      probabilities(log_odds + j * n_, n_, direction, &right);
      for (Count k = 0; k < n_; ++k) {
        const double expected = total[j] * direction[k], away = precision[k] * (log_odds[j * n_ + k] - location[k]);
        diagonal[k] = expected + precision[k];
        direction[k] /= diagonal[k];
        right += precision[k] * direction[k];
        x[k] = wrong[j * n_ + k] - expected - away;
        of_location[k] += away;
        hessian[k * n_ + k] += precision[k] * expected / diagonal[k];
      }
      weight_[j] = total[j] / right;
      solve(j, x.data(), alone);
      for (Count k = 0; k < n_; ++k) {
        of_location[k] += precision[k] * alone[k];
        root[k] = precision[k] * direction[k];
      }
      for (Count k = 0; k < n_; ++k)
        for (Count l = 0; l < n_; ++l) hessian[k * n_ + l] -= weight_[j] * root[k] * root[l];
    }
    eliminate(hessian.data(), of_location);
    for (Count k = 0; k < n_; ++k) x[k] = precision[k] * of_location[k];
    for (Count j = 0; j < own_.raters; ++j) {
      solve(j, x.data(), of_log_odds + j * n_);
      for (Count k = 0; k < n_; ++k) of_log_odds[j * n_ + k] += alone_[j * n_ + k];
    }
  }

 private:
  void solve(Count j, const double* x, double* found) const {
    const double *direction = &direction_[j * n_], *diagonal = &diagonal_[j * n_];
    double along = 0;
    for (Count k = 0; k < n_; ++k) along += direction[k] * x[k];
    for (Count k = 0; k < n_; ++k) found[k] = x[k] / diagonal[k] + direction[k] * (weight_[j] * along);
  }

  // Solve linear equations in place, with the largest pivot of each column.
  void eliminate(double* matrix, double* x) const {
    for (Count k = 0; k < n_; ++k) {
      Count pivot = k;
      for (Count l = k + 1; l < n_; ++l)
        if (std::abs(matrix[l * n_ + k]) > std::abs(matrix[pivot * n_ + k])) pivot = l;
      if (pivot != k) std::swap_ranges(matrix + k * n_, matrix + (k + 1) * n_, matrix + pivot * n_);
      std::swap(x[k], x[pivot]);
      for (Count l = k + 1; l < n_; ++l) {
        const double factor = matrix[l * n_ + k] / matrix[k * n_ + k];
        for (Count m = k; m < n_; ++m) matrix[l * n_ + m] -= factor * matrix[k * n_ + m];
        x[l] -= factor * x[k];
      }
    }
    for (Count k = n_ - 1; k >= 0; --k) {
      for (Count m = k + 1; m < n_; ++m) x[k] -= matrix[k * n_ + m] * x[m];
      x[k] /= matrix[k * n_ + k];
    }
  }

  const Problem& own_;
  const Count n_;
  std::vector<double> wrong_, total_, precision_;
  std::vector<double> alone_, direction_, diagonal_, weight_, trial_;
};

constexpr int steps = 3, halvings = 20;
constexpr double rounding = 1e-13;  // of a log density, relative
constexpr double enough = 1e-3;     // nats that a step gains at most if another one is left to the next M step

// Improve locations (E) and log odds (K, R, K - 1) by damped Newton steps, those of all true categories until none
// gains much.
void improve(const Problem& own, const double* ratings, const double* spreads, std::vector<double>& location,
             std::vector<double>& log_odds) {
  const Count n = own.wrong(), of_row = own.raters * n;
  Rows rows(own, ratings, spreads);
  std::vector<double> of_location(location.size()), of_log_odds(log_odds.size());
  std::vector<double> here(own.categories), there(own.categories), size(own.categories);
  const auto value = [&](Count h, double part) {
    return rows.value(h, &location[h * n], &log_odds[h * of_row], part, &of_location[h * n], &of_log_odds[h * of_row]);
  };
  for (Count h = 0; h < own.categories; ++h) here[h] = value(h, 0);
  for (int step = 0; step < steps; ++step) {
    double gain = -INFINITY;
    for (Count h = 0; h < own.categories; ++h) {
      rows.step(h, &location[h * n], &log_odds[h * of_row], &of_location[h * n], &of_log_odds[h * of_row]);
      size[h] = 1;
      int halving = 0;
      while (!((there[h] = value(h, size[h])) >= here[h] - rounding * std::abs(here[h])) && ++halving < halvings)
        size[h] /= 2;
      if (halving == halvings) return;  // no step is small enough
      gain = std::max(gain, there[h] - here[h]);
    }
    for (Count h = 0; h < own.categories; ++h) {
      for (Count k = h * n; k < (h + 1) * n; ++k) location[k] += size[h] * of_location[k];
      for (Count i = h * of_row; i < (h + 1) * of_row; ++i) log_odds[i] += size[h] * of_log_odds[i];
      here[h] = there[h];
    }
    if (gain < enough) return;
  }
}

// The maximum of tangents that bound the density of a variance from below, three times.
double improved_spread(double spread, double squares, const double* precision, const Problem& own) {
  const double df = own.spread_df, scale = squared(own.spread_scale);
  double variance = spread * spread;
  for (int step = 0; step < 3; ++step) {
    double falling = (1 + 1 / df) / (scale + variance / df);
    for (Count j = 0; j < own.raters; ++j) falling += precision[j] / (1 + variance * precision[j]);
    variance = (1 + std::sqrt(1 + 4 * squares * falling)) / (2 * falling);
  }
  return std::sqrt(variance);
}

}  // namespace

// Log posterior density at a point x, up to a constant; expected items (K), and ratings by cell and state (V, K).
extern "C" double reliabayes_hierarchy_expect(const Problem* own, const double* x, double* items, double* ratings) {
  const Count n = own->categories, raters = own->raters, wrong = own->wrong();
  std::vector<double> table(n * n * raters), weight(n);
  const std::vector<double> log_odds = log_odds_of(*own, x);
  for (Count h = 0; h < n; ++h) weight[h] = std::log(x[h]);
  for (Count h = 0; h < n; ++h)
    for (Count j = 0; j < raters; ++j) {
      const double* row = &log_odds[(h * raters + j) * wrong];
      const double normaliser = log_total(row, wrong);
      for (Count k = 0; k < n; ++k)
        table[(k * raters + j) * n + h] = (k == h ? 0 : row[k - (k > h)]) - normaliser;
    }
  std::fill_n(items, n, 0.0);
  std::fill_n(ratings, n * n * raters, 0.0);
  const auto expected = [&]() {
    switch (n) {
      case 2: return expect<2>;
      case 3: return expect<3>;
      case 4: return expect<4>;
      case 5: return expect<5>;
      default: return expect<0>;
    }
  }();
  return expected(*own, table.data(), weight.data(), items, ratings) + log_prior(*own, x);
}

// The M step: a point of higher expected density, given what is expected at another.
extern "C" void reliabayes_hierarchy_maximise(const Problem* own, const double* x, const double* items,
                                              const double* ratings, double* next) {
  const Count n = own->categories, raters = own->raters, wrong = own->wrong();
  double sum = 0;
  for (Count h = 0; h < n; ++h) sum += next[h] = items[h] + own->prevalence[h];
  for (Count h = 0; h < n; ++h) next[h] /= sum;
  std::vector<double> location(own->locations(x), own->locations(x) + own->errors());
  std::vector<double> log_odds = log_odds_of(*own, x);
  improve(*own, ratings, own->spreads(x), location, log_odds);
  std::copy(location.begin(), location.end(), next + n);
  double *spreads = next + n + own->errors(), *effects = spreads + own->errors();
  for (Count e = 0; e < own->errors(); ++e) {
    const double* row = &log_odds[e / wrong * raters * wrong + e % wrong];
    double squares = 0;
    for (Count j = 0; j < raters; ++j) squares += squared(row[j * wrong] - location[e]);
    spreads[e] = improved_spread(own->spreads(x)[e], squares, own->precision + e * raters, *own);
    for (Count j = 0; j < raters; ++j) effects[e * raters + j] = (row[j * wrong] - location[e]) / spreads[e];
  }
}
