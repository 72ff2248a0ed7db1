// Gibbs sampling of items with a hidden state and of the probabilities that ratings are outcomes of.
//
// A sweep draws the state of every item given all probabilities, whether each rating was known or
// guessed, and the probabilities given what the ratings then count for: in groups with Dirichlet priors, and
// rows of confusion matrices by what they follow from (gibbs/hierarchy.hpp). Between the two it may draw states
// given one another (gibbs/urns.hpp).
// With probabilities x and positions in them, the probability of a rating in cell v of an item in state h is
//
//     x[known[v, h]] + proportion[v] x[guess[v, h]] x[guess2[v, h]],
//
// where a position of -1 stands for no term in "known", and for a factor of 1 in the others. Drawing states
// needs their sum, so each sweep also gives the log-likelihood with the states marginalised.
// This file is a library for Python and needs no header of Stan.
#include "gibbs/drawn.hpp"
#include "gibbs/posterior.hpp"
#include "gibbs/products.hpp"
#include "gibbs/random.hpp"
#include "gibbs/sums.hpp"
#include "gibbs/urns.hpp"
#include "gibbs/what_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace {

using reliabayes::Conjugate;
using reliabayes::Count;
using reliabayes::draw_gamma;
using reliabayes::Drawn;
using reliabayes::ExactSum;
using reliabayes::in_whole_lanes;
using reliabayes::multiply;
using reliabayes::multiply_items;
using reliabayes::Philox;
using reliabayes::Rows;
using reliabayes::Stream;
using reliabayes::smallest;
using reliabayes::Sum;
using reliabayes::Position;
using reliabayes::WideStream;
using reliabayes::Urns;

// What random numbers are for.
enum Purpose : std::uint32_t {
  states_of_items,
  states_of_equal_items,
  known_or_guessed,
  probabilities,
  rows_of_raters,
  states_given_others
};

// Probabilities are multiplied, and scaled back before they underflow: another state is lost only if it is
// 1e-158 times as probable. An item that 32 factors make less probable than that is computed from logarithms.
constexpr double small = 1e-50;
constexpr double smallest_probability = 1e-300;

constexpr Count nothing = -1;               // no state yet
constexpr Count at_once = 128;              // items
constexpr Count factors_before_check = 32;  // of an item

class Chain {
 public:
  Chain(const Conjugate& data, const Philox& philox, double* x, Position* drawn = nullptr)
      : data_(data), philox_(philox), x_(x), drawn_(drawn), stride_(in_whole_lanes(data.states)),
        factor_(data.cells * stride_), states_(data), weight_(stride_), products_(at_once * stride_), counts_(data) {
    if (data.hierarchy == nullptr) return;
    rows_.emplace(*data.hierarchy, philox);
    rows_->tabulate(x);
  }

  Urns::Chain for_urns() { return {&states_, &philox_}; }

  // Draw states of all items; log-likelihood of the probabilities.
  template <typename LogLikelihood>
  LogLikelihood draw_states(std::uint32_t sweep) {
    tabulate();
    states_.clear();
    LogLikelihood log_likelihood;
    double uniform[2];
    for_items([&](Count item, Count from, Count until, double* state, double sum, double log_scale) {
      const Count position = data_.offset + item, number = data_.multiplicity[item];
      if (item == 0 || position % 2 == 0) philox_(0, position / 2, sweep, states_of_items, uniform);
      log_likelihood.add(log_scale, sum, number);
      if (number > 1) {
        Stream stream(philox_, item, sweep, states_of_equal_items);
        Count left = number;
        for (Count h = from; h < until && left > 0; ++h) {
          const Count drawn = h + 1 == until ? left : stream.binomial(left, std::min(1.0, state[h] / sum));
          states_.add(data_, item, h, drawn);
          left -= drawn;
          sum -= state[h];
        }
        return;
      }
      const Count old = drawn_ == nullptr ? nothing : drawn_[item];
      const Count h = another(state, old, from, until, sum, uniform[position % 2]);
      if (drawn_ != nullptr) drawn_[item] = static_cast<Position>(h);
      states_.add(data_, item, h, 1);
    });
    return log_likelihood;
  }

  // Draw all else given how many items are in each state, and how many ratings of each cell.
  void draw_rest(std::uint32_t sweep) {
    counts_.start(states_);
    for (Count repeat = 0; repeat < data_.repeats; ++repeat) {
      counts_.draw(x_, philox_, sweep, known_or_guessed, repeat);
      draw_probabilities(sweep, repeat);
      if (rows_) rows_->draw(counts_.pseudo().data() + data_.hierarchy->rows, x_, sweep, rows_of_raters);
    }
  }

