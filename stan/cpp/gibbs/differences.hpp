// Moves of all parameters at once, by a part of the difference of two draws of an earlier run.
//
// Where few distinct items stand for many, states that are drawn given probabilities leave these nearly where they
// were, while the likelihood with states marginalised costs next to nothing. Differences of draws have the scale of the
// posterior in all its directions, and pairs are drawn without regard to where the chain is, so that a move is as
// likely as its reverse. Probabilities move by their logs, and then again sum to 1; so do spreads.
//
// ter Braak & Vrugt (2008), https://doi.org/10.1007/s11222-008-9104-9.
#pragma once
#include "../lanes.hpp"
#include "wide_random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace reliabayes {

// Earlier draws by draw and parameter, of probabilities and spreads their logs.
struct Differences {
  Count moves;  // for each sweep
  Count draws;
  const double* draw;
};

// Numbers of so many moved by a part of the difference of two draws, either themselves or their logs.
WIDEST static void shift_by_part(const double* from, const double* one, const double* other, double part, Count size,
                                 double* to) {
  for (Count i = 0; i < size; ++i) to[i] = from[i] + part * (one[i] - other[i]);
}
WIDEST static void scale_by_part(const double* from, const double* one, const double* other, double part, Count size,
                                 double* to) {
  for (Count i = 0; i < size; i += lanes) {
    const Lanes step = part * (read_some(one + i, size - i) - read_some(other + i, size - i));
    const Lanes factor = exponential(larger(smaller(step, largest_exponent), -largest_exponent));
    write_some(factor * read_some(from + i, size - i), to + i, size - i);
  }
}

template <typename Posterior>
class Moves {
 public:
  explicit Moves(const Posterior& data)
      : data_(data), from_(data.size), to_(data.size), parameters_(data.kept - data.groups) {
    for (Count i = 0; i < data.kept; ++i) {
      const bool is_scaled = i < data.group[data.groups] || data.is_spread(i);
      if (i == 0 || is_scaled != parts_.back().is_scaled) parts_.push_back({i, 0, is_scaled});
      ++parts_.back().size;
    }
  }

  // Move numbers x, given their log density and that of others.
  template <typename LogDensity>
  void draw(double* x, const Philox& philox, std::uint32_t sweep, std::uint32_t purpose,
            const LogDensity& log_density) {
    const Differences& own = *data_.differences;
    std::copy(x, x + data_.size, from_.begin());
    double here = log_density(from_.data());
    WideStream stream(philox, 0, sweep, purpose);
    for (Count move = 0; move < own.moves; ++move) {
      const double *one = any_of(own, stream), *other = any_of(own, stream);
      propose(one, other, longest / std::sqrt(2.0 * parameters_) * std::exp(-spread_of_sizes * uniform(stream)));
      const double there = log_density(to_.data());
      if (!(std::log(uniform(stream)) < there - here)) continue;
      here = there;
      std::swap(from_, to_);
    }
    std::copy(from_.begin(), from_.end(), x);
  }

 private:
  // Half of what suits a normal posterior, times the root of twice the parameters; and how far logs of sizes spread.
  static constexpr double longest = 1.19, spread_of_sizes = 1.5;

  // Consecutive numbers that are scaled, which are probabilities and spreads, or else shifted.
  struct Part {
    Count first, size;
    bool is_scaled;
  };

  const double* any_of(const Differences& own, WideStream& stream) const {
    return own.draw + std::min(static_cast<Count>(uniform(stream) * own.draws), own.draws - 1) * data_.kept;
  }

  void propose(const double* one, const double* other, double part) {
    for (const Part& own : parts_) {
      const Count i = own.first;
      (own.is_scaled ? scale_by_part : shift_by_part)(&from_[i], one + i, other + i, part, own.size, &to_[i]);
    }
    for (Count g = 0; g < data_.groups; ++g) {
      const auto first = to_.begin() + data_.group[g], last = to_.begin() + data_.group[g + 1];
      const double sum = std::accumulate(first, last, 0.0);
      std::for_each(first, last, [&](double& x) { x /= sum; });
    }
  }

  const Posterior& data_;
  std::vector<double> from_, to_;
  Count parameters_;
  std::vector<Part> parts_;
};

}  // namespace reliabayes
