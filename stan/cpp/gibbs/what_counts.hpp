// What ratings and items count for, given the states of items: for what was known, or for a guess.
#pragma once
#include "drawn.hpp"
#include "posterior.hpp"
#include "random.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace reliabayes {

class WhatCounts {
 public:
  explicit WhatCounts(const Conjugate& data) : data_(data), certain_(data.size), pseudo_(data.size) {}

  // By position of a parameter, with the priors.
  const std::vector<double>& pseudo() const { return pseudo_; }

  // Counts what is certain given new states, and lists ratings that may be known or guessed.
  void start(const Drawn& drawn) {
    std::fill(certain_.begin(), certain_.end(), 0);
    std::copy_n(data_.prior, data_.group[data_.groups], certain_.begin());
    uncertain_.clear();
    for (Count h = 0; h < data_.states; ++h) add(data_.weight[h], drawn.items[h], certain_);
    for (Count v = 0, e = 0; v < data_.cells; ++v)
      for (Count h = 0; h < data_.states; ++h, ++e) {
        const Count number = drawn.ratings[e];
        if (data_.proportion[v] == 0) {
          add(data_.known[e], number, certain_);
          continue;
        }
        if (number == 0) continue;
        const Uncertain each{e, number, data_.known[e], data_.guess[e], data_.guess2[e], data_.proportion[v]};
        if (each.known >= 0) uncertain_.push_back(each);
        else add_guessed(each, number, certain_);
      }
  }

  // Draws which of the others were known, given probabilities x.
  void draw(const double* x, const Philox& philox, std::uint32_t sweep, std::uint32_t purpose, Count repeat) {
    const auto at = [x](Position position) { return position < 0 ? 1 : x[position]; };
    std::copy(certain_.begin(), certain_.end(), pseudo_.begin());
    for (const Uncertain& each : uncertain_) {
      const double known = x[each.known], guessed = each.proportion * at(each.guess) * at(each.guess2);
      Stream stream(philox, each.entry, sweep, purpose, repeat);
      const Count knew = stream.binomial(each.number, known / (known + guessed));
      add(each.known, knew, pseudo_);
      add_guessed(each, each.number - knew, pseudo_);
    }
  }

 private:
  struct Uncertain {  // ratings of a cell and a state
    Count entry, number;
    Position known, guess, guess2;
    double proportion;
  };

  static void add(Position position, Count number, std::vector<double>& to) {
    if (position >= 0) to[position] += number;
  }
  static void add_guessed(const Uncertain& of, Count number, std::vector<double>& to) {
    add(of.guess, number, to);
    add(of.guess2, number, to);
  }

  const Conjugate& data_;
  std::vector<Uncertain> uncertain_;
  std::vector<double> certain_, pseudo_;
};

}  // namespace reliabayes
