// A Metropolis step of two numbers, whose proposal is centred where Newton's method leads from the present ones.
//
// Gamerman (1997), https://doi.org/10.1023/A:1018509429360; Neal (1995), https://arxiv.org/abs/bayes-an/9506004.
#pragma once
#include "wide_random.hpp"

#include <cmath>

namespace reliabayes {

struct Population {
  double location, spread;
};

// A log density with its slopes by location and spread, and how it curves downwards: by location twice, by both, and
// by spread twice. The curvature may be approximate, but must be positive.
struct Curve {
  double value, slope[2], curvature[3];
};

// A normal density around where Newton's method leads, with the precision L L' that the curvature says.
struct Normal {
  Population mean;
  double first, cross, second;  // L: by location, by both, by spread

  Normal(const Population& at, const Curve& curve)
      : first(std::sqrt(curve.curvature[0])), cross(curve.curvature[1] / first),
        second(std::sqrt(curve.curvature[2] - cross * cross)) {
    const double u = curve.slope[0] / first, v = (curve.slope[1] - cross * u) / second;
    mean = {at.location + (u - cross * v / second) / first, at.spread + v / second};
  }
};

// Where a step from a place is centred, and the log density of a step that ends elsewhere.
inline Population centre(const Normal& of, const Population& from) {
  return {of.mean.location - opposed * (from.location - of.mean.location),
          of.mean.spread - opposed * (from.spread - of.mean.spread)};
}
inline double log_density_of_step(const Normal& of, const Population& from, const Population& to) {
  const Population around = centre(of, from);
  const double location = to.location - around.location, spread = to.spread - around.spread;
  const double x = of.first * location + of.cross * spread, y = of.second * spread;
  return std::log(of.first * of.second) - 0.5 * (x * x + y * y) / fresh_square;
}

// The next of a chain of locations and spreads that have a density, whose curve is given. Numbers that overflow stay.
template <typename CurveAt>
Population moved(const Population& at, WideStream& stream, const CurveAt& curve_at) {
  const Curve here = curve_at(at);
  const Normal forth(at, here);
  const Normals some = normals(stream);
  const double fresh = std::sqrt(fresh_square), y = fresh * some.second[0] / forth.second;
  Population found = centre(forth, at);
  found.spread += y;
  found.location += (fresh * some.first[0] - forth.cross * y) / forth.first;
  const Curve there = curve_at(found);
  const double ratio = there.value - here.value + log_density_of_step(Normal(found, there), found, at) -
                       log_density_of_step(forth, at, found);
  return std::log(uniform(stream)) < ratio ? found : at;
}

}  // namespace reliabayes
