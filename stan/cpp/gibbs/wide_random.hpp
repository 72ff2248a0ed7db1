// Random numbers four at a time, for one purpose at one position in a sweep.
//
// Xoshiro256++, from 1,024 bits by Philox: Blackman & Vigna (2021), https://doi.org/10.1145/3460772.
#pragma once
#include "../lanes.hpp"
#include "random.hpp"

#include <algorithm>

namespace reliabayes {

struct WideStream {
  Bits state[4];
  double left[lanes];  // numbers for single draws
  int n_left = 0;

  WideStream(const Philox& philox, std::uint32_t position, std::uint32_t sweep, std::uint32_t purpose) {
    for (std::uint32_t part = 0; part < 4; ++part)
      for (std::uint32_t half = 0; half < 2; ++half) {
        std::uint32_t x[4] = {2 * part + half, position, sweep, purpose};
        philox.scramble(x);
        state[part][2 * half] = std::uint64_t{x[0]} << 32 | x[1];
        state[part][2 * half + 1] = std::uint64_t{x[2]} << 32 | x[3];
      }
  }
};

INLINE Bits rotated(Bits x, int left) { return x << left | x >> (64 - left); }

INLINE Bits next_bits(WideStream& stream) {
  Bits* s = stream.state;
  const Bits found = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotated(s[3], 45);
  return found;
}

// Between 0 and 1, of the high bits.
INLINE Lanes uniform_of(Bits bits) { return Lanes(bits >> 12 | Bits(all(1))) - (1 - 0x1p-53); }
INLINE Lanes uniforms(WideStream& stream) { return uniform_of(next_bits(stream)); }

INLINE double uniform(WideStream& stream) {
  if (stream.n_left == 0) {
    write(uniforms(stream), stream.left);
    stream.n_left = lanes;
  }
  return stream.left[--stream.n_left];
}

// Box & Muller's: a direction within 45 degrees of an axis, and two low bits that say which.
struct Normals {
  Lanes first, second;
};
INLINE Normals normals(WideStream& stream) {
  const Lanes square = -2 * logarithm(uniforms(stream)), radius = square * inverse_root(square);
  const Bits bits = next_bits(stream), is_steep = -(bits & 1), sign = bits << 62 & 0x8000000000000000;
  const Direction found = direction((uniform_of(bits) - 0.5) * 1.5707963267948966);
  const Lanes along = radius * Lanes(Bits(found.cosine) ^ sign), across = radius * found.sine;
  return {chosen(is_steep, across, along), chosen(is_steep, along, across)};
}

// Marsaglia & Tsang (2000), https://doi.org/10.1145/358407.358414, for shapes of at least 1: what normal numbers
// are accepted, and the gamma numbers that they then give.
struct Trial {
  Lanes value;
  Bits is_accepted;
};
INLINE Trial gamma_trial(Lanes shape, Lanes normal, WideStream& stream) {
  const Lanes d = shape - 1 / 3.0, root = 1 + normal * inverse_root(9 * d), u = uniforms(stream);
  const Lanes v = larger(root * root * root, 1e-300), square = normal * normal;
  Bits accepted = Bits(u < 1 - 0.0331 * square * square);
  if (is_any(~accepted))
    accepted |= Bits(logarithm(u) < 0.5 * square + d * (1 - v + logarithm(v)));
  return {d * v, accepted & Bits(root > 0)};
}

// Gamma numbers x of these shapes; a shape below 1 takes a power of a uniform number times a gamma number of 1 more.
WIDEST static void draw_gamma(const double* shape, double* x, Count size, WideStream& stream) {
  for (Count i = 0; i < size; i += 2 * lanes) {
    double some[2 * lanes], found[2 * lanes];
    const Count n = std::min<Count>(2 * lanes, size - i);
    std::fill_n(std::copy_n(shape + i, n, some), 2 * lanes - n, 1);
    const Lanes own[2] = {read(some), read(some + lanes)};
    Lanes drawn[2] = {all(0), all(0)};
    Bits open[2] = {Bits(own[0] > 0), Bits(own[1] > 0)};
    do {
      const Normals normal = normals(stream);
      for (int half = 0; half < 2; ++half) {
        const Lanes raised = own[half] + chosen(Bits(own[half] < 1), all(1), all(0));
        const Trial trial = gamma_trial(raised, half ? normal.second : normal.first, stream);
        drawn[half] = chosen(open[half] & trial.is_accepted, trial.value, drawn[half]);
        open[half] &= ~trial.is_accepted;
      }
    } while (is_any(open[0] | open[1]));
    for (int half = 0; half < 2; ++half) {
      const Bits is_small = Bits(own[half] < 1);
      if (is_any(is_small)) {
        const Lanes power = exponential(larger(logarithm(uniforms(stream)) / own[half], -700));
        drawn[half] = chosen(is_small, drawn[half] * power, drawn[half]);
      }
      write(drawn[half], found + half * lanes);
    }
    std::copy_n(found, n, x + i);
  }
}

}  // namespace reliabayes
