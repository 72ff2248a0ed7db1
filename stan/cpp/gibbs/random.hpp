// Random numbers as a function of seed, chain, sweep, purpose and position: they do not depend on how sweeps
// are split into calls, or chains over processors.
//
// Philox 4x32-10: Salmon et al. (2011), https://doi.org/10.1145/2063384.2063405.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace reliabayes {

using Count = std::int64_t;

// Two numbers between 0 and 1 for each counter, or the 128 bits that they come from.
struct Philox {
  std::uint32_t seed, chain;

  void operator()(std::uint32_t number, std::uint32_t position, std::uint32_t sweep, std::uint32_t purpose,
                  double* uniform) const {
    std::uint32_t x[4] = {number, position, sweep, purpose};
    scramble(x);
    for (int half = 0; half < 2; ++half) {
      const std::uint64_t bits = (std::uint64_t{x[2 * half]} << 32 | x[2 * half + 1]) >> 11;
      uniform[half] = (bits + 0.5) * 0x1p-53;
    }
  }

  void scramble(std::uint32_t* x) const {
    std::uint32_t key[2] = {seed, chain};
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
      const std::uint32_t next[4] = {
          static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(a)};
      std::copy(next, next + 4, x);
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
  }
};

// Random numbers for one purpose at one position in a sweep; the low 8 bits of the purpose name it.
class Stream {
 public:
  Stream(const Philox& philox, std::uint32_t position, std::uint32_t sweep, std::uint32_t purpose,
         std::uint32_t repeat = 0)
      : philox_(philox), position_(position), sweep_(sweep), purpose_(purpose | repeat << 8) {}

  double uniform() {
    if (left_ == 0) {
      philox_(number_++, position_, sweep_, purpose_, pair_);
      left_ = 2;
    }
    return pair_[--left_];
  }

  // Box & Muller's, in pairs.
  double normal() {
    if (has_normal_) {
      has_normal_ = false;
      return normal_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();
    normal_ = radius * std::sin(angle);
    has_normal_ = true;
    return radius * std::cos(angle);
  }

  // Marsaglia & Tsang (2000), https://doi.org/10.1145/358407.358414.
  double gamma(double shape) {
    if (shape < 1) {
      const double root = std::pow(uniform(), 1 / shape);
      return gamma(shape + 1) * root;
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root, u = uniform(), x2 = x * x;
      if (u < 1 - 0.0331 * x2 * x2 || std::log(u) < 0.5 * x2 + d * (1 - v + std::log(v))) return d * v;
    }
  }

  // Devroye (1986), chapter X.4: while many are expected, a quantile of the uniform numbers that are counted
  // halves their number; then by inversion.
  Count binomial(Count number, double probability) {
    Count found = 0;
    while (number * std::min(probability, 1 - probability) > most_expected) {
      const Count at = (number + 1) / 2;
      const double below = gamma(at), above = gamma(number + 1 - at), quantile = below / (below + above);
      if (quantile <= probability) {
        found += at;
        number -= at;
        probability = (probability - quantile) / (1 - quantile);
      } else {
        number = at - 1;
        probability /= quantile;
      }
    }
    if (number == 0 || !(probability > 0)) return found;
    if (!(probability < 1)) return found + number;
    return found + (probability > 0.5 ? number - few(number, 1 - probability) : few(number, probability));
  }

 private:
  static constexpr double most_expected = 20;

  // A binomial number of small mean, by inversion.
  Count few(Count number, double probability) {
    const double odds = probability / (1 - probability);
    double term = std::exp(number * std::log1p(-probability)), left = uniform();
    Count found = 0;
    while (left > term && found < number) {
      left -= term;
      ++found;
      term *= (number + 1 - found) * odds / found;
    }
    return found;
  }

  const Philox& philox_;
  std::uint32_t position_, sweep_, purpose_;
  std::uint32_t number_ = 0;
  int left_ = 0;
  double pair_[2], normal_ = 0;
  bool has_normal_ = false;
};

}  // namespace reliabayes
