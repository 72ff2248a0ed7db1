// Inner loops of guessing_mixture_pass.cpp, over plain numbers: columns have ``stride`` nodes, four at a time.
#pragma once
#include "batch_products.hpp"
#include "guessing_design.hpp"

namespace reliabayes {

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

// The sum over nodes and true categories of an item, with the products that it consists of: over all ratings,
// mixed over true categories, and over ratings of each category that it has.
WIDEST static double multiply_entries(const Entry* entry, int entries, const int* rated, int categories,
                                      const double* prevalence, double others,
                                      const double* weight, const double* unknown,
                                      const double* ratio, Eigen::Index stride, double* all,
                                      double* mixed, double* own, double* largest) {
  for (Eigen::Index q = 0; q < stride; q += 4) four(all + q) = four(weight + q);
  for (int k = 0; k < categories; ++k) {
    const double each = prevalence[rated[k]];
    for (Eigen::Index q = 0; q < stride; q += 4)
      four(own + rated[k] * stride + q) = Four{each, each, each, each};
  }
  for (int e = 0; e < entries; ++e) {
    double* const of_category = own + entry[e].category * stride;
    const double* const by_rater = unknown + entry[e].rater * stride;
    const double* const by_cell = ratio + entry[e].cell * stride;
    for (int again = 0; again < entry[e].count; ++again)
      for (Eigen::Index q = 0; q < stride; q += 4) {
        four(all + q) *= four(by_rater + q);
        four(of_category + q) *= four(by_cell + q);
      }
  }
  Four sums = {}, sizes = {};
  for (Eigen::Index q = 0; q < stride; q += 4) {
    Four sum = {others, others, others, others};
    for (int k = 0; k < categories; ++k) sum += four(own + rated[k] * stride + q);
    four(mixed + q) = sum;
    sizes += sum;
    sums += four(all + q) * sum;
  }
  *largest = (sizes[0] + sizes[1]) + (sizes[2] + sizes[3]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// These products times a factor, each with all others that it comes with: expected numbers of items.
WIDEST static void weigh_products(const int* rated, int categories, double factor,
                                  Eigen::Index stride, double* all, double* mixed, double* own,
                                  double* by_truth, double* everywhere) {
  Four sums = {};
  for (Eigen::Index q = 0; q < stride; q += 4) {
    four(all + q) *= factor;
    four(mixed + q) *= four(all + q);
    sums += four(all + q);
  }
  *everywhere = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (int k = 0; k < categories; ++k) {
    double* const of_category = own + rated[k] * stride;
    Four sum = {};
    for (Eigen::Index q = 0; q < stride; q += 4) {
      four(of_category + q) *= four(all + q);
      sum += four(of_category + q);
    }
    by_truth[rated[k]] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

// Adds expected numbers of items to those of the raters and of the cells that rated one.
WIDEST static void add_to_cells(const Entry* entry, int entries, Eigen::Index stride,
                                const double* mixed, const double* own, double* by_all,
                                double* by_own) {
  for (int e = 0; e < entries; ++e) {
    double* const by_rater = by_all + entry[e].rater * stride;
    double* const by_cell = by_own + entry[e].cell * stride;
    const double* const of_category = own + entry[e].category * stride;
    const double count = entry[e].count;
    for (Eigen::Index q = 0; q < stride; q += 4) {
      four(by_rater + q) += count * four(mixed + q);
      four(by_cell + q) += count * four(of_category + q);
    }
  }
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
      by_log_guess[v] = ratings[v] - ((knew[0] + knew[1]) + (knew[2] + knew[3]));
    }
    by_level[j] = (of_rater[0] + of_rater[1]) + (of_rater[2] + of_rater[3]);
  }
}

}  // namespace reliabayes
