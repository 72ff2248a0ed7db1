// Ratings in the order in which ordinal_ratings_pass.cpp reads them: the same for every gradient of a program.
#pragma once
#include "lanes.hpp"
#include "last_made.hpp"
#include "linear_algebra.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <vector>

namespace reliabayes {

// As the programs read them: item i has the cells first[i] .. first[i + 1] - 1, counted from 1, and cells are
// numbered by category, then by rater. Raters belong to pools.
struct ItemsByCell {
  const Integers &pool, &first, &cell;
  const ConstVector& count;
};

// Category by category and pool by pool. Ratings of an item are far apart, so that a sum need not wait for the last
// number that was added to it.
class RatedCells {
 public:
  // Cells of a category and of raters of a pool, with equally many ratings each.
  struct Run {
    int category, pool;  // counted from 0
    double number;       // of ratings in a cell
    std::size_t begin, end;

    bool is_of(const Run& other) const {
      return category == other.category && pool == other.pool && number == other.number;
    }
  };

  std::vector<Run> runs;
  Integers item, rater;  // counted from 0; places of an item's effects by pool, and of raters

  explicit RatedCells(const ItemsByCell& of) {
    struct Cell {
      Run run;
      int before, item, rater;
    };
    const int items = of.first.size() - 1, raters = of.pool.size();
    std::vector<Cell> cells;
    for (int i = 0; i < items; ++i)
      for (int c = of.first[i] - 1; c < of.first[i + 1] - 1; ++c) {
        const auto [category, rater] = std::div(of.cell[c] - 1, raters);
        cells.push_back({{category, of.pool[rater] - 1, of.count(c), 0, 0}, c - of.first[i], i, rater});
      }
    std::sort(cells.begin(), cells.end(), [](const Cell& one, const Cell& other) {
      return std::tie(one.run.category, one.run.pool, one.run.number, one.before, one.item) <
             std::tie(other.run.category, other.run.pool, other.run.number, other.before, other.item);
    });
    for (const Cell& each : cells) {
      if (runs.empty() || !each.run.is_of(runs.back())) {
        runs.push_back(each.run);
        runs.back().begin = item.size();
      }
      item.push_back(each.item + each.run.pool * items);
      rater.push_back(each.rater);
      runs.back().end = item.size();
    }
    for (int lane = 1; lane < lanes; ++lane) item.push_back(0), rater.push_back(0);  // four can be read anywhere
  }

  static const RatedCells& of(const ItemsByCell& ratings) {
    thread_local LastMade<RatedCells> last;
    return last.of({ratings.pool, ratings.first, ratings.cell, ratings.count}, {}, ratings);
  }
};

}  // namespace reliabayes
