// Moves of all parameters at once, by a part of the difference of two draws of an earlier run.
//
// Where few distinct items stand for many, states that are drawn given probabilities leave these nearly where they
// were, while the likelihood with states marginalised costs next to nothing. Differences of draws have the scale of the
// posterior in all its directions, and pairs are drawn without regard to where the chain is, so that a move is as
// likely as its reverse. Probabilities move by their logs, and then again sum to 1; so do spreads.
//
// ter Braak & Vrugt (2008), https://doi.org/10.1007/s11222-008-9104-9.
#pragma once
#include "random.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace reliabayes {

// Earlier draws by draw and parameter, of probabilities and spreads their logs.
struct Differences {
  Count moves;  // for each sweep
  Count draws;
  const double* draw;
};

template <typename Posterior>
class Moves {
 public:
  explicit Moves(const Posterior& data)
      : data_(data), from_(data.size), to_(data.size), parameters_(data.kept - data.groups) {}

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
    for (Count g = 0; g < data_.groups; ++g) {
      double sum = 0;
      for (Count i = data_.group[g]; i < data_.group[g + 1]; ++i)
        sum += to_[i] = from_[i] * std::exp(part * (one[i] - other[i]));
      for (Count i = data_.group[g]; i < data_.group[g + 1]; ++i) to_[i] /= sum;
    }
    for (Count i = data_.group[data_.groups]; i < data_.kept; ++i) {
      const double step = part * (one[i] - other[i]);
      to_[i] = data_.is_spread(i) ? from_[i] * std::exp(step) : from_[i] + step;
    }
  }

  const Posterior& data_;
  std::vector<double> from_, to_;
  Count parameters_;
};

}  // namespace reliabayes
