// Accuracies of raters in log odds, and how much difficulties of items differ: what expected ratings say of them.
#pragma once
#include "items.hpp"

namespace reliabayes::em {

// Ratings by raters who know or guess. Numbers of a point are its prevalence (K), mean guesses (K), the mean of the
// accuracies, the sd of difficulties, accuracies (R), and guesses (R, K), one after another.
//
// src/reliabayes/families/categories/latent_accuracy.py has the same structure.
struct KnowOrGuess : Items {
  const double* prevalence;        // prior counts
  const double* mean_guess;        // the same, of mean guesses
  const double* node;              // difficulties in standard deviations
  const double* log_of_node;       // log-probabilities of nodes
  Count nodes, has_difficulty;     // one node is that of items of the same difficulty
  double mean_mean, mean_sd;       // of the normal prior of the mean
  double delta_df, delta_scale;    // of the half t prior of the sd of difficulties
  double sd_alpha, concentration;  // which EM holds

  Count states() const { return nodes * categories; }
  // Parts of a point, which may be one that is made.
  template <typename T> T* mean_guesses(T* x) const { return x + categories; }
  template <typename T> T& mean_alpha(T* x) const { return x[2 * categories]; }
  template <typename T> T& sd_delta(T* x) const { return x[2 * categories + 1]; }
  template <typename T> T* alphas(T* x) const { return x + 2 * categories + 2; }
  template <typename T> T* guesses(T* x) const { return alphas(x) + raters; }
  // Parameter of the Dirichlet distribution of guesses.
  double shape(const double* mean_guess, Count k) const { return 1 + concentration * mean_guess[k]; }
};

// The expected log density of accuracies and of the log of the sd of difficulties, with the mean of the accuracies
// where it is highest. Tables by rater are padded to whole lanes.
class Accuracy {
 public:
  // Expected ratings by raters who knew, and all, by node and rater.
  Accuracy(const KnowOrGuess& own, std::vector<double> knew, std::vector<double> total)
      : own_(own), width_(in_whole_lanes(own.raters)), knew_(std::move(knew)), total_(std::move(total)),
        precision_(1 / squared(own.sd_alpha)), prior_(1 / squared(own.mean_sd)) {}

  double best_mean(const double* alpha) const {
    double sum = 0;
    for (Count j = 0; j < own_.raters; ++j) sum += alpha[j];
    return (sum * precision_ + own_.mean_mean * prior_) / (own_.raters * precision_ + prior_);
  }

  // The density at a point, and the Newton step from there, with the expected curvature, so that it points uphill.
  WIDEST double value(const double* alpha, double log_sd, double* by_alpha, double* by_log_sd) const {
    const double sd = own_.has_difficulty ? std::exp(log_sd) : 0, mean = best_mean(alpha);
    Lanes total = all(0), slope_of_sd = all(0), bend_of_sd = all(0);
    Lanes up_mean = all(0), sd_by_alpha = all(0), mean_mean = all(0), mean_sd = all(0), sd_sd = all(0);
    std::vector<Aligned> across(width_ / lanes), inverse(width_ / lanes);  // with the sd, and of own curvatures
    for (Count j = 0, block = 0; j < width_; j += lanes, ++block) {
      const Lanes here = read_some(alpha + j, own_.raters - j), is_rater = places(own_.raters - j);
      const Lanes away = (here - mean) * is_rater;
      Lanes by_own = all(0), bend = all(0), both = all(0);
      for (Count q = 0; q < own_.nodes; ++q) {
        const Lanes knew = read(&knew_[q * width_ + j]), ratings = read(&total_[q * width_ + j]);
        const Lanes odds = here - sd * own_.node[q];
        const Softplus of = softplus(odds);
        const Lanes slope = knew - ratings * of.slope, weight = ratings * of.slope * (1 - of.slope);
        const double by_sd = -sd * own_.node[q];
        total += knew * odds - ratings * of.value;
        by_own += slope;
        bend += weight;
        both += weight * by_sd;
        slope_of_sd += slope * by_sd;
        bend_of_sd += weight * (by_sd * by_sd);
      }
      total -= 0.5 * precision_ * away * away;
      by_own = (by_own - precision_ * away) * is_rater;
      const Lanes each = is_rater / (bend + precision_);
      write_some(by_own, by_alpha + j, own_.raters - j);
      across[block].lanes = both;
      inverse[block].lanes = each;
      up_mean += precision_ * each * by_own;
      sd_by_alpha += both * each * by_own;
      mean_mean += precision_ * precision_ * each;
      mean_sd += precision_ * each * both;
      sd_sd += both * each * both;
    }
    double found = sum_of(total) + log_normal(mean, own_.mean_mean, own_.mean_sd);
    // What is left of the mean and of the log of the sd once accuracies follow them.
    const double a = own_.raters * precision_ + prior_ - sum_of(mean_mean), up = sum_of(up_mean);
    double of_mean = up / a, of_sd = 0;
    if (own_.has_difficulty) {
      found += log_half_t(sd, own_.delta_df, own_.delta_scale) + log_sd;
      const double slope = slope_of_half_t(sd, own_.delta_df, own_.delta_scale);
      const double b = sum_of(mean_sd), c = sum_of(bend_of_sd) + 2 * squared(sd / own_.delta_scale) - sum_of(sd_sd);
      const double up_sd = sum_of(slope_of_sd) + slope + 1 - sum_of(sd_by_alpha), determinant = a * c - b * b;
      of_mean = (c * up - b * up_sd) / determinant;
      of_sd = (a * up_sd - b * up) / determinant;
    }
    double largest = std::abs(of_sd);
    for (Count j = 0, block = 0; j < width_; j += lanes, ++block) {
      const Lanes up = read_some(by_alpha + j, own_.raters - j) + precision_ * of_mean - across[block].lanes * of_sd;
      const Lanes step = up * inverse[block].lanes, size = absolute(step);
      write_some(step, by_alpha + j, own_.raters - j);
      largest = std::max({largest, size[0], size[1], size[2], size[3]});
    }
    const double part = largest_step / std::max(largest, largest_step);
    for (Count j = 0; j < own_.raters; ++j) by_alpha[j] *= part;
    *by_log_sd = part * of_sd;
    return found;
  }

  // Improve accuracies and the log of the sd by a few Newton steps.
  void improve(std::vector<double>& alpha, double& log_sd) const {
    std::vector<double> step(alpha.size()), there(alpha.size()), next(alpha.size());
    double of_sd, next_of_sd, here = value(alpha.data(), log_sd, step.data(), &of_sd);
    for (int number = 0; number < most_steps; ++number) {
      double part = 1, found, log_sd_there;
      for (int halving = 0;; ++halving, part /= 2) {
        if (halving == halvings) return;
        for (std::size_t j = 0; j < alpha.size(); ++j) there[j] = alpha[j] + part * step[j];
        log_sd_there = log_sd + part * of_sd;
        found = value(there.data(), log_sd_there, next.data(), &next_of_sd);
        if (found >= here) break;
      }
      alpha.swap(there);
      step.swap(next);
      log_sd = log_sd_there;
      of_sd = next_of_sd;
      if (std::exchange(here, found) > found - small_gain) return;
    }
  }

 private:
  static constexpr int most_steps = 4, halvings = 6;
  static constexpr double small_gain = 1e-4;  // nats that the last step gains
  static constexpr double largest_step = 3;   // of an accuracy, and of the log of the sd

  const KnowOrGuess& own_;
  const Count width_;
  const std::vector<double> knew_, total_;
  const double precision_, prior_;
};

}  // namespace reliabayes::em
