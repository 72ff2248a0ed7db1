// Steps of EM for raters who know or guess, on items of different difficulty: what src/reliabayes/models/latent_tap.py
// and src/reliabayes/inference/latent_accuracy.py compute with NumPy, without the time that it takes for small arrays.
#include "em/accuracy.hpp"

namespace reliabayes::em {
namespace {

constexpr double tiny = 1e-300;  // instead of a probability of 0

INLINE Lanes log_of(Lanes x) { return logarithm(larger(x, tiny)); }

// How many of four raters from one on there are.
Count number_from(const KnowOrGuess& own, Count j) { return std::min<Count>(lanes, own.raters - j); }

// How often four raters guess each category.
std::vector<Aligned> guesses_of(const KnowOrGuess& own, const double* x, Count j) {
  std::vector<Aligned> found(own.categories, {all(1)});
  for (Count i = 0; i < number_from(own, j); ++i)
    for (Count k = 0; k < own.categories; ++k) found[k].lanes[i] = own.guesses(x)[(j + i) * own.categories + k];
  return found;
}

// Whether four raters know, at a node.
INLINE Logistic knowing(const KnowOrGuess& own, const double* x, Count j, Count q) {
  const double sd = own.has_difficulty ? own.sd_delta(x) : 0;
  return logistic(read_some(own.alphas(x) + j, own.raters - j) - sd * own.node[q]);
}

// Log-probabilities of ratings by cell and state, in whole lanes.
WIDEST void tabulate(const KnowOrGuess& own, const double* x, double* table) {
  const Count stride = in_whole_lanes(own.states());
  for (Count j = 0; j < own.raters; j += lanes) {
    const std::vector<Aligned> guess = guesses_of(own, x, j);
    for (Count q = 0; q < own.nodes; ++q) {
      const Logistic known = knowing(own, x, j, q);
      for (Count k = 0; k < own.categories; ++k) {
        const Lanes guessed = known.rest * guess[k].lanes;
        const Lanes wrong = log_of(guessed), right = log_of(known.value + guessed);
        for (Count i = 0; i < number_from(own, j); ++i) {
          double* const row = table + (k * own.raters + j + i) * stride + q * own.categories;
          for (Count h = 0; h < own.categories; ++h) row[h] = h == k ? right[i] : wrong[i];
        }
      }
    }
  }
}

// Expected ratings: of those who knew and all, by node and rater, and guessed ones by rater and category.
WIDEST void split(const KnowOrGuess& own, const double* x, const double* ratings, double* knew, double* total,
                  double* guessed) {
  const Count width = in_whole_lanes(own.raters), states = own.states();
  for (Count j = 0; j < own.raters; j += lanes) {
    const std::vector<Aligned> guess = guesses_of(own, x, j);
    for (Count q = 0; q < own.nodes; ++q) {
      const Logistic known = knowing(own, x, j, q);
      Lanes of_knowing = all(0), of_all = all(0);
      for (Count k = 0; k < own.categories; ++k) {
        Lanes right = all(0), sum = all(0);
        for (Count i = 0; i < number_from(own, j); ++i) {
          const double* const row = ratings + (k * own.raters + j + i) * states + q * own.categories;
          right[i] = row[k];
          for (Count h = 0; h < own.categories; ++h) sum[i] += row[h];
        }
        const Lanes each = right * known.value / (known.value + known.rest * guess[k].lanes);
        of_knowing += each;
        of_all += sum;
        for (Count i = 0; i < number_from(own, j); ++i) guessed[(j + i) * own.categories + k] += sum[i] - each[i];
      }
      write(of_knowing, knew + q * width + j);
      write(of_all, total + q * width + j);
    }
  }
}

// The log density of mean guesses, given the sums over raters of logs of guesses.
double log_density_of_mean(const KnowOrGuess& own, const double* mean, const double* sum_of_logs) {
  double found = 0, shapes = 0;
  for (Count k = 0; k < own.categories; ++k) {
    const double shape = own.shape(mean, k);
    shapes += shape;
    found += x_log_y(own.mean_guess[k], mean[k]) + shape * sum_of_logs[k] - own.raters * std::lgamma(shape);
  }
  return found + own.raters * std::lgamma(shapes);
}

// Sums over raters of the logs of guesses, by category.
std::vector<double> sums_of_logs(const KnowOrGuess& own, const double* guess) {
  std::vector<double> found(own.categories);
  for (Count v = 0; v < own.cells(); ++v) found[v % own.categories] += std::log(guess[v]);
  return found;
}

double log_prior(const KnowOrGuess& own, const double* x) {
  double found = log_normal(own.mean_alpha(x), own.mean_mean, own.mean_sd) +
                 log_density_of_mean(own, own.mean_guesses(x), sums_of_logs(own, own.guesses(x)).data());
  for (Count h = 0; h < own.categories; ++h) found += x_log_y(own.prevalence[h], x[h]);
  for (Count j = 0; j < own.raters; ++j) found += log_normal(own.alphas(x)[j], own.mean_alpha(x), own.sd_alpha);
  if (own.has_difficulty)
    found += log_half_t(own.sd_delta(x), own.delta_df, own.delta_scale) + std::log(own.sd_delta(x));
  return found;
}

}  // namespace

// Log posterior density at a point x, up to a constant; expected items (S), and ratings by cell and state (V, S).
extern "C" double reliabayes_latent_tap_expect(const KnowOrGuess* own, const double* x, double* items,
                                               double* ratings) {
  const Count n = own->categories;
  const auto log_weight = [&](Count s) { return std::log(x[s % n]) + own->log_of_node[s / n]; };
  const auto fill = [&](double* table) { tabulate(*own, x, table); };
  return expect(*own, own->states(), log_weight, fill, items, ratings) + log_prior(*own, x);
}

// The M step: a point of higher expected density, given what is expected at another. The sd of accuracies is held: at
// the mode of few raters these are all alike.
extern "C" void reliabayes_latent_tap_maximise(const KnowOrGuess* own, const double* x, const double* items,
                                               const double* ratings, double* next) {
  const Count n = own->categories, raters = own->raters, table = own->nodes * in_whole_lanes(raters);
  std::vector<double> knew(table), total(table), guessed(own->cells());
  split(*own, x, ratings, knew.data(), total.data(), guessed.data());
  std::copy_n(own->prevalence, n, next);
  for (Count s = 0; s < own->states(); ++s) next[s % n] += items[s];
  to_shares(next, n);
  double* const guess = own->guesses(next);
  std::vector<double> mean(n);
  for (Count j = 0; j < raters; ++j) {
    double* const of_rater = guess + j * n;
    for (Count k = 0; k < n; ++k) of_rater[k] = guessed[j * n + k] + own->shape(own->mean_guesses(x), k);
    to_shares(of_rater, n);
    for (Count k = 0; k < n; ++k) mean[k] += of_rater[k] / raters;
  }
  const std::vector<double> logs = sums_of_logs(*own, guess);
  const bool is_better = log_density_of_mean(*own, mean.data(), logs.data()) >
                         log_density_of_mean(*own, own->mean_guesses(x), logs.data());
  std::copy_n(is_better ? mean.data() : own->mean_guesses(x), n, own->mean_guesses(next));
  std::vector<double> alpha(own->alphas(x), own->alphas(x) + raters);
  double log_sd = own->has_difficulty ? std::log(own->sd_delta(x)) : 0;
  const Accuracy expected(*own, std::move(knew), std::move(total));
  expected.improve(alpha, log_sd);
  std::copy(alpha.begin(), alpha.end(), own->alphas(next));
  own->mean_alpha(next) = expected.best_mean(alpha.data());
  own->sd_delta(next) = std::exp(log_sd);
}

}  // namespace reliabayes::em
