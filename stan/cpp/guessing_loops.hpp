// Inner loops of guessing_mixture_pass.cpp, over plain numbers: columns have ``stride`` nodes, four at a time.
#pragma once
#include "batch_products.hpp"
#include "guessing_design.hpp"

#include <type_traits>

namespace reliabayes {

static inline double sum_of(const Four& terms) {
  return (terms[0] + terms[1]) + (terms[2] + terms[3]);
}

// Tables of those who do not know, by rater, and of ratios, by cell; rows are nodes.
WIDEST static void fill_tables(Eigen::Index raters, Eigen::Index cells, Eigen::Index stride,
                               const double* of_node, const double* of_rater,
                               const double* inverse, const double* ratings, double* unknown,
                               double* ratio) {
  for (Eigen::Index j = 0; j < raters; ++j)
    for (Eigen::Index q = 0; q < stride; q += 4) {
      const Four odds = four(of_node + q) * of_rater[j];
      four(unknown + j * stride + q) = 1 / (1 + odds);
      for (Eigen::Index v = j; v < cells; v += raters)
        if (ratings[v] > 0) four(ratio + v * stride + q) = 1 + inverse[v] * odds;
    }
}

// Products of an item, by node: over all ratings, mixed over true categories, and over ratings of each category
// that it has.
struct Products {
  double *all, *mixed, *own;
  Eigen::Index stride;

  Products from(Eigen::Index node) const { return {all + node, mixed + node, own + node, stride}; }
};

// Calls a function for all nodes, with how many registers they fill and the first of them.
template <typename Some>
[[gnu::always_inline]] static inline void in_registers(Eigen::Index stride, const Some& some) {
  Eigen::Index q = 0;
  for (; q + 16 <= stride; q += 16) some(std::integral_constant<int, 4>(), q);
  for (; q + 8 <= stride; q += 8) some(std::integral_constant<int, 2>(), q);
  if (q < stride) some(std::integral_constant<int, 1>(), q);
}

// Products of an item at the next nodes, which stay in registers, four nodes in each.
template <int registers>
[[gnu::always_inline]] static inline void multiply_some(
    const ItemRatings& item, const double* prevalence, double others, const double* weight,
    const double* unknown, const double* ratio, const Products& to, Four& sums, Four& sizes) {
  Four all[registers], mixed[registers], own[registers];
  for (int r = 0; r < registers; ++r) {
    all[r] = four(weight + 4 * r);
    mixed[r] = Four{others, others, others, others};
  }
  const Entry* entry = item.first;
  for (const Rated* rated = item.first_rated; rated < item.last_rated; ++rated) {
    const double each = prevalence[rated->category];
    for (int r = 0; r < registers; ++r) own[r] = Four{each, each, each, each};
    for (const Entry* const last = entry + rated->number; entry < last; ++entry) {
      const double* const of_rater = unknown + entry->rater * to.stride;
      const double* const of_cell = ratio + entry->cell * to.stride;
      for (int r = 0; r < registers; ++r) {
        all[r] *= four(of_rater + 4 * r);
        own[r] *= four(of_cell + 4 * r);
      }
    }
    double* const kept = to.own + rated->category * to.stride;
    for (int r = 0; r < registers; ++r) {
      four(kept + 4 * r) = own[r];
      mixed[r] += own[r];
    }
  }
  for (int r = 0; r < registers; ++r) {
    four(to.all + 4 * r) = all[r];
    four(to.mixed + 4 * r) = mixed[r];
    sizes += mixed[r];
    sums += all[r] * mixed[r];
  }
}

// The sum of an item over nodes and true categories, of which those that nobody chose have the probability
// ``others``, with the products that it consists of, and the sum of the mixed ones.
WIDEST static double multiply_entries(const ItemRatings& item, const double* prevalence,
                                      double others, const double* weight, const double* unknown,
                                      const double* ratio, const Products& to, double* largest) {
  Four sums = {}, sizes = {};
  in_registers(to.stride, [&](auto registers, Eigen::Index q) __attribute__((always_inline)) {
    multiply_some<registers>(item, prevalence, others, weight + q, unknown + q, ratio + q,
                             to.from(q), sums, sizes);
  });
  *largest = sum_of(sizes);
  return sum_of(sums);
}

// Expected numbers of items at the next nodes, added to those of the item's raters and cells.
template <int registers>
[[gnu::always_inline]] static inline void weigh_some(const ItemRatings& item, double factor,
                                                     const Products& of, double* by_truth,
                                                     double* by_all, double* by_own, Four& sums) {
  Four all[registers], mixed[registers], own[registers];
  for (int r = 0; r < registers; ++r) {
    all[r] = four(of.all + 4 * r) * factor;
    mixed[r] = four(of.mixed + 4 * r) * all[r];
    sums += all[r];
  }
  const Entry* entry = item.first;
  for (const Rated* rated = item.first_rated; rated < item.last_rated; ++rated) {
    Four sum = {};
    for (int r = 0; r < registers; ++r) {
      own[r] = four(of.own + rated->category * of.stride + 4 * r) * all[r];
      sum += own[r];
    }
    by_truth[rated->category] += sum_of(sum);
    for (const Entry* const last = entry + rated->number; entry < last; ++entry) {
      double* const of_rater = by_all + entry->rater * of.stride;
      double* const of_cell = by_own + entry->cell * of.stride;
      for (int r = 0; r < registers; ++r) {
        four(of_rater + 4 * r) += mixed[r];
        four(of_cell + 4 * r) += own[r];
      }
    }
  }
}

// Adds expected numbers of items, which are products times a factor, to those of the true categories that the
// item was rated as, of its raters and of its cells; returns that of a true category of prevalence 1 that
// nobody chose.
WIDEST static double weigh_entries(const ItemRatings& item, double factor, const Products& of,
                                   double* by_truth, double* by_all, double* by_own) {
  Four sums = {};
  in_registers(of.stride, [&](auto registers, Eigen::Index q) __attribute__((always_inline)) {
    weigh_some<registers>(item, factor, of.from(q), by_truth, by_all + q, by_own + q, sums);
  });
  return sum_of(sums);
}

// A rater's log odds of knowing get those who knew, less as many as are expected to know.
WIDEST static void differentiate(Eigen::Index raters, Eigen::Index cells, Eigen::Index stride,
                                 const double* ratings, const double* unknown,
                                 const double* ratio, const double* by_all, const double* by_own,
                                 double* by_level, double* by_log_guess, double* by_node) {
  for (Eigen::Index j = 0; j < raters; ++j) {
    Four of_rater = {};
    for (Eigen::Index q = 0; q < stride; q += 4) {
      const Four less = four(by_all + j * stride + q) * (four(unknown + j * stride + q) - 1);
      four(by_node + q) += less;
      of_rater += less;
    }
    for (Eigen::Index v = j; v < cells; v += raters) {
      Four knew = {};
      if (ratings[v] > 0)
        for (Eigen::Index q = 0; q < stride; q += 4) {
          const Four here = four(by_own + v * stride + q) * (1 - 1 / four(ratio + v * stride + q));
          four(by_node + q) += here;
          knew += here;
        }
      of_rater += knew;
      by_log_guess[v] = ratings[v] - sum_of(knew);
    }
    by_level[j] = sum_of(of_rater);
  }
}

}  // namespace reliabayes
