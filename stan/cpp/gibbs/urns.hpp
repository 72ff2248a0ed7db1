// Gibbs sampling of the states of items given those of all others, with probabilities integrated out.
//
// Given all states, a row of probabilities with a Dirichlet prior predicts a rating by how often the row had it
// before, as if drawn from Pólya's urn. The probabilities of raters with few ratings are hardly known: where
// states are drawn given them, and they given states, both stay near where they were.
//
// Liu (1994), https://doi.org/10.1080/01621459.1994.10476829.
#pragma once
#include "drawn.hpp"
#include "urn_items.hpp"
#include "wide_random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace reliabayes {

// Of a posterior in which each rating is an outcome of one row, and each rater has a row for each state. Two chains
// move at once, so that one processor has twice the work between two draws that depend on one another: tables hold
// the numbers of both side by side, for two states in a register. A chain alone has itself beside it. Ratings of an
// item by raters who did not rate the one before are multiplied before the tables follow that item's move.
class Urns {
 public:
  static constexpr Count chains = 2;
  struct Chain {
    Drawn* drawn;
    const Philox* philox;
  };

  explicit Urns(const Conjugate& data)
      : data_(data), states_(data.states), stride_(in_whole_lanes(chains * data.states)), blocks_(stride_ / lanes),
        is_weighed_(data.weight[0] >= 0), items_(data, stride_), state_(chains * items_.all().size()),
        prior_(data.cells * stride_, 1), prior_of_rater_(items_.n_raters() * stride_, 1), weight_(stride_),
        here_(stride_), is_not_last_(stride_), work_(4 * blocks_) {
    for (Count i = 0; i < stride_; ++i) {
      here_[i] = i / chains;
      is_not_last_[i] = i / chains < states_ - 1 ? ~std::uint64_t{0} : 0;
    }
    for (Count v = 0; v < data.cells; ++v)
      for (Count i = 0; i < chains * states_; ++i) {
        prior_[v * stride_ + i] = data.prior[data.known[v * states_ + i / chains]];
        prior_of_rater_[items_.rater_of(v) * stride_ + i] = concentration(items_.group_of(v, i / chains));
      }
  }

  // Draw all states of two chains so many times.
  void draw(Count passes, const Chain (&of)[chains], std::uint32_t sweep, std::uint32_t purpose) {
    fill(of);
    for (Count pass = 0; pass < passes; ++pass) {
      const auto number = static_cast<std::uint32_t>(pass);
      WideStream streams[chains] = {{*of[0].philox, number, sweep, purpose}, {*of[1].philox, number, sweep, purpose}};
      const Count first = pass % passes_for_settled ? items_.n_settled() : 0;
      switch (blocks_) {
        case 1: draw_each<1>(first, of, streams); break;
        case 2: draw_each<2>(first, of, streams); break;
        case 3: draw_each<3>(first, of, streams); break;
        case 4: draw_each<4>(first, of, streams); break;
        case 5: draw_each<5>(first, of, streams); break;
        case 6: draw_each<6>(first, of, streams); break;
        default: draw_each<0>(first, of, streams);
      }
    }
    empty(of);
  }

