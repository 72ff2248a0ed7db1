// Items whose states are drawn given one another, in the order in which that is done.
//
// Counts of a rater change with the state of each item that the rater rated, so that the next item of the same rater
// waits for it. Those who share few raters with the item before come next, and ratings of shared raters come last.
#pragma once
#include "posterior.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace reliabayes {

constexpr int factors_at_once = 8;  // that are multiplied before their product is looked at

class UrnItems {
 public:
  using Number = std::int32_t;
  struct Entry {
    std::int32_t cell, rater;  // where its rows start
  };
  struct Ratings {
    Number number = 0, by_rater = 0, before = 0;  // of the item: in an entry, by its rater, and by them before
  };
  struct Item {
    Count item, first, shared, last;  // its entries, from ``shared`` on those of raters of the item before
    bool is_simple;                   // whether it stands for itself, few raters rated it, and none of them twice
  };

  // Rows of tables start ``stride`` numbers apart.
  UrnItems(const Conjugate& data, Count stride) : data_(data), stride_(stride), rater_of_(data.cells) {
    std::unordered_map<Count, Count> raters;  // by the group of their row of the first state
    for (Count v = 0; v < data.cells; ++v)
      rater_of_[v] = raters.try_emplace(group_of(v, 0), raters.size()).first->second;
    n_raters_ = raters.size();
    has_rated_.resize(n_raters_);
    std::vector<Count> settled, others;
    for (Count item = 0; item < data.items; ++item)
      if (!data.kind[item]) (data.is_settled[item] ? settled : others).push_back(item);
    add(settled);
    n_settled_ = items_.size();
    add(others);
  }

  const std::vector<Item>& all() const { return items_; }
  Count n_settled() const { return n_settled_; }  // of the items, which come first
  Count n_raters() const { return n_raters_; }
  Count rater_of(Count cell) const { return rater_of_[cell]; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<Ratings>& ratings() const { return ratings_; }  // of each entry

  // Of a row of probabilities: where ratings in a cell have theirs if an item is in a state.
  Count group_of(Count cell, Count state) const {
    const Count position = data_.known[cell * data_.states + state];
    return std::upper_bound(data_.group, data_.group + data_.groups, position) - data_.group - 1;
  }

 private:
  static constexpr Count looked_at = 8;  // items, of which the next is chosen

  void add(std::vector<Count>& items) {
    // Items with equally many entries are neighbours, so that processors predict where loops end.
    const auto size = [this](Count item) { return data_.first[item + 1] - data_.first[item]; };
    std::stable_sort(items.begin(), items.end(), [&](Count a, Count b) { return size(a) < size(b); });
    const auto n_shared = [this](Count item) {
      Count number = 0;
      for (Count e = data_.first[item]; e < data_.first[item + 1]; ++e) number += has_rated_[rater(e)];
      return number;
    };
    for (auto next = items.begin(); next != items.end(); ++next) {
      auto best = next;
      Count least = n_shared(*next);
      const auto end = next + std::min<Count>(looked_at, items.end() - next);
      for (auto other = next + 1; other != end && least > 0; ++other)
        if (const Count number = n_shared(*other); number < least) {
          least = number;
          best = other;
        }
      std::rotate(next, best, best + 1);
      add(*next);
    }
  }

  void add(Count item) {
    const Count first = data_.first[item], last = data_.first[item + 1], from = entries_.size();
    Item added{item, from, from, from, data_.multiplicity[item] == 1 && last - first <= factors_at_once};
    for (const bool are_shared : {false, true}) {
      if (are_shared) added.shared = entries_.size();
      for (Count e = first; e < last; ++e) {
        if (bool(has_rated_[rater(e)]) != are_shared) continue;
        Ratings own{data_.count[e]};
        for (Count other = first; other < last; ++other) {
          if (rater(other) != rater(e)) continue;
          own.by_rater += data_.count[other];
          if (other < e) own.before += data_.count[other];
        }
        if (own.by_rater > 1) added.is_simple = false;
        entries_.push_back({place(data_.cell[e]), place(rater(e))});
        ratings_.push_back(own);
      }
    }
    added.last = entries_.size();
    if (!items_.empty()) note_raters(items_.back().item, false);
    note_raters(item, true);
    items_.push_back(added);
  }

  void note_raters(Count item, bool have_rated) {
    for (Count e = data_.first[item]; e < data_.first[item + 1]; ++e) has_rated_[rater(e)] = have_rated;
  }

  Count rater(Count entry) const { return rater_of_[data_.cell[entry]]; }
  std::int32_t place(Count row) const { return static_cast<std::int32_t>(row * stride_); }

  const Conjugate& data_;
  Count stride_, n_raters_ = 0, n_settled_ = 0;
  std::vector<Count> rater_of_;  // each cell
  std::vector<char> has_rated_;  // the last item, settled or not
  std::vector<Item> items_;
  std::vector<Entry> entries_;
  std::vector<Ratings> ratings_;
};

}  // namespace reliabayes
