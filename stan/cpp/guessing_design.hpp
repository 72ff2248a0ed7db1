// Who rated which items as what, in the order in which guessing_mixture_pass.cpp reads it: the same for every
// gradient of a program.
#pragma once
#include "item_mixture_pass.hpp"
#include "last_made.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace reliabayes {

struct Item {
  int kind, multiplicity;   // its kind, counted from 0, and how many items it stands for
  int categories, ratings;  // how many of them it has
};

// A category that an item was rated as, and how often.
struct Rated {
  int category, ratings;
};

// A rating.
struct Entry {
  unsigned cell, rater;
};

// An item with its first category and its first rating, which come category by category.
struct ItemRatings {
  const Item* item;
  const Rated* rated;
  const Entry* entry;

  ItemRatings next() const { return {item + 1, rated + item->categories, entry + item->ratings}; }
};

class Design {
 public:
  // Cells are numbered by category, then by rater. Items come in the order of how many ratings they have of each
  // category that they have, so that loops over them rarely end otherwise than that of the item before.
  Design(const DistinctItems& data, int raters, int categories)
      : ratings_(Vector::Zero(raters * categories)) {
    const std::size_t items = data.multiplicity.size();
    std::vector<std::vector<Entry>> chosen(categories);  // of an item, by category
    const auto sort_ratings = [&](int item) {
      for (auto& each : chosen) each.clear();
      for (int c = data.first[item] - 1; c < data.first[item + 1] - 1; ++c) {
        const unsigned cell = data.cell[c] - 1, category = cell / raters;
        const std::size_t count = static_cast<std::size_t>(data.count[c]);
        chosen[category].resize(chosen[category].size() + count, {cell, cell % raters});
      }
    };
    std::vector<std::vector<int>> numbers(items);  // of chosen categories, and of the ratings of each
    for (std::size_t i = 0; i < items; ++i) {
      sort_ratings(i);
      numbers[i] = {0};
      for (const auto& same : chosen) {
        if (same.empty()) continue;
        ++numbers[i].front();
        numbers[i].push_back(static_cast<int>(same.size()));
        for (const Entry& entry : same) ratings_(entry.cell) += data.multiplicity[i];
      }
    }
    std::vector<int> order(items);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int i, int j) { return numbers[i] < numbers[j]; });
    for (const int i : order) {
      sort_ratings(i);
      const std::size_t before = entries_.size();
      for (int k = 0; k < categories; ++k) {
        if (chosen[k].empty()) continue;
        rated_.push_back({k, static_cast<int>(chosen[k].size())});
        entries_.insert(entries_.end(), chosen[k].begin(), chosen[k].end());
      }
      items_.push_back({data.kind[i] - 1, data.multiplicity[i], numbers[i].front(),
                        static_cast<int>(entries_.size() - before)});
    }
  }

  const Vector& ratings() const { return ratings_; }  // by cell
  ItemRatings begin() const { return {items_.data(), rated_.data(), entries_.data()}; }
  const Item* end() const { return items_.data() + items_.size(); }

 private:
  std::vector<Item> items_;
  std::vector<Rated> rated_;  // item by item, as are entries
  std::vector<Entry> entries_;
  Vector ratings_;
};

inline const Design& design_of(const DistinctItems& data, int raters, int categories) {
  thread_local LastMade<Design> last;
  return last.of({data.multiplicity, data.kind, data.first, data.cell, data.count}, {raters, categories}, data, raters,
                 categories);
}

}  // namespace reliabayes