  // Add these numbers to others, of this part of the items, or take them from others, of all items.
  void add_to(Count* items, Count* ratings) const {
    for (std::size_t h = 0; h < states_.items.size(); ++h) items[h] += states_.items[h];
    for (std::size_t e = 0; e < states_.ratings.size(); ++e) ratings[e] += states_.ratings[e];
  }
  void take(const Count* items, const Count* ratings) {
    std::copy_n(items, states_.items.size(), states_.items.begin());
    std::copy_n(ratings, states_.ratings.size(), states_.ratings.begin());
  }

  // Log density of the priors on Stan's unconstrained scale, up to a constant.
  double log_prior(const double* x) const {
    double total = reliabayes::sum_of_logs(data_.prior, x, data_.group[data_.groups]);
    if (rows_) total += rows_->log_prior(x);
    return total;
  }

 private:
  double at(Position position) const { return position < 0 ? 1 : x_[position]; }
  double guessed(Count cell, Count entry) const {
    const double proportion = data_.proportion[cell];
    return proportion == 0 ? 0 : proportion * at(data_.guess[entry]) * at(data_.guess2[entry]);
  }

  void tabulate() {
    for (Count h = 0; h < data_.states; ++h)
      weight_[h] = data_.weight[h] < 0 ? data_.fixed_weight[h] : x_[data_.weight[h]];
    for (Count v = 0, e = 0; v < data_.cells; ++v)
      for (Count h = 0; h < data_.states; ++h, ++e)
        factor_[v * stride_ + h] = (data_.known[e] < 0 ? 0 : x_[data_.known[e]]) + guessed(v, e);
  }

  // For each item the states that it may have, ``from`` .. ``until`` - 1, and joint probabilities of its ratings and
  // each state, with their sum, divided by the exponential of the last argument.
  template <typename Use>
  void for_items(const Use& use) {
    for (Count some = 0; some < data_.items; some += at_once) {
      const Count last = std::min(data_.items, some + at_once);
      multiply_items(weight_.data(), factor_.data(), stride_, data_.first + some, data_.cell, data_.count,
                     factors_before_check, last - some, products_.data());
      double* state = products_.data();
      for (Count item = some; item < last; ++item, state += stride_) {
        const Position kind = data_.kind[item];
        const Count from = kind ? kind - 1 : 0, until = kind ? kind : data_.states;
        double sum = std::accumulate(state + from, state + until, 0.0), log_scale = 0;
        if (!(sum >= small) || data_.first[item + 1] - data_.first[item] > factors_before_check)
          log_scale = finish(item, from, until, state, &sum);
        use(item, from, until, state, sum, log_scale);
      }
    }
  }

  // Multiplies by the factors that are left, and scales. Sets the sum; log of what all were divided by.
  double finish(Count item, Count from, Count until, double* state, double* sum) {
    double log_scale = 0;
    const Count last = data_.first[item + 1];
    for (Count entry = data_.first[item] + factors_before_check;; entry += factors_before_check) {
      if (!(*sum > smallest)) {
        log_scale = joint_from_logarithms(item, from, until, state);
        *sum = std::accumulate(state + from, state + until, 0.0);
        return log_scale;
      }
      if (*sum < small) {
        for (Count h = 0; h < data_.states; ++h) state[h] /= *sum;
        log_scale += std::log(*sum);
        *sum = 1;
      }
      if (entry >= last) return log_scale;
      const Count entries = std::min(factors_before_check, last - entry);
      multiply(factor_.data(), stride_, data_.cell + entry, data_.count + entry, entries, state);
      *sum = std::accumulate(state + from, state + until, 0.0);
    }
  }

  double joint_from_logarithms(Count item, Count from, Count until, double* state) {
    for (Count h = from; h < until; ++h) {
      state[h] = std::log(weight_[h]);
      for (Count entry = data_.first[item]; entry < data_.first[item + 1]; ++entry)
        state[h] += data_.count[entry] * std::log(factor_[data_.cell[entry] * stride_ + h]);
    }
    const double largest = *std::max_element(state + from, state + until);
    for (Count h = from; h < until; ++h) state[h] = std::exp(state[h] - largest);
    return largest;
  }

  // A state other than the old one, with their probabilities, or else the old one; all are proposed if there is none.
  // Counts of states then vary against those before, so that chains move on sooner (Liu 1996).
  static Count another(const double* state, Count old, Count from, Count until, double sum, double uniform) {
    const double rest = old == nothing ? sum : sum - state[old];
    double point = uniform * rest;
    for (Count h = from; h < until; ++h) {
      if (h == old) continue;
      // What is left of the point is as uniform as a number of its own, for whether to accept.
      if (point < state[h]) return point * (sum - state[h]) < rest * state[h] ? h : old;
      point -= state[h];
    }
    return old == nothing ? until - 1 : old;
  }

