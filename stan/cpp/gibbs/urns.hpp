// Gibbs sampling of the states of items given those of all others, with probabilities integrated out.
//
// Given all states, a row of probabilities with a Dirichlet prior predicts a rating by how often the row had it
// before, as if drawn from Pólya's urn. The probabilities of raters with few ratings are hardly known: where
// states are drawn given them, and they given states, both stay near where they were.
//
// Liu (1994), https://doi.org/10.1080/01621459.1994.10476829.
#pragma once
#include "wide_random.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace reliabayes {

// Of a posterior in which each rating is an outcome of one row, and each rater has a row for each state.
template <typename Posterior>
class Urns {
 public:
  explicit Urns(const Posterior& data)
      : data_(data), states_(data.states), stride_(in_whole_lanes(data.states)),
        is_weighed_(data.weight[0] >= 0), place_(data.first[data.items]), own_(place_.size()),
        drawn_(data.items * data.states), state_(data.items), is_simple_(data.items, true), rater_(data.cells),
        prior_(data.cells * stride_, 1), one_(2 * stride_), weight_(stride_), work_(2 * stride_) {
    one_[stride_] = 1;
    for (Count item = 0; item < data.items; ++item) {
      if (data.kind[item]) continue;
      all_.push_back(item);
      if (!data.is_settled[item]) unsettled_.push_back(item);
    }
    std::unordered_map<Count, std::int32_t> raters;  // by the group of their row of the first state
    for (Count v = 0; v < data.cells; ++v) {
      const Count next = raters.size() * stride_;
      const auto [rater, is_new] = raters.try_emplace(group_of(v, 0), static_cast<std::int32_t>(next));
      rater_[v] = rater->second;
      if (is_new) prior_of_rater_.resize(next + stride_, 1);
      for (Count h = 0; h < states_; ++h) {
        prior_[v * stride_ + h] = data.prior[data.known[v * states_ + h]];
        prior_of_rater_[rater_[v] + h] = concentration(group_of(v, h));
      }
    }
    for (Count item = 0; item < data.items; ++item) {
      const Count first = data.first[item], last = data.first[item + 1];
      for (Count entry = first; entry < last; ++entry) {
        const Count v = data.cell[entry];
        place_[entry] = {static_cast<std::int32_t>(v * stride_), rater_[v]};
        own_[entry].number = data.count[entry];
        for (Count other = first; other < last; ++other) {
          if (rater_[data.cell[other]] != rater_[v]) continue;
          own_[entry].by_rater += data.count[other];
          if (other < entry) own_[entry].before += data.count[other];
        }
        if (own_[entry].by_rater > 1) is_simple_[item] = false;
      }
    }
  }

  // Note how many of the items that one stands for are in a state.
  void set(Count item, Count state, Count number) {
    drawn_[item * states_ + state] = number;
    state_[item] = state;
  }

  // Draw the states that have been set so many times; ratings by cell and state, and items by state, follow.
  void draw(Count passes, std::vector<Count>& ratings, std::vector<Count>& items, const Philox& philox,
            std::uint32_t sweep, std::uint32_t purpose) {
    fill(ratings, items);
    for (Count pass = 0; pass < passes; ++pass) {
      WideStream stream(philox, static_cast<std::uint32_t>(pass), sweep, purpose);
      const std::vector<Count>& drawn = pass % passes_for_settled ? unsettled_ : all_;
      switch (stride_ / lanes) {
        case 1: draw_each<1>(drawn, stream); break;
        case 2: draw_each<2>(drawn, stream); break;
        case 3: draw_each<3>(drawn, stream); break;
        default: draw_each<0>(drawn, stream);
      }
    }
    empty(ratings, items);
    std::fill(drawn_.begin(), drawn_.end(), 0);
  }

 private:
  using Number = std::int32_t;
  struct Place {
    std::int32_t cell, rater;  // where the rows of an entry start
  };
  struct Own {
    Number number = 0, by_rater = 0, before = 0;  // ratings: of the entry, all of the rater, theirs in earlier entries
  };
  static constexpr Count passes_for_settled = 4;
  static constexpr int factors_at_once = 8;
  static constexpr double small = 1e-50;

