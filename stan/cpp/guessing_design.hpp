// Who rated which items as what, in the order in which guessing_mixture_pass.cpp reads it: the same for every
// gradient of a program.
#pragma once
#include "item_mixture_pass.hpp"

#include <optional>
#include <vector>

namespace reliabayes {

// Ratings of one category by one rater, of one item.
struct Entry {
  int cell, rater, category, count;
};

struct Design {
  std::vector<Entry> entries;          // item by item
  std::vector<int> rated, unrated;     // categories, item by item
  std::vector<int> first, first_rated, first_unrated;  // positions of items in these, and the ends
  std::vector<int> number;             // ratings of an item
  Vector ratings;                      // by cell

  // Cells are numbered by category, then by rater.
  Design(const DistinctItems& data, int raters, int categories)
      : ratings(Vector::Zero(raters * categories)), raters_(raters), read_first_(data.first),
        read_cell_(data.cell), multiplicity_(data.multiplicity), count_(data.count) {
    std::vector<char> is_rated(categories);
    for (std::size_t i = 0; i < data.multiplicity.size(); ++i) {
      start();
      is_rated.assign(categories, false);
      number.push_back(0);
      for (int c = data.first[i] - 1; c < data.first[i + 1] - 1; ++c) {
        const int cell = data.cell[c] - 1, count = static_cast<int>(data.count[c]);
        entries.push_back({cell, cell % raters, cell / raters, count});
        is_rated[cell / raters] = true;
        number.back() += count;
        ratings(cell) += data.multiplicity[i] * data.count[c];
      }
      for (int k = 0; k < categories; ++k) (is_rated[k] ? rated : unrated).push_back(k);
    }
    start();
  }

  bool is_of(const DistinctItems& data, int raters, int categories) const {
    return raters_ == raters && ratings.size() == raters * categories &&
           read_first_ == data.first && read_cell_ == data.cell &&
           multiplicity_ == data.multiplicity && count_ == data.count;
  }

 private:
  int raters_;
  Integers read_first_, read_cell_, multiplicity_;
  Vector count_;

  void start() {
    first.push_back(static_cast<int>(entries.size()));
    first_rated.push_back(static_cast<int>(rated.size()));
    first_unrated.push_back(static_cast<int>(unrated.size()));
  }
};

// That of the data, which is made anew only if they are not those of the last call.
inline const Design& design_of(const DistinctItems& data, int raters, int categories) {
  thread_local std::optional<Design> last;
  if (!last || !last->is_of(data, raters, categories)) last.emplace(data, raters, categories);
  return *last;
}

}  // namespace reliabayes