 private:
  using Number = UrnItems::Number;
  using Item = UrnItems::Item;
  using States = Count[chains];
  struct Work {  // by state and chain: the item's ratings, those of its raters, what it counts itself, prevalence
    Lanes *up, *down, *less, *weight;
  };
  struct Move {  // of an item between states
    const Item* item = nullptr;
    States from{}, to{};
  };
  static constexpr Count passes_for_settled = 4;
  static constexpr double small = 1e-50;

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
      Count* state = state_.data() + c;
      for (const Item& each : items_.all()) *std::exchange(state, state + chains) = drawn.state[each.item];
      for (Count v = 0; v < data_.cells; ++v)
        for (Count h = 0; h < states_; ++h) {
          const Count number = drawn.ratings[v * states_ + h], i = h * chains + c;
          cell_[v * stride_ + i] += number;
          of_rater_[items_.rater_of(v) * stride_ + i] += number;
        }
      for (Count h = 0; h < states_; ++h)
        weight_[h * chains + c] =
            is_weighed_ ? data_.prior[data_.weight[h]] + drawn.items[h] : data_.fixed_weight[h];
    }
  }
  void empty(const Chain (&of)[chains]) const {
    for (Count c = 0; c < chains; ++c) {
      Drawn& drawn = *of[c].drawn;
      const Count* state = state_.data() + c;
      for (const Item& each : items_.all()) drawn.state[each.item] = *std::exchange(state, state + chains);
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
  WIDEST void draw_each(Count first, const Chain (&of)[chains], WideStream (&streams)[chains]) {
    const Count blocks = Blocks > 0 ? Blocks : blocks_;
    Lanes few[4 * Blocks + 1];
    Lanes* const up = Blocks > 0 ? few : &work_.data()->lanes;
    const Work work{up, up + blocks, up + 2 * blocks, up + 3 * blocks};
    for (Count b = 0; b < blocks; ++b) work.weight[b] = read(&weight_[b * lanes]);
    Move move;
    Count* state = state_.data() + first * chains;
    const Item* const end = items_.all().data() + items_.all().size();
    for (const Item* item = items_.all().data() + first; item != end; ++item, state += chains) {
      if (!item->is_simple) {
        follow(move);
        draw_one_by_one<Blocks>(*item, of, streams, work, state);
        move = {};
        continue;
      }
      const States from{state[0], state[1]};
      take_out<Blocks>(from, work);
      multiply<Blocks>(item->first, item->shared, work);
      follow(move);
      multiply<Blocks>(item->shared, item->last, work);
      for (Count b = 0; b < blocks; ++b) work.up[b] /= work.down[b];
      choose<Blocks>(streams, work, state);
      move = {item, {from[0], from[1]}, {state[0], state[1]}};
    }
    follow(move);
    for (Count b = 0; b < blocks; ++b) write(work.weight[b], &weight_[b * lanes]);
  }

  // Any one of equal items, as often as there are such: an order by state would favour some states.
  template <int Blocks>
  __attribute__((always_inline)) void draw_one_by_one(const Item& item, const Chain (&of)[chains],
                                                      WideStream (&streams)[chains], const Work& work, Count* state) {
    const Count number = data_.multiplicity[item.item];
    for (Count left = number; left > 0; --left) {
      for (Count c = 0; c < chains && number > 1; ++c) {
        const Count* drawn = &of[c].drawn->equal[item.item * states_];
        double chosen = uniform(streams[c]) * number;
        state[c] = 0;
        while (state[c] + 1 < states_ && (chosen -= drawn[state[c]]) >= 0) ++state[c];
      }
      const States from{state[0], state[1]};
      take_out<Blocks>(from, work);
      multiply_any<Blocks>(item, work);
      choose<Blocks>(streams, work, state);
      follow({&item, {from[0], from[1]}, {state[0], state[1]}});
      for (Count c = 0; c < chains && number > 1; ++c) {
        if (c > 0 && of[c].drawn == of[0].drawn) break;
        --of[c].drawn->equal[item.item * states_ + from[c]];
        ++of[c].drawn->equal[item.item * states_ + state[c]];
      }
    }
  }

  // An item counts among those in the states ``from``, and is taken out of the tables where they are read.
  template <int Blocks>
  __attribute__((always_inline)) void take_out(const States& from, const Work& work) {
    const Count blocks = Blocks > 0 ? Blocks : blocks_;
    const Bits state = of_chains(std::uint64_t(from[0]), std::uint64_t(from[1]));
    for (Count b = 0; b < blocks; ++b) {
      work.less[b] = Lanes(Bits(read_bits(&here_[b * lanes]) == state) & Bits(all(-1)));
      work.up[b] = work.down[b] = all(1);
    }
  }

  // By ratings of a simple item given those of all other items.
  template <int Blocks>
  __attribute__((always_inline)) void multiply(Count first, Count last, const Work& work) {
    const Count blocks = Blocks > 0 ? Blocks : blocks_;
    const UrnItems::Entry* const entries = items_.entries().data();
    for (Count e = first; e < last; ++e) {
      const double *cell = &cell_[entries[e].cell], *rater = &of_rater_[entries[e].rater];
      for (Count b = 0; b < blocks; ++b) {
        work.up[b] *= read(cell + b * lanes) + work.less[b];
        work.down[b] *= read(rater + b * lanes) + work.less[b];
      }
    }
  }

  // The same by all ratings of any item, and divided.
  template <int Blocks>
  __attribute__((always_inline)) void multiply_any(const Item& item, const Work& work) {
    const Count blocks = Blocks > 0 ? Blocks : blocks_;
    for (Count e = item.first;;) {
      const Count pause = std::min(item.last, e + factors_at_once);
      for (Count b = 0; b < blocks; ++b) work.down[b] = all(1);
      for (; e < pause; ++e) {
        const double *cell = &cell_[items_.entries()[e].cell], *rater = &of_rater_[items_.entries()[e].rater];
        const UrnItems::Ratings& own = items_.ratings()[e];
        for (Number k = 0; k < own.number; ++k)
          for (Count b = 0; b < blocks; ++b) {
            work.up[b] *= read(cell + b * lanes) + double(own.number) * work.less[b] + double(k);
            work.down[b] *= read(rater + b * lanes) + double(own.by_rater) * work.less[b] + double(own.before + k);
          }
      }
      for (Count b = 0; b < blocks; ++b) work.up[b] /= work.down[b];
      if (e == item.last) break;
      Lanes each = work.up[0];
      for (Count b = 1; b < blocks; ++b) each = larger(each, work.up[b]);
      const Lanes largest = of_chains(std::max(each[0], each[2]), std::max(each[1], each[3]));
      const Bits is_small = Bits(largest < small);
      if (!is_any(is_small)) continue;
      for (Count b = 0; b < blocks; ++b) work.up[b] /= chosen(is_small, largest, all(1));
    }
  }

  // For each chain a state with a probability in proportion to that of the item's ratings and to its prevalence, which
  // is updated at once.
  template <int Blocks>
  __attribute__((always_inline)) void choose(WideStream (&streams)[chains], const Work& work, Count* state) {
    const Count blocks = Blocks > 0 ? Blocks : blocks_;
    Lanes sum = all(0);
    for (Count b = 0; b < blocks; ++b) {
      const Lanes weight = is_weighed_ ? work.weight[b] + work.less[b] : work.weight[b], x = work.up[b] * weight;
      const Lanes both = x + Lanes{x[2], x[3], x[0], x[1]};
      work.up[b] = Lanes{x[0], x[1], both[2], both[3]} + sum;
      sum += both;
    }
    const double first = uniform(streams[0]), second = uniform(streams[1]);
    const Lanes point = of_chains(first, second) * sum;
    Bits number{}, before = Bits(all(0)) - 1;
    for (Count b = 0; b < blocks; ++b) {
      const Bits is_above = Bits(work.up[b] <= point) & read_bits(&is_not_last_[b * lanes]);
      const Bits is_here = Bits{before[2], before[3], is_above[0], is_above[1]} & ~is_above;
      if (is_weighed_) work.weight[b] += work.less[b] + Lanes(is_here & Bits(all(1)));
      number -= is_above;
      before = is_above;
    }
    for (Count c = 0; c < chains; ++c) state[c] = number[c] + number[c + chains];
  }

  // Tables of ratings follow an item from state to state.
  __attribute__((always_inline)) void follow(const Move& move) {
    for (Count c = 0; c < chains; ++c) {
      if (move.to[c] == move.from[c]) continue;
      const Count from = move.from[c] * chains + c, to = move.to[c] * chains + c;
      for (Count e = move.item->first; e < move.item->last; ++e) {
        const UrnItems::Entry& at = items_.entries()[e];
        const double number = move.item->is_simple ? 1 : items_.ratings()[e].number;
        cell_[at.cell + from] -= number;
        cell_[at.cell + to] += number;
        of_rater_[at.rater + from] -= number;
        of_rater_[at.rater + to] += number;
      }
    }
  }

  static __attribute__((always_inline)) Lanes of_chains(double first, double second) {
    return Lanes{first, second, first, second};
  }
  static __attribute__((always_inline)) Bits of_chains(std::uint64_t first, std::uint64_t second) {
    return Bits{first, second, first, second};
  }
  static __attribute__((always_inline)) Bits read_bits(const std::uint64_t* x) {
    Bits found;
    std::memcpy(&found, x, sizeof found);
    return found;
  }

  const Conjugate& data_;
  Count states_, stride_, blocks_;  // states of both chains fill up the last lanes
  bool is_weighed_;                 // whether the prevalence is a parameter
  UrnItems items_;
  std::vector<Count> state_;  // by item and chain
  // By cell or rater, state and chain: priors, and numbers of ratings and items with them.
  std::vector<double> prior_, prior_of_rater_, cell_, of_rater_, weight_;
  std::vector<std::uint64_t> here_, is_not_last_;  // the state of each place in a row, and all bits up to the last
  std::vector<Aligned> work_;
};

}  // namespace reliabayes
