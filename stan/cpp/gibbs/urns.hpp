// Gibbs sampling of the states of items given those of all others, with probabilities integrated out.
//
// Given all states, a row of probabilities with a Dirichlet prior predicts a rating by how often the row had it
// before, as if drawn from Pólya's urn. The probabilities of raters with few ratings are hardly known: where
// states are drawn given them, and they given states, both stay near where they were.
//
// Liu (1994), https://doi.org/10.1080/01621459.1994.10476829.
#pragma once
#include "drawn.hpp"
#include "wide_random.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace reliabayes {

// Of a posterior in which each rating is an outcome of one row, and each rater has a row for each state. Two chains
// move at once, so that one processor has twice the work between two draws that depend on one another: tables hold
// the numbers of both side by side, for two states in a register. A chain alone has itself beside it.
class Urns {
 public:
  static constexpr Count chains = 2;
  struct Chain {
    Drawn* drawn;
    const Philox* philox;
  };

  explicit Urns(const Conjugate& data)
      : data_(data), states_(data.states), stride_(in_whole_lanes(chains * data.states)),
        is_weighed_(data.weight[0] >= 0), place_(data.first[data.items]), own_(place_.size()),
        is_simple_(data.items, true), rater_(data.cells), prior_(data.cells * stride_, 1), weight_(stride_),
        here_(stride_), work_(3 * stride_ / lanes) {
    for (Count h = 0; h < stride_; ++h) here_[h] = h / chains;
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
      for (Count i = 0; i < chains * states_; ++i) {
        prior_[v * stride_ + i] = data.prior[data.known[v * states_ + i / chains]];
        prior_of_rater_[rater_[v] + i] = concentration(group_of(v, i / chains));
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
      if (last - first > factors_at_once) is_simple_[item] = false;
    }
  }

  // Draw all states of two chains so many times.
  void draw(Count passes, const Chain (&of)[chains], std::uint32_t sweep, std::uint32_t purpose) {
    fill(of);
    for (Count pass = 0; pass < passes; ++pass) {
      const auto number = static_cast<std::uint32_t>(pass);
      WideStream streams[chains] = {{*of[0].philox, number, sweep, purpose}, {*of[1].philox, number, sweep, purpose}};
      const std::vector<Count>& items = pass % passes_for_settled ? unsettled_ : all_;
      switch (stride_ / lanes) {
        case 1: draw_each<1>(items, of, streams); break;
        case 2: draw_each<2>(items, of, streams); break;
        case 3: draw_each<3>(items, of, streams); break;
        case 4: draw_each<4>(items, of, streams); break;
        case 5: draw_each<5>(items, of, streams); break;
        case 6: draw_each<6>(items, of, streams); break;
        default: draw_each<0>(items, of, streams);
      }
    }
    empty(of);
  }

 private:
  using Number = std::int32_t;
  struct Place {
    std::int32_t cell, rater;  // where the rows of an entry start
  };
  struct Own {
    Number number = 0, by_rater = 0, before = 0;  // ratings: of the entry, all of the rater, theirs in earlier entries
  };
  struct Aligned {  // as lanes by themselves are not in a vector
    Lanes lanes;
  };
  using States = Count[chains];
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
  void fill(const Chain (&of)[chains]) {
    cell_ = prior_;
    of_rater_ = prior_of_rater_;
    for (Count c = 0; c < chains; ++c) {
      const Drawn& drawn = *of[c].drawn;
      for (Count v = 0; v < data_.cells; ++v)
        for (Count h = 0; h < states_; ++h) {
          const Count number = drawn.ratings[v * states_ + h], i = h * chains + c;
          cell_[v * stride_ + i] += number;
          of_rater_[rater_[v] + i] += number;
        }
      for (Count h = 0; h < states_; ++h)
        weight_[h * chains + c] =
            is_weighed_ ? data_.prior[data_.weight[h]] + drawn.items[h] : data_.fixed_weight[h];
    }
  }
  void empty(const Chain (&of)[chains]) const {
    for (Count c = 0; c < chains; ++c) {
      Drawn& drawn = *of[c].drawn;
      for (Count v = 0; v < data_.cells; ++v)
        for (Count h = 0; h < states_; ++h) {
          const Count i = v * stride_ + h * chains + c;
          drawn.ratings[v * states_ + h] = std::llround(cell_[i] - prior_[i]);
        }
      if (!is_weighed_) continue;
      for (Count h = 0; h < states_; ++h)
        drawn.items[h] = std::llround(weight_[h * chains + c] - data_.prior[data_.weight[h]]);
    }
  }

  template <int Blocks>
  WIDEST void draw_each(const std::vector<Count>& items, const Chain (&of)[chains], WideStream (&streams)[chains]) {
    for (const Count item : items) {
      const Count number = data_.multiplicity[item];
      States from, to;
      if (number == 1) {
        for (Count c = 0; c < chains; ++c) from[c] = of[c].drawn->state[item];
        draw_one<Blocks>(item, from, streams, to);
        for (Count c = 0; c < chains; ++c) of[c].drawn->state[item] = to[c];
        continue;
      }
      // Any one of equal items, as often as there are such: an order by state would favour some states.
      for (Count left = number; left > 0; --left) {
        for (Count c = 0; c < chains; ++c) {
          const Count* drawn = &of[c].drawn->equal[item * states_];
          double chosen = uniform(streams[c]) * number;
          from[c] = 0;
          while (from[c] + 1 < states_ && (chosen -= drawn[from[c]]) >= 0) ++from[c];
        }
        draw_one<Blocks>(item, from, streams, to);
        for (Count c = 0; c < chains; ++c) {
          if (c > 0 && of[c].drawn == of[0].drawn) break;
          --of[c].drawn->equal[item * states_ + from[c]];
          ++of[c].drawn->equal[item * states_ + to[c]];
        }
      }
    }
  }

