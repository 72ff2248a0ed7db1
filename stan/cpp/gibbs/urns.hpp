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
      : data_(data), states_(data.states), stride_((data.states + lanes - 1) / lanes * lanes), rater_(data.cells),
        own_(data.first[data.items]), drawn_(data.items * data.states), state_(data.items),
        is_simple_(data.items, true), prior_(data.cells * data.states), work_(2 * data.states),
        cell_(data.cells * stride_, 0), weight_(stride_, 0) {
    std::unordered_map<Count, std::int32_t> raters;  // by the group of their row of the first state
    for (Count v = 0; v < data.cells; ++v) {
      const auto [rater, is_new] = raters.try_emplace(group_of(v, 0), static_cast<std::int32_t>(raters.size()));
      rater_[v] = rater->second;
      for (Count h = 0; h < states_; ++h) {
        prior_[v * states_ + h] = data.prior[data.known[v * states_ + h]];
        if (is_new) prior_of_rater_.push_back(concentration(group_of(v, h)));
      }
    }
    of_rater_ = Table(raters.size() * stride_, 1);
    ratings_of_rater_.resize(prior_of_rater_.size());
    for (Count item = 0; item < data.items; ++item) {
      const Count first = data.first[item], last = data.first[item + 1];
      for (Count entry = first; entry < last; ++entry) {
        for (Count other = first; other < last; ++other) {
          if (rater_[data.cell[other]] != rater_[data.cell[entry]]) continue;
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
    ratings_ = ratings.data();
    items_ = items.data();
    tabulate();
    for (Count pass = 0; pass < passes; ++pass) {
      WideStream stream(philox, static_cast<std::uint32_t>(pass), sweep, purpose);
      switch (stride_ / lanes) {
        case 1: draw_all<1>(stream); break;
        case 2: draw_all<2>(stream); break;
        case 3: draw_all<3>(stream); break;
        default: draw_all<0>(stream);
      }
    }
    std::fill(drawn_.begin(), drawn_.end(), 0);
  }

 private:
  using Number = std::int32_t;
  struct Own {
    Number by_rater, before;  // ratings of the item by the same rater, and those in earlier entries
  };
  // Ratings and prior by state, with all items and without one that is there; states fill up the last lanes.
  struct Table {
    std::vector<double> with, without;

    Table() = default;
    Table(Count size, double none) : with(size, none), without(size, none) {}
    void set(Count at, double prior, Count number) {
      with[at] = prior + number;
      without[at] = prior + (number - 1);
    }
  };
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

  void tabulate() {
    const Count n = states_;
    std::fill(ratings_of_rater_.begin(), ratings_of_rater_.end(), 0);
    for (Count v = 0; v < data_.cells; ++v)
      for (Count h = 0; h < n; ++h) {
        ratings_of_rater_[rater_[v] * n + h] += ratings_[v * n + h];
        cell_.set(v * stride_ + h, prior_[v * n + h], ratings_[v * n + h]);
      }
    for (std::size_t j = 0; j < prior_of_rater_.size() / n; ++j)
      for (Count h = 0; h < n; ++h)
        of_rater_.set(j * stride_ + h, prior_of_rater_[j * n + h], ratings_of_rater_[j * n + h]);
    for (Count h = 0; h < n; ++h) set_weight(h);
  }
  void set_weight(Count state) {
    if (data_.weight[state] < 0)
      weight_.with[state] = weight_.without[state] = data_.fixed_weight[state];
    else
      weight_.set(state, data_.prior[data_.weight[state]], items_[state]);
  }

  template <int Blocks>
  WIDEST void draw_all(WideStream& stream) {
    for (Count item = 0; item < data_.items; ++item) {
      if (data_.kind[item]) continue;
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
    --items_[from];
    ++items_[to];
    set_weight(from);
    set_weight(to);
    for (Count entry = data_.first[item]; entry < data_.first[item + 1]; ++entry) {
      const Count v = data_.cell[entry], j = rater_[v], number = data_.count[entry];
      change(cell_, v, from, prior_, ratings_, -number);
      change(cell_, v, to, prior_, ratings_, number);
      change(of_rater_, j, from, prior_of_rater_, ratings_of_rater_.data(), -number);
      change(of_rater_, j, to, prior_of_rater_, ratings_of_rater_.data(), number);
    }
  }
  void change(Table& table, Count row, Count state, const std::vector<double>& prior, Count* ratings, Count by) {
    const Count at = row * states_ + state;
    table.set(row * stride_ + state, prior[at], ratings[at] += by);
  }

  // A state with a probability in proportion to that of the item's ratings given all other items, by a uniform
  // number. The item is in the state ``from``, whose factors leave it out.
  template <int Blocks>
  __attribute__((always_inline)) Count state_in_lanes(Count item, Count from, double uniform) const {
    Lanes probability[Blocks + !Blocks], down[Blocks + !Blocks];
    for (int b = 0; b < Blocks; ++b) probability[b] = read(&weight_.with[b * lanes]);
    double own = weight_.without[from], each[Blocks * lanes + 1];
    Count entry = data_.first[item];
    const Count last = data_.first[item + 1];
    const bool is_simple = is_simple_[item];
    for (;;) {
      const Count pause = std::min(last, entry + factors_at_once);
      double own_down = 1;
      for (int b = 0; b < Blocks; ++b) down[b] = all(1);
      for (; entry < pause; ++entry) {
        const Count v = data_.cell[entry] * stride_, j = rater_[data_.cell[entry]] * stride_;
        if (is_simple) {
          for (int b = 0; b < Blocks; ++b) {
            probability[b] *= read(&cell_.with[v + b * lanes]);
            down[b] *= read(&of_rater_.with[j + b * lanes]);
          }
          own *= cell_.without[v + from];
          own_down *= of_rater_.without[j + from];
          continue;
        }
        const Number count = data_.count[entry];
        const Own& also = own_[entry];
        for (Number k = 0; k < count; ++k) {
          for (int b = 0; b < Blocks; ++b) {
            probability[b] *= read(&cell_.with[v + b * lanes]) + double(k);
            down[b] *= read(&of_rater_.with[j + b * lanes]) + double(also.before + k);
          }
          own *= cell_.without[v + from] - (count - 1 - k);
          own_down *= of_rater_.without[j + from] - (also.by_rater - 1 - also.before - k);
        }
      }
      for (int b = 0; b < Blocks; ++b) probability[b] /= down[b];
      own /= own_down;
      for (int b = 0; b < Blocks; ++b) write(probability[b], each + b * lanes);
      each[from] = own;
      if (entry == last) break;
      const double largest = *std::max_element(each, each + states_);
      if (!(largest < small)) continue;
      for (int b = 0; b < Blocks; ++b) probability[b] /= all(largest);
      own /= largest;
    }
    for (Count h = 1; h < states_; ++h) each[h] += each[h - 1];
    const double point = uniform * each[states_ - 1];
    Count state = 0;
    for (Count h = 0; h + 1 < states_; ++h) state += point >= each[h];
    return state;
  }

  // The same where states are more than a few lanes.
  Count state_of_many(Count item, Count from, double uniform) {
    const Count n = states_;
    double *up = work_.data(), *down = up + n;
    std::copy_n(weight_.with.begin(), n, up);
    double own = weight_.without[from];
    Count entry = data_.first[item];
    const Count last = data_.first[item + 1];
    while (entry < last) {
      double own_down = 1;
      std::fill(down, down + n, 1);
      for (const Count pause = std::min(last, entry + factors_at_once); entry < pause; ++entry) {
        const Count cell = data_.cell[entry];
        const double *numerator = &cell_.with[cell * stride_], *denominator = &of_rater_.with[rater_[cell] * stride_];
        const Own& also = own_[entry];
        for (Number k = 0; k < data_.count[entry]; ++k) {
          for (Count h = 0; h < n; ++h) up[h] *= numerator[h] + k;
          for (Count h = 0; h < n; ++h) down[h] *= denominator[h] + also.before + k;
          own *= prior_[cell * n + from] + (ratings_[cell * n + from] - data_.count[entry] + k);
          own_down *= denominator[from] - also.by_rater + also.before + k;
        }
      }
      for (Count h = 0; h < n; ++h) up[h] /= down[h];
      own /= own_down;
      up[from] = own;
      const double largest = *std::max_element(up, up + n);
      if (largest < small) {
        for (Count h = 0; h < n; ++h) up[h] /= largest;
        own /= largest;
      }
    }
    double sum = 0;
    for (Count h = 0; h < n; ++h) sum += up[h];
    double point = uniform * sum;
    Count h = 0;
    while (h + 1 < n && (point -= up[h]) >= 0) ++h;
    return h;
  }

  const Posterior& data_;
  Count states_, stride_;
  std::vector<std::int32_t> rater_;  // of each cell
  std::vector<Own> own_;             // of each entry
  std::vector<Count> drawn_;         // items that each stands for, by state
  std::vector<Count> state_;         // of items that stand for themselves
  std::vector<char> is_simple_;      // whether nobody rated the item twice
  std::vector<double> prior_, prior_of_rater_;  // by cell or rater, and state
  std::vector<double> work_;
  Table cell_, of_rater_, weight_;   // by cell or rater, and state
  std::vector<Count> ratings_of_rater_;
  Count *ratings_ = nullptr, *items_ = nullptr;
};

}  // namespace reliabayes
