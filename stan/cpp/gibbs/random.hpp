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

// How far draws of a Metropolis step lie on the other side of the mean, as a correlation, and the variance of what is
// drawn anew. Chains move on sooner where each number that depends on the others overshoots (Adler 1981).
constexpr double opposed = 0.7, fresh_square = 1 - opposed * opposed;

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

  // The next of a chain of numbers with a gamma distribution, on the other side of its mean. The cube root is nearly
  // normal (Wilson & Hilferty 1931), unless the shape is so small that its density is infinite at 0.
  double opposed_gamma(double shape, double at) {
    if (shape < 1 / 3.0) return gamma(shape);
    const double third = std::cbrt(shape), mean = third - third / (9 * shape), sd = third / (3 * std::sqrt(shape));
    const auto log_ratio = [&](double root, double score) {
      return (3 * shape - 1) * std::log(root) - root * root * root + 0.5 * score * score;
    };
    const double root = std::cbrt(at), score = (root - mean) / sd;
    const double other = std::sqrt(fresh_square) * normal() - opposed * score, found = mean + sd * other;
    if (!(found > 0 && std::log(uniform()) < log_ratio(found, other) - log_ratio(root, score))) return at;
    return found * found * found;
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

  // By inversion while few are expected, otherwise by rejection.
  Count binomial(Count number, double probability) {
    if (number == 0 || !(probability > 0)) return 0;
    if (!(probability < 1)) return number;
    const double smaller = std::min(probability, 1 - probability);
    const Count found = number * smaller > most_expected ? many(number, smaller) : few(number, smaller);
    return probability > 0.5 ? number - found : found;
  }

 private:
  static constexpr double most_expected = 10;

  // A binomial number of small mean, by inversion.
  Count few(Count number, double probability) {
    if (number == 1) return uniform() > 1 - probability;
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

  // Hörmann (1993), https://doi.org/10.1080/00949659308811496: transformed rejection with a squeeze.
  Count many(Count number, double p) {
    const double n = number, q = 1 - p, sd = std::sqrt(n * p * q), mode = std::floor((n + 1) * p);
    const double b = 1.15 + 2.53 * sd, a = -0.0873 + 0.0248 * b + 0.01 * p, squeeze = 0.92 - 4.2 / b;
    for (;;) {
      const double v = uniform(), u = uniform() - 0.5, left = 0.5 - std::fabs(u);
      const double k = std::floor((2 * a / left + b) * u + n * p + 0.5);
      if (left >= 0.07 && v <= squeeze) return static_cast<Count>(k);
      if (k < 0 || k > n) continue;
      const double log_ratio = log_factorial(mode) + log_factorial(n - mode) - log_factorial(k) -
                               log_factorial(n - k) + (k - mode) * std::log(p / q);
      if (std::log(v * (2.83 + 5.1 / b) * sd / (a / (left * left) + b)) <= log_ratio) return static_cast<Count>(k);
    }
  }

  // Stirling's series, and before it is exact the product.
  static double log_factorial(double k) {
    double product = 1;
    for (; k < 10; ++k) product *= k + 1;
    const double x = k + 1, inverse = 1 / (x * x);
    return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * M_PI) +
           (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - inverse / 1680) * inverse) * inverse) / x - std::log(product);
  }

  const Philox& philox_;
  std::uint32_t position_, sweep_, purpose_;
  std::uint32_t number_ = 0;
  int left_ = 0;
  double pair_[2], normal_ = 0;
  bool has_normal_ = false;
};

}  // namespace reliabayes