  template <int Blocks>
  __attribute__((always_inline)) void draw_one(Count item, const States& from, WideStream (&streams)[chains],
                                               States& to) {
    const double uniforms[chains] = {uniform(streams[0]), uniform(streams[1])};
    if (is_simple_[item])
      draw_one<Blocks, true>(item, from, uniforms, to);
    else
      draw_one<Blocks, false>(item, from, uniforms, to);
  }
  template <int Blocks, bool IsSimple>
  __attribute__((always_inline)) void draw_one(Count item, const States& from, const double (&uniforms)[chains],
                                               States& to) {
    draw_states<Blocks, IsSimple>(item, from, uniforms, to);
    if (to[0] == from[0] && to[1] == from[1]) return;
    for (Count c = 0; c < chains; ++c)
      if (to[c] != from[c]) move<IsSimple>(item, from[c] * chains + c, to[c] * chains + c);
  }

  template <bool IsSimple>
  __attribute__((always_inline)) void move(Count item, Count from, Count to) {
    if (is_weighed_) {
      --weight_[from];
      ++weight_[to];
    }
    for (Count entry = data_.first[item]; entry < data_.first[item + 1]; ++entry) {
      const Place& at = place_[entry];
      const double number = IsSimple ? 1 : own_[entry].number;
      cell_[at.cell + from] -= number;
      cell_[at.cell + to] += number;
      of_rater_[at.rater + from] -= number;
      of_rater_[at.rater + to] += number;
    }
  }

  // For each chain a state with a probability in proportion to that of the item's ratings given all other items, by a
  // uniform number. The item is in the states ``from``, and is taken out of the tables where they are read.
  template <int Blocks, bool IsSimple>
  __attribute__((always_inline)) void draw_states(Count item, const States& from, const double (&uniform)[chains],
                                                  States& to) {
    const Count blocks = Blocks > 0 ? Blocks : stride_ / lanes;
    Lanes few[3 * Blocks + 1];
    Lanes *up = Blocks > 0 ? few : &work_.data()->lanes, *down = up + blocks, *less = down + blocks;
    const Lanes state = of_chains(from[0], from[1]);
    for (Count b = 0; b < blocks; ++b) {
      less[b] = Lanes(Bits(read(&here_[b * lanes]) == state) & Bits(all(-1)));
      up[b] = read(&weight_[b * lanes]) + (is_weighed_ ? less[b] : all(0));
    }
    Count entry = data_.first[item];
    const Count last = data_.first[item + 1];
    for (;;) {
      const Count pause = IsSimple ? last : std::min(last, entry + factors_at_once);
      for (Count b = 0; b < blocks; ++b) down[b] = all(1);
      for (; entry < pause; ++entry) {
        const double *cell = &cell_[place_[entry].cell], *rater = &of_rater_[place_[entry].rater];
        const Own& own = own_[entry];
        for (Number k = 0; k < (IsSimple ? 1 : own.number); ++k)
          for (Count b = 0; b < blocks; ++b) {
            Lanes of_cell = read(cell + b * lanes), of_rater = read(rater + b * lanes);
            up[b] *= IsSimple ? of_cell + less[b] : of_cell + double(own.number) * less[b] + double(k);
            down[b] *=
                IsSimple ? of_rater + less[b] : of_rater + double(own.by_rater) * less[b] + double(own.before + k);
          }
      }
      for (Count b = 0; b < blocks; ++b) up[b] /= down[b];
      if (entry == last) break;
      Lanes each = up[0];
      for (Count b = 1; b < blocks; ++b) each = larger(each, up[b]);
      const Lanes largest = of_chains(std::max(each[0], each[2]), std::max(each[1], each[3]));
      const Bits is_small = Bits(largest < small);
      if (!is_any(is_small)) continue;
      for (Count b = 0; b < blocks; ++b) up[b] /= chosen(is_small, largest, all(1));
    }
    Lanes sum = all(0);
    for (Count b = 0; b < blocks; ++b) {
      const Lanes x = up[b], both = x + Lanes{x[2], x[3], x[0], x[1]};
      up[b] = Lanes{x[0], x[1], both[2], both[3]} + sum;
      sum += both;
    }
    const Lanes point = of_chains(uniform[0], uniform[1]) * sum;
    Bits below{};
    for (Count b = 0; b < blocks; ++b) below -= Bits(up[b] <= point);
    for (Count c = 0; c < chains; ++c) to[c] = std::min<Count>(below[c] + below[c + chains], states_ - 1);
  }

  static __attribute__((always_inline)) Lanes of_chains(double first, double second) {
    return Lanes{first, second, first, second};
  }

  const Conjugate& data_;
  Count states_, stride_;            // states of both chains fill up the last lanes
  bool is_weighed_;                  // whether the prevalence is a parameter
  std::vector<Count> all_, unsettled_;  // items whose state is not known, and those of them in every pass
  std::vector<Place> place_;         // of each entry
  std::vector<Own> own_;             // of each entry
  std::vector<char> is_simple_;      // whether few raters rated the item, and none of them twice
  std::vector<std::int32_t> rater_;  // where the rows of each cell's rater start
  // By cell or rater, state and chain: priors, and numbers of ratings and items with them.
  std::vector<double> prior_, prior_of_rater_, cell_, of_rater_, weight_;
  std::vector<double> here_;         // the state of each place in a row
  std::vector<Aligned> work_;
};

}  // namespace reliabayes
