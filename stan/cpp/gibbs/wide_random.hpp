// Random numbers four at a time, for one purpose at one position in a sweep.
//
// Xoshiro256++, from 1,024 bits by Philox: Blackman & Vigna (2021), https://doi.org/10.1145/3460772.
#pragma once
#include "lanes.hpp"
#include "random.hpp"

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

}  // namespace reliabayes
