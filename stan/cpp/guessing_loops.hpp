// Inner loops of guessing_mixture_pass.cpp. Columns of tables have ``blocks`` times four nodes.
#pragma once
#include "guessing_design.hpp"
#include "lanes.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

namespace reliabayes {

using Count = Eigen::Index;

// Tables of those who do not know, by rater, and of ratios, by cell.
WIDEST static void fill_tables(Count raters, Count cells, Count blocks, const Aligned* of_node, const double* of_rater,
                               const double* inverse, const double* ratings, Aligned* unknown, Aligned* ratio) {
  for (Count j = 0; j < raters; ++j)
    for (Count b = 0; b < blocks; ++b) {
      const Lanes odds = of_node[b].lanes * of_rater[j];
      unknown[j * blocks + b].lanes = 1 / (1 + odds);
      for (Count v = j; v < cells; v += raters)
        if (ratings[v] > 0) ratio[v * blocks + b].lanes = 1 + inverse[v] * odds;
    }
}

// What sums over items read, and what they add to.
struct ItemSums {
  Count blocks, categories, kinds;
  const double* prevalence;                 // (categories, kinds)
  const Aligned *weight, *unknown, *ratio;  // of nodes, raters and cells
  Aligned *by_all, *by_own;                 // of raters and cells; null if no gradient is asked for
  double* by_prevalence;                    // by its logarithm
};

// Products of an item, by node: over all ratings, mixed over true categories, and over ratings of each category
// that it has.
struct Products {
  Aligned *all, *mixed, *own;