  Count group_of(Count cell, Count state) const {
    const Count position = data_.known[cell * states_ + state];
    return std::upper_bound(data_.group, data_.group + data_.groups, position) - data_.group - 1;
  }
  double concentration(Count group) const {
    double sum = 0;
    for (Count i = data_.group[group]; i < data_.group[group + 1]; ++i) sum += data_.prior[i];
    return sum;
  }

  // Tables of ratings, and of items, with what the priors count as; and back to whole numbers.
  void fill(const std::vector<Count>& ratings, const std::vector<Count>& items) {
    cell_ = prior_;
    of_rater_ = prior_of_rater_;
    for (Count v = 0; v < data_.cells; ++v)
      for (Count h = 0; h < states_; ++h) {
        cell_[v * stride_ + h] += ratings[v * states_ + h];
        of_rater_[rater_[v] + h] += ratings[v * states_ + h];
      }
    for (Count h = 0; h < states_; ++h)
      weight_[h] = is_weighed_ ? data_.prior[data_.weight[h]] + items[h] : data_.fixed_weight[h];
  }
  void empty(std::vector<Count>& ratings, std::vector<Count>& items) const {
    for (Count v = 0; v < data_.cells; ++v)
      for (Count h = 0; h < states_; ++h)
        ratings[v * states_ + h] = std::llround(cell_[v * stride_ + h] - prior_[v * stride_ + h]);
    if (!is_weighed_) return;
    for (Count h = 0; h < states_; ++h) items[h] = std::llround(weight_[h] - data_.prior[data_.weight[h]]);
  }

  template <int Blocks>
  WIDEST void draw_each(const std::vector<Count>& items, WideStream& stream) {
    for (const Count item : items) {
      if (data_.multiplicity[item] == 1) {
        state_[item] = draw_one<Blocks>(item, state_[item], stream);
        continue;
      }
      // Any one of equal items, as often as there are such: an order by state would favour some states.
      Count* drawn = drawn_.data() + item * states_;
      for (Count left = data_.multiplicity[item]; left > 0; --left) {
        double chosen = uniform(stream) * data_.multiplicity[item];
        Count from = 0;
        while (from + 1 < states_ && (chosen -= drawn[from]) >= 0) ++from;
        --drawn[from];
        ++drawn[draw_one<Blocks>(item, from, stream)];
      }
    }
  }

  template <int Blocks>
  __attribute__((always_inline)) Count draw_one(Count item, Count from, WideStream& stream) {
    const double point = uniform(stream);
    const Count to = Blocks > 0 ? state_in_lanes<Blocks>(item, from, point) : state_of_many(item, from, point);
    if (to != from) move(item, from, to);
    return to;
  }

  void move(Count item, Count from, Count to) {
    if (is_weighed_) {
      --weight_[from];
      ++weight_[to];
    }
    for (Count entry = data_.first[item]; entry < data_.first[item + 1]; ++entry) {
      const Place& at = place_[entry];
      const Number number = own_[entry].number;
      cell_[at.cell + from] -= number;
      cell_[at.cell + to] += number;
      of_rater_[at.rater + from] -= number;
      of_rater_[at.rater + to] += number;
    }
  }

