// Ratings in the order in which ordinal_ratings_pass.cpp reads them: the same for every gradient of a program.
#pragma once
#include "lanes.hpp"
#include "linear_algebra.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
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

  explicit RatedCells(const ItemsByCell& of)
      : pool_(of.pool), first_(of.first), cell_(of.cell), count_(of.count) {
    struct Cell {
      Run run;
      int before, item, rater;
    };
    const int items = first_.size() - 1, raters = pool_.size();
    std::vector<Cell> cells;
    for (int i = 0; i < items; ++i)
      for (int c = first_[i] - 1; c < first_[i + 1] - 1; ++c) {
        const auto [category, rater] = std::div(cell_[c] - 1, raters);
        cells.push_back({{category, pool_[rater] - 1, count_(c), 0, 0}, c - first_[i], i, rater});
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

  // Those made last, unless they are of other ratings.
  static const RatedCells& of(const ItemsByCell& ratings) {
    thread_local std::optional<RatedCells> last;
    if (!last || !last->are_of(ratings)) last.emplace(ratings);
    return *last;
  }

 private:
  bool are_of(const ItemsByCell& ratings) const {
    return cell_ == ratings.cell && first_ == ratings.first && pool_ == ratings.pool &&
           count_.size() == ratings.count.size() &&
           std::memcmp(count_.data(), ratings.count.data(), count_.size() * sizeof(double)) == 0;
  }

  Integers pool_, first_, cell_;
  Vector count_;
};

}  // namespace reliabayes
