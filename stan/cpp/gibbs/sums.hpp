// Sums of log-probabilities of items.
#pragma once
#include "../lanes.hpp"
#include "random.hpp"

#include <algorithm>
#include <cmath>

namespace reliabayes {

constexpr double smallest = 1e-150;  // that is multiplied further

// The sum of log-probabilities of items, most of which are multiplied first.
class Sum {
 public:
  void add(double log_scale, double probability, Count number) {
    total_ += number * log_scale;
    if (number > 1) {
      total_ += number * std::log(probability);
      return;
    }
    product_ *= probability;
    if (!(product_ > smallest)) {
      total_ += std::log(product_);
      product_ = 1;
    }
  }
  double value() const { return total_ + std::log(product_); }

 private:
  double total_ = 0, product_ = 1;
};

WIDEST static double sum_of_squares(const double* x, Count size) {
  Lanes sum = all(0);
  for (Count i = 0; i < size; i += lanes) {
    const Lanes some = read_some(x + i, size - i);
    sum += some * some;
  }
  return sum_of(sum);
}

// Sums of log-probabilities in units of 2^-24 nats, which are exact, so that they are the same in any order of the
// items. A sum may have 5e11 nats.
class ExactSum {
 public:
  void add(double log_scale, double probability, Count number) {
    const double units = std::ldexp(log_scale + std::log(probability), 24);
    total_ += number * std::llrint(std::max(units, -0x1p55));
  }
  Count value() const { return total_; }

 private:
  Count total_ = 0;
};

}  // namespace reliabayes