  // A state with a probability in proportion to that of the item's ratings given all other items, by a uniform
  // number. The item is in the state ``from``, and is taken out of the tables where they are read.
  template <int Blocks>
  __attribute__((always_inline)) Count state_in_lanes(Count item, Count from, double uniform) const {
    Lanes up[Blocks + !Blocks], down[Blocks + !Blocks], one[Blocks + !Blocks];
    for (int b = 0; b < Blocks; ++b) {
      one[b] = read(&one_[stride_ - from + b * lanes]);
      up[b] = read(&weight_[b * lanes]) - (is_weighed_ ? one[b] : all(0));
    }
    Count entry = data_.first[item];
    const Count last = data_.first[item + 1];
    const bool is_simple = is_simple_[item];
    for (;;) {
      const Count pause = std::min(last, entry + factors_at_once);
      for (int b = 0; b < Blocks; ++b) down[b] = all(1);
      for (; entry < pause; ++entry) {
        const double *cell = &cell_[place_[entry].cell], *rater = &of_rater_[place_[entry].rater];
        if (is_simple) {
          for (int b = 0; b < Blocks; ++b) {
            up[b] *= read(cell + b * lanes) - one[b];
            down[b] *= read(rater + b * lanes) - one[b];
          }
          continue;
        }
        const Own& own = own_[entry];
        for (Number k = 0; k < own.number; ++k)
          for (int b = 0; b < Blocks; ++b) {
            up[b] *= read(cell + b * lanes) - double(own.number) * one[b] + double(k);
            down[b] *= read(rater + b * lanes) - double(own.by_rater) * one[b] + double(own.before + k);
          }
      }
      for (int b = 0; b < Blocks; ++b) up[b] /= down[b];
      if (entry == last) break;
      double each[Blocks * lanes + 1];
      for (int b = 0; b < Blocks; ++b) write(up[b], each + b * lanes);
      const double largest = *std::max_element(each, each + states_);
      if (!(largest < small)) continue;
      for (int b = 0; b < Blocks; ++b) up[b] /= all(largest);
    }
    double sum = 0;
    for (int b = 0; b < Blocks; ++b) {
      up[b] = cumulative(up[b]) + sum;
      sum = up[b][lanes - 1];
    }
    Bits below{};
    for (int b = 0; b < Blocks; ++b) below -= Bits(up[b] <= uniform * sum);
    return std::min<Count>((below[0] + below[1]) + (below[2] + below[3]), states_ - 1);
  }

  // The same where states are more than a few lanes.
  Count state_of_many(Count item, Count from, double uniform) {
    const Count n = states_;
    double *up = work_.data(), *down = up + stride_;
    std::copy_n(weight_.begin(), n, up);
    if (is_weighed_) --up[from];
    Count entry = data_.first[item];
    const Count last = data_.first[item + 1];
    while (entry < last) {
      std::fill_n(down, n, 1);
      for (const Count pause = std::min(last, entry + factors_at_once); entry < pause; ++entry) {
        const double *cell = &cell_[place_[entry].cell], *rater = &of_rater_[place_[entry].rater];
        const double* one = &one_[stride_ - from];
        const Own& own = own_[entry];
        for (Number k = 0; k < own.number; ++k) {
          for (Count h = 0; h < n; ++h) up[h] *= cell[h] - own.number * one[h] + k;
          for (Count h = 0; h < n; ++h) down[h] *= rater[h] - own.by_rater * one[h] + (own.before + k);
        }
      }
      for (Count h = 0; h < n; ++h) up[h] /= down[h];
      const double largest = *std::max_element(up, up + n);
      if (largest < small)
        for (Count h = 0; h < n; ++h) up[h] /= largest;
    }
    double sum = 0;
    for (Count h = 0; h < n; ++h) sum += up[h];
    double point = uniform * sum;
    Count h = 0;
    while (h + 1 < n && (point -= up[h]) >= 0) ++h;
    return h;
  }

  const Posterior& data_;
  Count states_, stride_;            // states fill up the last lanes
  bool is_weighed_;                  // whether the prevalence is a parameter
  std::vector<Count> all_, unsettled_;  // items whose state is not known, and those of them in every pass
  std::vector<Place> place_;         // of each entry
  std::vector<Own> own_;             // of each entry
  std::vector<Count> drawn_;         // items that each stands for, by state
  std::vector<Count> state_;         // of items that stand for themselves
  std::vector<char> is_simple_;      // whether nobody rated the item twice
  std::vector<std::int32_t> rater_;  // where the rows of each cell's rater start
  std::vector<double> prior_, prior_of_rater_, one_;   // by cell or rater, and state; 1 among zeros
  std::vector<double> cell_, of_rater_, weight_;       // numbers of ratings and items, with the prior
  std::vector<double> work_;
};

}  // namespace reliabayes
