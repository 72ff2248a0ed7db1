// Gibbs sampling of crossed normal effects: those of all rows of a design given those of its columns.
//
// A rating is the level of its column plus the effect of its row plus a residual,
//
//     y = level[column] + effect[row] + residual,
//
// so that effects of rows are independent given the levels, and all else depends on them only through the sums
// that are added up here. All chains are drawn in one pass over the cells, in which numbers of chains lie side
// by side. This file belongs to the library of gibbs.cpp, and needs no header of Stan.
#include "gibbs/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using reliabayes::Count;
using reliabayes::Philox;

constexpr std::uint32_t effects_of_rows = 5;  // what random numbers are for; no chain has those of gibbs.cpp too

// Rows of a design; src/reliabayes/likelihoods/row_effects.py has the same structure.
struct Rows {
  Count rows, offset;           // how many, and the number of the first in the whole design
  const Count* first;           // cell of each row, and one past the last: rows + 1
  const std::int32_t* column;   // of each cell
  const double* count;          // ratings of each cell
  const double* total;          // of the ratings of each row
};

// Two standard normal numbers: Box & Muller (1958), https://doi.org/10.1214/aoms/1177706645.
void normals(const Philox& philox, std::uint32_t position, std::uint32_t sweep, double* two) {
  philox(0, position, sweep, effects_of_rows, two);
  const double radius = std::sqrt(-2 * std::log(two[0])), angle = 2 * M_PI * two[1];
  two[0] = radius * std::cos(angle);
  two[1] = radius * std::sin(angle);
}

template <int Chains>
void draw(const Rows& rows, std::uint32_t seed, std::uint32_t sweep, Count chains, const double* row_sd,
          const double* residual_sd, const double* level, double* crossed, double* sums) {
  const Count n_chains = Chains ? Chains : chains;
  std::vector<double> left(n_chains), drawn(n_chains + 1), prior(n_chains), noise(n_chains);
  for (Count c = 0; c < n_chains; ++c) {
    prior[c] = 1 / (row_sd[c] * row_sd[c]);
    noise[c] = 1 / (residual_sd[c] * residual_sd[c]);
  }
  for (Count row = 0; row < rows.rows; ++row) {
    const Count begin = rows.first[row], end = rows.first[row + 1];
    const double total = rows.total[row];
    double n = 0;
    std::fill_n(left.data(), n_chains, total);
    for (Count cell = begin; cell < end; ++cell) {
      const double count = rows.count[cell];
      const double* of_column = level + rows.column[cell] * n_chains;
      n += count;
      for (Count c = 0; c < n_chains; ++c) left[c] -= count * of_column[c];
    }
    const std::uint32_t position = static_cast<std::uint32_t>(rows.offset + row);
    for (Count c = 0; c < n_chains; c += 2)
      normals({seed, static_cast<std::uint32_t>(c / 2)}, position, sweep, drawn.data() + c);
    for (Count c = 0; c < n_chains; ++c) {
      const double precision = n * noise[c] + prior[c];
      drawn[c] = left[c] * noise[c] / precision + drawn[c] / std::sqrt(precision);
      double* own = sums + 4 * c;
      own[0] += drawn[c];
      own[1] += drawn[c] * drawn[c];
      own[2] += n * drawn[c] * drawn[c];
      own[3] += total * drawn[c];
    }
    for (Count cell = begin; cell < end; ++cell) {
      const double count = rows.count[cell];
      double* of_column = crossed + rows.column[cell] * n_chains;
      for (Count c = 0; c < n_chains; ++c) of_column[c] += count * drawn[c];
    }
  }
}

}  // namespace

// Draw the effects of rows, given sds (C) of rows and residuals, and levels (J, C) of the columns. Adds to
// ``crossed`` (J, C) the sum over the ratings of each column of their rows' effects, and to ``sums`` (C, 4), over
// the rows: the effects, their squares, squares times the row's number of ratings, and effects times the row's
// total.
extern "C" void reliabayes_draw_rows(const Rows* rows, std::uint32_t seed, std::uint32_t sweep, Count chains,
                                     const double* row_sd, const double* residual_sd, const double* level,
                                     double* crossed, double* sums) {
  const auto drawn = [&](auto number) {
    draw<decltype(number)::value>(*rows, seed, sweep, chains, row_sd, residual_sd, level, crossed, sums);
  };
  switch (chains) {
    case 1: return drawn(std::integral_constant<int, 1>());
    case 2: return drawn(std::integral_constant<int, 2>());
    case 4: return drawn(std::integral_constant<int, 4>());
    default: drawn(std::integral_constant<int, 0>());
  }
}
