// Gibbs sampling of the states of items given those of all others, with probabilities integrated out.
//
// Given all states, a row of probabilities with a Dirichlet prior predicts a rating by how often the row had it
// before, as if drawn from Pólya's urn. The probabilities of raters with few ratings are hardly known: where
// states are drawn given them, and they given states, both stay near where they were.
//
// Liu (1994), https://doi.org/10.1080/01621459.1994.10476829.
#pragma once
#include "random.hpp"

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
      : data_(data), states_(data.states), rater_(data.cells), own_(data.first[data.items]),
        drawn_(data.items * data.states), before_(data.states), prior_(data.cells * data.states), is_simple_(data.items, true),
        numerator_(prior_.size()), weight_(data.states), work_(2 * data.states) {
    std::unordered_map<Count, std::int32_t> raters;  // by the group of their row of the first state
    for (Count v = 0; v < data.cells; ++v) {
      const auto [rater, is_new] = raters.try_emplace(group_of(v, 0), static_cast<std::int32_t>(raters.size()));
      rater_[v] = rater->second;
      for (Count h = 0; h < states_; ++h) {
        prior_[v * states_ + h] = data.prior[data.known[v * states_ + h]];
        if (is_new) prior_of_rater_.push_back(concentration(group_of(v, h)));
      }
    }
    denominator_.resize(prior_of_rater_.size());
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
  void set(Count item, Count state, Count number) { drawn_[item * states_ + state] = number; }

  // Draw the states that have been set so many times; ratings by cell and state, and items by state, follow.
  void draw(Count passes, std::vector<Count>& ratings, std::vector<Count>& items, const Philox& philox,
            std::uint32_t sweep, std::uint32_t purpose) {
    ratings_ = ratings.data();
    items_ = items.data();
    tabulate();
    for (Count pass = 0; pass < passes; ++pass) {
      Stream stream(philox, static_cast<std::uint32_t>(pass), sweep, purpose);
      switch (states_) {
        case 2: draw_all<2>(stream); break;
        case 3: draw_all<3>(stream); break;
        case 4: draw_all<4>(stream); break;
        case 5: draw_all<5>(stream); break;
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
        numerator_[v * n + h] = prior_[v * n + h] + ratings_[v * n + h];
      }
    for (std::size_t i = 0; i < denominator_.size(); ++i) denominator_[i] = prior_of_rater_[i] + ratings_of_rater_[i];
    for (Count h = 0; h < n; ++h) weight_[h] = prior_weight(h) + items_[h];
  }
  double prior_weight(Count state) const { return data_.weight[state] < 0 ? 0 : data_.prior[data_.weight[state]]; }

  template <int States>
  void draw_all(Stream& stream) {
    const Count n = States ? States : states_;
    for (Count item = 0; item < data_.items; ++item) {
      if (data_.kind[item]) continue;
      Count* drawn = drawn_.data() + item * n;
      std::copy(drawn, drawn + n, before_.begin());
      for (Count from = 0; from < n; ++from)
        for (Count left = before_[from]; left > 0; --left) {
          const Count to = drawn_state<States>(item, from, stream);
          if (to == from) continue;
          move<States>(item, from, -1);
          move<States>(item, to, 1);
          --drawn[from];
          ++drawn[to];
        }
    }
  }

  template <int States>
  void move(Count item, Count state, int sign) {
    const Count n = States ? States : states_;
    items_[state] += sign;
    weight_[state] = prior_weight(state) + items_[state];
    for (Count entry = data_.first[item]; entry < data_.first[item + 1]; ++entry) {
      const Count i = data_.cell[entry] * n + state, j = rater_[data_.cell[entry]] * n + state;
      ratings_[i] += sign * data_.count[entry];
      ratings_of_rater_[j] += sign * data_.count[entry];
      numerator_[i] = prior_[i] + ratings_[i];
      denominator_[j] = prior_of_rater_[j] + ratings_of_rater_[j];
    }
  }

  // A state with a probability in proportion to that of the item's ratings given all other items. The item is
  // in the state ``from``, whose factors leave it out.
  template <int States>
  Count drawn_state(Count item, Count from, Stream& stream) {
    const Count n = States ? States : states_;
    double few[2 * States + 1], *up = States ? few : work_.data(), *down = up + n;
    for (Count h = 0; h < n; ++h) up[h] = data_.weight[h] < 0 ? data_.fixed_weight[h] : weight_[h];
    double own = data_.weight[from] < 0 ? up[from] : weight_[from] - 1;
    Count entry = data_.first[item];
    const Count last = data_.first[item + 1];
    const bool is_simple = is_simple_[item];
    while (entry < last) {
      double own_down = 1;
      for (Count h = 0; h < n; ++h) down[h] = 1;
      for (const Count pause = std::min(last, entry + factors_at_once); entry < pause; ++entry) {
        const Count cell = data_.cell[entry];
        const double *numerator = numerator_.data() + cell * n, *denominator = denominator_.data() + rater_[cell] * n;
        if (is_simple) {
          for (Count h = 0; h < n; ++h) up[h] *= numerator[h];
          for (Count h = 0; h < n; ++h) down[h] *= denominator[h];
          own *= prior_[cell * n + from] + (ratings_[cell * n + from] - 1);
          own_down *= denominator[from] - 1;
        } else {
          const Own& also = own_[entry];
          for (Number k = 0; k < data_.count[entry]; ++k) {
            for (Count h = 0; h < n; ++h) up[h] *= numerator[h] + k;
            for (Count h = 0; h < n; ++h) down[h] *= denominator[h] + also.before + k;
            own *= prior_[cell * n + from] + (ratings_[cell * n + from] - data_.count[entry] + k);
            own_down *= denominator[from] - also.by_rater + also.before + k;
          }
        }
      }
      for (Count h = 0; h < n; ++h) up[h] /= down[h];
      own /= own_down;
      up[from] = own;
      double largest = up[0];
      for (Count h = 1; h < n; ++h) largest = std::max(largest, up[h]);
      if (largest < small) {
        for (Count h = 0; h < n; ++h) up[h] /= largest;
        own /= largest;
      }
    }
    double sum = 0;
    for (Count h = 0; h < n; ++h) sum += up[h];
    double point = stream.uniform() * sum;
    Count h = 0;
    while (h + 1 < n && (point -= up[h]) >= 0) ++h;
    return h;
  }

  const Posterior& data_;
  Count states_;
  std::vector<std::int32_t> rater_;  // of each cell
  std::vector<Own> own_;             // of each entry
  std::vector<Count> drawn_;         // items that each stands for, by state
  std::vector<double> prior_;        // by cell and state
  std::vector<Count> before_;        // the same before a pass
  std::vector<bool> is_simple_;      // whether nobody rated the item twice
  std::vector<double> numerator_;    // ratings and prior, by cell and state
  std::vector<double> weight_;       // items and prior, by state
  std::vector<double> work_;
  std::vector<double> prior_of_rater_, denominator_;  // by rater and state
  std::vector<Count> ratings_of_rater_;
  Count *ratings_ = nullptr, *items_ = nullptr;
};

}  // namespace reliabayes