  void draw_probabilities(std::uint32_t sweep, std::uint32_t repeat) {
    if (!rows_) {
      WideStream stream(philox_, repeat, sweep, probabilities);
      draw_gamma(counts_.pseudo().data(), x_, data_.group[data_.groups], stream);
    }
    for (Count g = 0; g < data_.groups; ++g) {
      const Count from = data_.group[g], until = data_.group[g + 1];
      if (rows_) draw_opposed(from, until, Stream(philox_, g, sweep, probabilities, repeat));
      const double sum = std::accumulate(x_ + from, x_ + until, 0.0);
      for (Count i = from; i < until; ++i) x_[i] = std::max(x_[i] / sum, smallest_probability);
    }
  }

  // Gamma numbers of a group, each on the other side of its mean.
  void draw_opposed(Count from, Count until, Stream stream) {
    const double all = stream.gamma(std::accumulate(&counts_.pseudo()[from], &counts_.pseudo()[until], 0.0));
    for (Count i = from; i < until; ++i) x_[i] = stream.opposed_gamma(counts_.pseudo()[i], all * x_[i]);
  }

  const Conjugate& data_;
  const Philox& philox_;
  double* x_;
  Position* drawn_;               // state of each item that stands for itself, if the next is to depend on it
  Count stride_;                  // of states in tables, in whole lanes
  std::vector<double> factor_;    // probability of a rating, by cell and state
  Drawn states_;                  // drawn in the sweep
  std::vector<double> weight_;
  std::vector<double> products_;  // of some items by state
  reliabayes::WhatCounts counts_;
  std::optional<Rows> rows_;
};

}  // namespace

// Sweeps of one chain or two, from number ``first`` on. One in ``every`` is kept from number ``keep`` on: the
// parameters (chains, draws, S), the log-likelihood and the log density (chains, draws). The numbers x (chains, size)
// are where the chains are, and ``drawn`` (chains, D) the states of items, -1 before the first sweep, on which those
// of a hierarchy depend.
extern "C" void reliabayes_gibbs(const Conjugate* data, std::uint32_t seed, std::uint32_t chain, Count chains,
                                 Count first, Count sweeps, Count keep, Count every, Count draws, double* x,
                                 Position* drawn, double* kept, double* log_likelihood, double* log_density) {
  const bool depends = data->hierarchy != nullptr;
  std::vector<Philox> philox;
  std::vector<Chain> own;
  philox.reserve(chains);
  own.reserve(chains);
  for (Count c = 0; c < chains; ++c) {
    philox.push_back({seed, chain + static_cast<std::uint32_t>(c)});
    own.emplace_back(*data, philox[c], x + c * data->size, depends ? drawn + c * data->items : nullptr);
  }
  std::optional<Urns> urns;
  if (data->passes > 0) urns.emplace(*data);
  for (Count sweep = first; sweep < first + sweeps; ++sweep) {
    const auto number = static_cast<std::uint32_t>(sweep);
    const bool is_kept = sweep >= keep && (sweep - keep) % every == 0;
    for (Count c = 0; c < chains; ++c) {
      const double found = own[c].draw_states<Sum>(number).value();
      if (!is_kept) continue;
      const Count row = c * draws + (sweep - keep) / every;
      std::copy_n(x + c * data->size, data->kept, kept + row * data->kept);
      log_likelihood[row] = found;
      log_density[row] = found + own[c].log_prior(x + c * data->size);
    }
    if (urns) urns->draw(data->passes, {own.front().for_urns(), own.back().for_urns()}, number, states_given_others);
    for (Chain& each : own) each.draw_rest(number);
  }
}

// Draw the states of a part of the items in a sweep of a chain. Adds items by state to ``items`` (H), and ratings by
// cell and state to ``ratings`` (V, H). Log-likelihood of the part, in units of 2^-24 nats.
extern "C" Count reliabayes_gibbs_states(const Conjugate* data, std::uint32_t seed, std::uint32_t chain, Count sweep,
                                          double* x, Count* items, Count* ratings) {
  const Philox philox{seed, chain};
  Chain own(*data, philox, x);
  const Count log_likelihood = own.draw_states<ExactSum>(static_cast<std::uint32_t>(sweep)).value();
  own.add_to(items, ratings);
  return log_likelihood;
}

// Draw the probabilities in the same sweep, given the sums over all parts. Log density of the priors before.
extern "C" double reliabayes_gibbs_probabilities(const Conjugate* data, std::uint32_t seed, std::uint32_t chain,
                                                 Count sweep, const Count* items, const Count* ratings, double* x) {
  const Philox philox{seed, chain};
  Chain own(*data, philox, x);
  const double log_prior = own.log_prior(x);
  own.take(items, ratings);
  own.draw_rest(static_cast<std::uint32_t>(sweep));
  return log_prior;
}
