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
#include "random.hpp"

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

WIDEST static void to_exponentials(double* x, Count size) {
  for (Count i = 0; i < size; i += lanes)
    write(exponential(larger(smaller(read(x + i), largest_exponent), -largest_exponent)), x + i);
}

template <typename Posterior>
class Moves {
 public:
  explicit Moves(const Posterior& data)
      : data_(data), from_(data.size), to_(data.size), parameters_(data.kept - data.groups) {
    for (Count i = 0; i < data.kept; ++i) {
      const bool is_scaled = i < data.group[data.groups] || data.is_spread(i);
      (is_scaled ? scaled_ : shifted_).push_back(i);
    }
    factor_.resize(in_whole_lanes(scaled_.size()));
  }

  // Move numbers x, given their log density and that of others.
  template <typename LogDensity>
  void draw(double* x, const Philox& philox, std::uint32_t sweep, std::uint32_t purpose, const LogDensity& log_density) {
    const Differences& own = *data_.differences;
    std::copy(x, x + data_.size, from_.begin());
    double here = log_density(from_.data());
    for (Count move = 0; move < own.moves; ++move) {
      Stream stream(philox, static_cast<std::uint32_t>(move), sweep, purpose);
      const double *one = any_of(own, stream), *other = any_of(own, stream);
      propose(one, other, usual / std::sqrt(2.0 * parameters_) * std::exp(-spread_of_sizes * stream.uniform()));
      const double there = log_density(to_.data());
      if (!(std::log(stream.uniform()) < there - here)) continue;
      here = there;
      std::swap(from_, to_);
    }
    std::copy(from_.begin(), from_.end(), x);
  }

 private:
  static constexpr double usual = 2.38, spread_of_sizes = 3;  // times the root of twice the parameters; share of whole steps

  const double* any_of(const Differences& own, Stream& stream) const {
    return own.draw + std::min(static_cast<Count>(stream.uniform() * own.draws), own.draws - 1) * data_.kept;
  }

  void propose(const double* one, const double* other, double part) {
    for (std::size_t n = 0; n < scaled_.size(); ++n) factor_[n] = part * (one[scaled_[n]] - other[scaled_[n]]);
    to_exponentials(factor_.data(), factor_.size());
    for (std::size_t n = 0; n < scaled_.size(); ++n) to_[scaled_[n]] = from_[scaled_[n]] * factor_[n];
    for (const Count i : shifted_) to_[i] = from_[i] + part * (one[i] - other[i]);
    for (Count g = 0; g < data_.groups; ++g) {
      const auto first = to_.begin() + data_.group[g], last = to_.begin() + data_.group[g + 1];
      const double sum = std::accumulate(first, last, 0.0);
      std::for_each(first, last, [&](double& x) { x /= sum; });
    }
  }

  const Posterior& data_;
  std::vector<double> from_, to_;
  Count parameters_;
  std::vector<Count> scaled_, shifted_;  // positions of probabilities and spreads, and of all others
  std::vector<double> factor_;           // of those that are scaled, in whole lanes
};

}  // namespace reliabayes
