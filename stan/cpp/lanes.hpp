// Four numbers at a time, with their exponentials and logarithms.
//
// Errors are below 1e-15, relative for exponentials and softplus, and absolute for logarithms near 1. Results are
// those of any processor on which sums and products are the same, whether its registers hold two numbers or four.
#pragma once
#include "widest.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

// Called from functions that are compiled twice, so that a call of another function would pass registers otherwise.
#define INLINE static inline __attribute__((always_inline))

namespace reliabayes {

constexpr int lanes = 4;
// Aligned in every function, as those compiled for wide registers expect.
using Lanes = double __attribute__((vector_size(32), aligned(32)));
using Bits = std::uint64_t __attribute__((vector_size(32), aligned(32)));
struct Aligned {  // as lanes by themselves are not in a vector
  Lanes lanes;
};

// A number of places rounded up to that of whole lanes.
constexpr std::int64_t in_whole_lanes(std::int64_t places) { return (places + lanes - 1) / lanes * lanes; }

INLINE Lanes read(const double* x) {
  Lanes found;
  std::memcpy(&found, x, sizeof found);
  return found;
}
INLINE void write(Lanes values, double* x) { std::memcpy(x, &values, sizeof values); }
INLINE Lanes all(double x) { return Lanes{x, x, x, x}; }
// Four numbers of an array, and another one for each after its end.
INLINE Lanes read_some(const double* x, std::int64_t size, double other = 0) {
  if (size >= lanes) return read(x);
  double some[lanes] = {other, other, other, other};
  std::copy_n(x, size, some);
  return read(some);
}
// 1 for each of four places that an array has, and 0 after its end.
INLINE Lanes places(std::int64_t size) {
  constexpr double ones[lanes] = {1, 1, 1, 1};
  return read_some(ones, size);
}
// Writes the first of four numbers, as many as the array has room for.
INLINE void write_some(Lanes values, double* x, std::int64_t size) {
  if (size >= lanes) return write(values, x);
  for (std::int64_t i = 0; i < size; ++i) x[i] = values[i];
}
INLINE double sum_of(Lanes x) { return (x[0] + x[1]) + (x[2] + x[3]); }
INLINE bool is_any(Bits x) { return x[0] | x[1] | x[2] | x[3]; }
INLINE Lanes chosen(Bits is_first, Lanes first, Lanes second) {
  return Lanes((is_first & Bits(first)) | (~is_first & Bits(second)));
}
INLINE Lanes absolute(Lanes x) { return chosen(Bits(x > 0), x, -x); }
INLINE Lanes smaller(Lanes x, double limit) { return chosen(Bits(x < limit), x, all(limit)); }
INLINE Lanes larger(Lanes x, Lanes other) { return chosen(Bits(x > other), x, other); }
INLINE Lanes larger(Lanes x, double limit) { return larger(x, all(limit)); }

constexpr double largest_exponent = 700;
constexpr double log_2 = 0x1.62e42feep-1, log_2_rest = 0x1.a39ef35793c76p-33;

// Of numbers between -700 and 700: 2^k times the Taylor series at what remains, which is at most log(2) / 2.
INLINE Lanes exponential(Lanes x) {
  constexpr double integer = 0x1.8p52;  // the low bits of a sum with it are a rounded whole number
  const Lanes shifted = x * 1.4426950408889634 + integer, k = shifted - integer;
  const Lanes r = (x - k * log_2) - k * log_2_rest, s = r * r;
  const Lanes s2 = s * s, s4 = s2 * s2;
  const Lanes even = (1 + s * (1 / 2.0)) + s2 * (1 / 24.0 + s * (1 / 720.0)) +
                     s4 * ((1 / 40320.0 + s * (1 / 3628800.0)) + s2 * (1 / 479001600.0));
  const Lanes odd = (1 + s * (1 / 6.0)) + s2 * (1 / 120.0 + s * (1 / 5040.0)) +
                    s4 * ((1 / 362880.0 + s * (1 / 39916800.0)) + s2 * (1 / 6227020800.0));
  return (even + r * odd) * Lanes((Bits(shifted) << 52) + Bits(all(1)));
}

// 2 atanh(s), by the Taylor series for s of at most 0.172.
INLINE Lanes twice_atanh(Lanes s) {
  const Lanes t = s * s, t2 = t * t, t4 = t2 * t2;
  const Lanes low = (1 / 3.0 + t * (1 / 5.0)) + t2 * (1 / 7.0 + t * (1 / 9.0));
  const Lanes high = (1 / 11.0 + t * (1 / 13.0)) + t2 * (1 / 15.0 + t * (1 / 17.0));
  const Lanes series = low + t4 * (high + t4 * (1 / 19.0 + t * (1 / 21.0)));
  return 2 * s + 2 * s * t * series;
}

// Of numbers above 1e-300: 2^exponent times a fraction between the roots of 1/2 and 2.
struct Binary {
  Lanes fraction, exponent;
};
INLINE Binary binary(Lanes x) {
  constexpr std::uint64_t root = 0x3fe6a09e667f3bcd, bias = 1024;
  const Bits raised = (Bits(x) - root + (bias << 52)) >> 52;  // exponent + bias
  return {Lanes(Bits(x) - (raised << 52) + (bias << 52)), Lanes(raised | Bits(all(0x1p52))) - (0x1p52 + bias)};
}
INLINE Lanes logarithm(Binary x) {
  return x.exponent * log_2 + (twice_atanh((x.fraction - 1) / (x.fraction + 1)) + x.exponent * log_2_rest);
}
INLINE Lanes logarithm(Lanes x) { return logarithm(binary(x)); }

// Of numbers x of at least 1e-300, their logs times weights, which are 1 if there are none.
WIDEST static inline double sum_of_logs(const double* weight, const double* x, std::int64_t size) {
  Lanes sum = all(0);
  for (std::int64_t i = 0; i < size; i += lanes) {
    const Lanes logs = logarithm(read_some(x + i, size - i, 1));
    sum += weight == nullptr ? logs : read_some(weight + i, size - i) * logs;
  }
  return sum_of(sum);
}

// Probability with log odds x, and that of the other; and the odds of the less probable of the two.
struct Logistic {
  Lanes value, rest, odds;
};
INLINE Logistic logistic(Lanes x) {
  const Bits is_likely = Bits(x > 0);
  const Lanes odds = exponential(-smaller(absolute(x), largest_exponent));
  const Lanes more = 1 / (1 + odds), less = odds * more;
  return {chosen(is_likely, more, less), chosen(is_likely, less, more), odds};
}

// log(1 + exp(x)), and its slope.
struct Softplus {
  Lanes value, slope;
};
INLINE Softplus softplus(Lanes x) {
  const Bits is_positive = Bits(x > 0);
  const Lanes size = absolute(x), e = exponential(-smaller(size, largest_exponent));
  // Of 1 + e above the root of 2 half is taken, so that the series has few terms.
  const Bits is_high = Bits(e > 0.4142135623730950);
  const Lanes s = (e - chosen(is_high, all(1), all(0))) / (e + chosen(is_high, all(3), all(2)));
  const Lanes value = twice_atanh(s) + chosen(is_high, all(0x1.62e42fefa39efp-1), all(0)) + 0.5 * (x + size);
  return {value, chosen(is_positive, all(1), e) / (1 + e)};
}

// Inverse of the root of positive numbers, by Newton's method.
INLINE Lanes inverse_root(Lanes x) {
  Lanes y = Lanes(0x5fe6eb50c7b537a9 - (Bits(x) >> 1));
  for (int step = 0; step < 4; ++step) y *= 1.5 - 0.5 * x * y * y;
  return y;
}

// Cosine and sine of angles between -pi / 4 and pi / 4, by Taylor series.
struct Direction {
  Lanes cosine, sine;
};
INLINE Direction direction(Lanes angle) {
  const Lanes s = angle * angle, s2 = s * s, s4 = s2 * s2;
  const Lanes even = (1 - s * (1 / 2.0)) + s2 * (1 / 24.0 - s * (1 / 720.0)) +
                     s4 * ((1 / 40320.0 - s * (1 / 3628800.0)) + s2 * (1 / 479001600.0 - s * (1 / 87178291200.0)));
  const Lanes odd = (1 - s * (1 / 6.0)) + s2 * (1 / 120.0 - s * (1 / 5040.0)) +
                    s4 * ((1 / 362880.0 - s * (1 / 39916800.0)) + s2 * (1 / 6227020800.0 - s * (1 / 1307674368000.0)));
  return {even, angle * odd};
}

}  // namespace reliabayes