  Products from(Count block) const { return {all + block, mixed + block, own + block}; }
};

// Calls a function for all nodes, with how many registers they fill and the first of these.
template <typename Some>
INLINE void in_registers(Count blocks, const Some& some) {
  Count b = 0;
  for (; b + 4 <= blocks; b += 4) some(std::integral_constant<int, 4>(), b);
  switch (blocks - b) {
    case 3: return some(std::integral_constant<int, 3>(), b);
    case 2: return some(std::integral_constant<int, 2>(), b);
    case 1: return some(std::integral_constant<int, 1>(), b);
  }
}

// Products of an item at nodes that stay in registers, from block ``b`` on. Adds their sums over true categories, of
// which all together have the probability ``whole``.
template <int registers>
INLINE void multiply(ItemRatings of, const ItemSums& with, Count blocks, Count b, double whole, Products to,
                     Lanes& sums, Lanes& sizes) {
  const Aligned *const unknown = with.unknown + b, *const ratio = with.ratio + b;
  const double* const prevalence = with.prevalence + of.item->kind * with.categories;
  Lanes product[registers], mixed[registers], own[registers];
  for (int r = 0; r < registers; ++r) {
    product[r] = with.weight[b + r].lanes;
    mixed[r] = all(0);
  }
  for (const Rated* const end = of.rated + of.item->categories; of.rated != end; ++of.rated, to.own += blocks) {
    const double each = prevalence[of.rated->category];
    whole -= each;
    for (int r = 0; r < registers; ++r) own[r] = all(each);
    for (const Entry* const last = of.entry + of.rated->ratings; of.entry != last; ++of.entry) {
      const Aligned* const of_rater = unknown + of.entry->rater * blocks;
      const Aligned* const of_cell = ratio + of.entry->cell * blocks;
      for (int r = 0; r < registers; ++r) {
        product[r] *= of_rater[r].lanes;
        own[r] *= of_cell[r].lanes;
      }
    }
    for (int r = 0; r < registers; ++r) {
      to.own[r].lanes = own[r];
      mixed[r] += own[r];
    }
  }
  for (int r = 0; r < registers; ++r) {
    mixed[r] += whole;  // those that nobody chose
    to.all[r].lanes = product[r];
    to.mixed[r].lanes = mixed[r];
    sizes += mixed[r];
    sums += product[r] * mixed[r];
  }
}

// Adds expected numbers of items at these nodes, which are products times a factor, to those of the item's raters and
// cells. True categories that it was rated as get what they have beyond one that nobody chose; what that has if its
// prevalence is 1 is returned.
template <int registers>
INLINE Lanes weigh(ItemRatings of, const ItemSums& with, Count blocks, Count b, double factor, Products from,
                   Aligned* by_truth) {
  Aligned *const by_all = with.by_all + b, *const by_own = with.by_own + b;
  const double* const prevalence = with.prevalence + of.item->kind * with.categories;
  Lanes unchosen = all(0), product[registers], mixed[registers], own[registers];
  for (int r = 0; r < registers; ++r) {
    product[r] = from.all[r].lanes * factor;
    mixed[r] = from.mixed[r].lanes * product[r];
    unchosen += product[r];
  }
  for (const Rated* const end = of.rated + of.item->categories; of.rated != end; ++of.rated, from.own += blocks) {
    Lanes more = -prevalence[of.rated->category] * unchosen;
    for (int r = 0; r < registers; ++r) {
      own[r] = from.own[r].lanes * product[r];
      more += own[r];
    }
    by_truth[of.rated->category].lanes += more;
    for (const Entry* const last = of.entry + of.rated->ratings; of.entry != last; ++of.entry) {
      Aligned* const of_rater = by_all + of.entry->rater * blocks;
      Aligned* const of_cell = by_own + of.entry->cell * blocks;
      for (int r = 0; r < registers; ++r) of_rater[r].lanes += mixed[r];
      for (int r = 0; r < registers; ++r) of_cell[r].lanes += own[r];
    }
  }
  return unchosen;
}

constexpr double largest_product = 1e150;  // of ratios; beyond it the product over all ratings may underflow, and matter

// The log-probability of items but for guesses. Those that need logarithms are left.
template <int Blocks>
INLINE double add_items(const Design& design, const ItemSums& with, std::vector<ItemRatings>& left) {
  const Count blocks = Blocks ? Blocks : with.blocks, truths = with.categories + 1;
  std::vector<Aligned> own(blocks * with.categories), many(Blocks ? 0 : 2 * blocks);
  Aligned few[2 * Blocks + 1], *const both = Blocks ? few : many.data();
  const Products products{both, both + blocks, own.data()};
  std::vector<Aligned> by_truth(truths * with.kinds, {all(0)});  // the last of each kind: of one that nobody chose
  std::vector<double> whole(with.kinds);
  for (Count k = 0; k < with.categories * with.kinds; ++k) whole[k / with.categories] += with.prevalence[k];
  double total = 0, product = 1;  // the value is total + log(product)
  for (ItemRatings of = design.begin(); of.item != design.end(); of = of.next()) {
    const int kind = of.item->kind, multiplicity = of.item->multiplicity;
    Lanes sums = all(0), sizes = all(0);
    if (of.item->ratings <= most_factors)
      in_registers(blocks, [&](auto registers, Count b) __attribute__((always_inline)) {
        multiply<registers>(of, with, blocks, b, whole[kind], products.from(b), sums, sizes);
      });
    const double sum = sum_of(sums);
    if (!(sum > smallest_product && sum_of(sizes) < largest_product)) {
      left.push_back(of);
      continue;
    }
    if (multiplicity > 1)
      total += multiplicity * std::log(sum);
    else
      product *= sum;
    if (!(product > smallest_product && product < 1 / smallest_product)) {
      total += std::log(product);
      product = 1;
    }
    if (with.by_all == nullptr) continue;
    const double factor = multiplicity / sum;
    in_registers(blocks, [&](auto registers, Count b) __attribute__((always_inline)) {
      Aligned* const of_kind = &by_truth[kind * truths];
      of_kind[with.categories].lanes += weigh<registers>(of, with, blocks, b, factor, products.from(b), of_kind);
    });
  }
  for (Count k = 0; k < with.categories * with.kinds && with.by_all != nullptr; ++k) {
    const Aligned* const of_kind = &by_truth[k / with.categories * truths];
    with.by_prevalence[k] += sum_of(of_kind[k % with.categories].lanes) +
                             with.prevalence[k] * sum_of(of_kind[with.categories].lanes);
  }
  return total + std::log(product);
}

WIDEST static double add_items(const Design& design, const ItemSums& with, std::vector<ItemRatings>& left) {
  switch (with.blocks) {
    case 1: return add_items<1>(design, with, left);
    case 2: return add_items<2>(design, with, left);
    case 3: return add_items<3>(design, with, left);
    case 4: return add_items<4>(design, with, left);
    default: return add_items<0>(design, with, left);
  }
}

// A rater's log odds of knowing get those who knew, less as many as are expected to know.
WIDEST static void differentiate(Count raters, Count cells, Count blocks, const double* ratings, const Aligned* unknown,
                                 const Aligned* ratio, const Aligned* by_all, const Aligned* by_own, double* by_level,
                                 double* by_log_guess, Aligned* by_node) {
  for (Count j = 0; j < raters; ++j) {
    Lanes of_rater = all(0);
    for (Count b = 0; b < blocks; ++b) {
      const Lanes less = by_all[j * blocks + b].lanes * (unknown[j * blocks + b].lanes - 1);
      by_node[b].lanes += less;
      of_rater += less;
    }
    for (Count v = j; v < cells; v += raters) {
      Lanes knew = all(0);
      if (ratings[v] > 0)
        for (Count b = 0; b < blocks; ++b) {
          const Lanes here = by_own[v * blocks + b].lanes * (1 - 1 / ratio[v * blocks + b].lanes);
          by_node[b].lanes += here;
          knew += here;
        }
      of_rater += knew;
      by_log_guess[v] = ratings[v] - sum_of(knew);
    }
    by_level[j] = sum_of(of_rater);
  }
}

}  // namespace reliabayes
