// Raters with ratings of items of one true category, side by side, and what is computed of four of them at a time.
#pragma once
#include "newton.hpp"
#include "slice.hpp"

#include <cmath>
#include <vector>

namespace reliabayes {

// What the ratings of each rater say of one error. Raters that fill up the last lanes have no ratings.
struct Raters {
  Count size = 0, padded = 0;
  std::vector<Count> number;                 // of those with ratings, then of all others
  std::vector<double> total, wrong;          // ratings
  std::vector<double> level;                 // of the log odds of all errors
  std::vector<double> others;                // odds of other ratings against the right one; their log, less level
  std::vector<double> log_odds, precision;   // of a normal approximation of the likelihood
  std::vector<double> effect, score;         // after the padding, effects have room for all others

  explicit Raters(Count most) : number(most) {
    for (auto* each : {&total, &wrong, &level, &others, &log_odds, &precision, &effect, &score})
      each->resize(most + lanes);
  }
  void resize(Count n) {
    size = n;
    padded = in_whole_lanes(n);
    for (Count i = n; i < padded; ++i) {
      total[i] = wrong[i] = level[i] = precision[i] = effect[i] = score[i] = 0;
      others[i] = 1;
    }
  }
};

// Normal numbers, and odds of errors.
WIDEST static void draw_normal(double* x, Count size, WideStream& stream) {
  double some[2 * lanes];
  for (Count i = 0; i < size; i += 2 * lanes) {
    const Normals found = normals(stream);
    write(found.first, some);
    write(found.second, some + lanes);
    std::copy(some, some + std::min<Count>(2 * lanes, size - i), x + i);
  }
}
// By error and rater; few raters share a register with those of the next error.
WIDEST static void odds_of(const double* effect, const double* level, Count raters, Count errors,
                           const double* location, const double* spread, double* odds) {
  const Count size = errors * raters;
  for (Count e = 0, i = 0; e < errors; ++e)
    for (Count j = 0; j < raters; ++j, ++i) odds[i] = location[e] + level[j] + spread[e] * effect[i];
  for (Count i = 0; i < size; i += lanes)
    write_some(exponential(larger(smaller(read_some(odds + i, size - i), 500), -700)), odds + i, size - i);
}

constexpr double pseudo = 2;  // ratings that those of all raters count as, in what is said of each

// A normal likelihood with the slope and the curvature of that of the ratings, where the error has a probability
// between that of the rater's ratings and that of all. It depends on nothing that is drawn next. The odds of others
// become their logs, less the level.
WIDEST static void approximate(Raters& raters, double common) {
  for (Count i = 0; i < raters.padded; i += lanes) {
    const Lanes total = read(&raters.total[i]), wrong = read(&raters.wrong[i]);
    const Lanes p = (wrong + pseudo * common) / (total + pseudo), precision = total * p * (1 - p);
    const Lanes others = logarithm(read(&raters.others[i])) - read(&raters.level[i]);
    const Lanes step = chosen(Bits(total > 0), (wrong - total * p) / precision, all(0));
    write(others, &raters.others[i]);
    write(precision, &raters.precision[i]);
    write(others + logarithm(p / (1 - p)) + step, &raters.log_odds[i]);
  }
}

INLINE Lanes log_likelihood(const Raters& raters, Count i, Lanes away) {
  return read(&raters.wrong[i]) * away - read(&raters.total[i]) * softplus(away).value;
}

// Each effect by slice sampling, in an interval of so many approximate sds.
WIDEST static void draw_effects(Raters& raters, const Population& of, double width, WideStream& stream) {
  for (Count i = 0; i < raters.padded; i += lanes) {
    const Lanes others = read(&raters.others[i]), precision = read(&raters.precision[i]);
    const auto log_density = [&](Lanes effect) __attribute__((always_inline)) {
      return log_likelihood(raters, i, of.location + of.spread * effect - others) - 0.5 * effect * effect;
    };
    const Lanes size = width * inverse_root(1 + of.spread * of.spread * precision);
    write(slice_sampled(read(&raters.effect[i]), size, stream, log_density), &raters.effect[i]);
  }
}

// If the likelihood of a rater's log odds were normal, with the approximate mean and precision, scores would be
// standard normal given the ratings, whatever location and spread are:
//
//     effect = scale^2 spread precision (mean - location) + scale score, scale = 1 / sqrt(1 + spread^2 precision)
struct Scale {
  Lanes scale, mean;
};
INLINE Scale scale_of(const Raters& raters, Count i, const Population& of) {
  const Lanes precision = read(&raters.precision[i]), scale = inverse_root(1 + of.spread * of.spread * precision);
  return {scale, scale * scale * of.spread * precision * (read(&raters.log_odds[i]) - of.location)};
}
// Each effect by a Metropolis step, whose proposals leave the normal approximation as it is.
WIDEST static void move_effects(Raters& raters, const Population& of, WideStream& stream) {
  const double fresh = std::sqrt(fresh_square);
  Normals some{};
  for (Count i = 0; i < raters.padded; i += lanes) {
    const bool is_first = i % (2 * lanes) == 0;
    if (is_first) some = normals(stream);
    const Scale own = scale_of(raters, i, of);
    const auto log_ratio = [&](Lanes effect, Lanes score) __attribute__((always_inline)) {
      const Lanes away = of.location + of.spread * effect - read(&raters.others[i]);
      return log_likelihood(raters, i, away) - 0.5 * (effect * effect - score * score);
    };
    const Lanes at = read(&raters.effect[i]), score = (at - own.mean) / own.scale;
    const Lanes other = fresh * (is_first ? some.first : some.second) - opposed * score;
    const Lanes found = own.mean + own.scale * other;
    const Lanes level = log_ratio(at, score) + logarithm(uniforms(stream));
    write(chosen(Bits(log_ratio(found, other) >= level), found, at), &raters.effect[i]);
  }
}

WIDEST static void set_scores(Raters& raters, const Population& of) {
  for (Count i = 0; i < raters.padded; i += lanes) {
    const Scale own = scale_of(raters, i, of);
    write((read(&raters.effect[i]) - own.mean) / own.scale, &raters.score[i]);
  }
}
WIDEST static void set_effects(Raters& raters, const Population& of) {
  for (Count i = 0; i < raters.padded; i += lanes) {
    const Scale own = scale_of(raters, i, of);
    write(own.mean + own.scale * read(&raters.score[i]), &raters.effect[i]);
  }
}

// What raters add to a curve.
struct Sums {
  Lanes value = all(0), slope[2] = {all(0), all(0)}, curvature[3] = {all(0), all(0), all(0)};
};
INLINE Curve curve_of(const Sums& of) {
  return {sum_of(of.value), {sum_of(of.slope[0]), sum_of(of.slope[1])},
          {sum_of(of.curvature[0]), sum_of(of.curvature[1]), sum_of(of.curvature[2])}};
}
INLINE void add_slopes(Sums& sums, Lanes slope, Lanes weight, Lanes by_location, Lanes by_spread) {
  sums.slope[0] += slope * by_location;
  sums.slope[1] += slope * by_spread;
  sums.curvature[0] += weight * by_location * by_location;
  sums.curvature[1] += weight * by_location * by_spread;
  sums.curvature[2] += weight * by_spread * by_spread;
}
INLINE void add_ratings(Sums& sums, const Raters& raters, Count i, Lanes away, Lanes by_location, Lanes by_spread) {
  const Lanes wrong = read(&raters.wrong[i]), total = read(&raters.total[i]);
  const Softplus plus = softplus(away);
  sums.value += wrong * away - total * plus.value;
  add_slopes(sums, wrong - total * plus.slope, total * plus.slope * (1 - plus.slope), by_location, by_spread);
}

// Log density of the ratings, given effects; and with its slopes.
WIDEST static double log_likelihood(const Raters& raters, const Population& at) {
  Lanes sum = all(0);
  for (Count i = 0; i < raters.padded; i += lanes)
    sum += log_likelihood(raters, i, at.location + at.spread * read(&raters.effect[i]) - read(&raters.others[i]));
  return sum_of(sum);
}
WIDEST static Curve curve_given_effects(const Raters& raters, const Population& at) {
  Sums sums;
  for (Count i = 0; i < raters.padded; i += lanes) {
    const Lanes effect = read(&raters.effect[i]);
    add_ratings(sums, raters, i, at.location + at.spread * effect - read(&raters.others[i]), all(1), effect);
  }
  return curve_of(sums);
}

// Log density of the ratings and of effects, given scores. The curvature leaves out how slopes themselves change.
WIDEST static Curve curve_given_scores(const Raters& raters, const Population& at) {
  Sums sums;
  Lanes scales = all(1);
  for (Count i = 0; i < raters.padded; i += lanes) {
    const Scale own = scale_of(raters, i, at);
    const Lanes square = own.scale * own.scale, pull = at.spread * read(&raters.precision[i]) * square;
    const Lanes toward = read(&raters.log_odds[i]) - at.location, rest = own.scale * read(&raters.score[i]);
    const Lanes effect = own.mean + rest;
    const Lanes by_spread = read(&raters.precision[i]) * toward * square * (1 - 2 * at.spread * pull) - pull * rest;
    add_ratings(sums, raters, i, at.location + at.spread * effect - read(&raters.others[i]), square,
                square * (2 * pull * toward + rest));
    sums.value -= 0.5 * effect * effect;
    add_slopes(sums, -effect, all(1), -pull, by_spread);
    sums.slope[1] -= pull;
    scales *= own.scale;
    if (i % (16 * lanes) == 0) {
      sums.value += logarithm(scales);
      scales = all(1);
    }
  }
  sums.value += logarithm(scales);
  return curve_of(sums);
}

}  // namespace reliabayes
