// Means and standard deviations of levels of raters, relative to which a program samples them.
//
// A rater's own ratings say that the level has mean m = stretch level_mean + distance and variance
// v = stretch^2 level_variance. With those of the rater's pool,
//
//     expected = m + k (mean - m),   sd = sd_pool sqrt(k),   k = v / (v + sd_pool^2).
//
// Each is one node of Stan's reverse mode. Arguments of pools have a number for each pool.
#pragma once
#include "linear_algebra.hpp"

#include <stan/math.hpp>

#include <cmath>
#include <ostream>

namespace reliabayes {

// A rater's own mean and variance, and what the pool's mean counts for.
struct OwnLevel {
  double mean, variance, of_pool;

  OwnLevel(double sd, double stretch, double distance, double level_mean, double level_variance)
      : mean(stretch * level_mean + distance),
        variance(stretch * stretch * level_variance),
        of_pool(variance / (variance + sd * sd)) {}
};

// Values by rater, whose adjoints are passed on to parameters of pools by `pass_on(rater, pool, adjoint)`.
template <typename PassOn>
Eigen::Matrix<stan::math::var, Eigen::Dynamic, 1> by_rater(const Vector& value, const Integers& pool,
                                                           PassOn pass_on) {
  using Result = Eigen::Matrix<stan::math::var, Eigen::Dynamic, 1>;
  stan::arena_t<Result> result = value;
  stan::math::reverse_pass_callback([result, &pool, pass_on]() mutable {
    for (Eigen::Index r = 0; r < result.size(); ++r)
      pass_on(r, pool[r] - 1, result.coeff(r).adj());
  });
  return result;
}

template <typename Argument>
void add_adjoint(Argument& argument, Eigen::Index at, double adjoint) {
  if constexpr (!stan::is_constant<Argument>::value) argument.coeffRef(at).adj() += adjoint;
}

template <typename Mean, typename Sd, typename Stretch, typename Distance>
Eigen::Matrix<stan::return_type_t<Mean, Sd, Stretch, Distance>, Eigen::Dynamic, 1> expected_levels(
    const Mean& mean, const Sd& sd, const Stretch& stretch, const Distance& distance,
    const Integers& pool, const ConstVector& level_mean, const ConstVector& level_variance,
    std::ostream* = nullptr) {
  const Vector m = stan::math::value_of(mean), s = stan::math::value_of(sd),
               t = stan::math::value_of(stretch), d = stan::math::value_of(distance);
  Vector value(level_mean.size());
  for (Eigen::Index r = 0; r < value.size(); ++r) {
    const int g = pool[r] - 1;
    const OwnLevel own(s(g), t(g), d(g), level_mean(r), level_variance(r));
    value(r) = own.mean + own.of_pool * (m(g) - own.mean);
  }
  if constexpr (stan::is_constant_all<Mean, Sd, Stretch, Distance>::value) {
    return value;
  } else {
    stan::arena_t<Mean> of_mean = mean;
    stan::arena_t<Sd> of_sd = sd;
    stan::arena_t<Stretch> of_stretch = stretch;
    stan::arena_t<Distance> of_distance = distance;
    stan::arena_t<Vector> m_ = m, s_ = s, t_ = t, d_ = d, mean_ = level_mean,
                          variance_ = level_variance;
    return by_rater(value, pool, [=](Eigen::Index r, int g, double adjoint) mutable {
      const OwnLevel own(s_(g), t_(g), d_(g), mean_(r), variance_(r));
      // Of k by v, times v.
      const double by_log_variance = own.of_pool * (1 - own.of_pool), away = m_(g) - own.mean;
      add_adjoint(of_mean, g, adjoint * own.of_pool);
      add_adjoint(of_distance, g, adjoint * (1 - own.of_pool));
      add_adjoint(of_sd, g, -2 * adjoint * away * by_log_variance / s_(g));
      add_adjoint(of_stretch, g,
                  adjoint * ((1 - own.of_pool) * mean_(r) + 2 * away * by_log_variance / t_(g)));
    });
  }
}

template <typename Sd, typename Stretch>
Eigen::Matrix<stan::return_type_t<Sd, Stretch>, Eigen::Dynamic, 1> sd_levels(
    const Sd& sd, const Stretch& stretch, const Integers& pool, const ConstVector& level_variance,
    std::ostream* = nullptr) {
  const Vector s = stan::math::value_of(sd), t = stan::math::value_of(stretch);
  Vector of_pool(level_variance.size()), value(level_variance.size());
  for (Eigen::Index r = 0; r < value.size(); ++r) {
    const int g = pool[r] - 1;
    of_pool(r) = OwnLevel(s(g), t(g), 0, 0, level_variance(r)).of_pool;
    value(r) = s(g) * std::sqrt(of_pool(r));
  }
  if constexpr (stan::is_constant_all<Sd, Stretch>::value) {
    return value;
  } else {
    stan::arena_t<Sd> of_sd = sd;
    stan::arena_t<Stretch> of_stretch = stretch;
    stan::arena_t<Vector> s_ = s, t_ = t, of_pool_ = of_pool, value_ = value;
    return by_rater(value, pool, [=](Eigen::Index r, int g, double adjoint) mutable {
      add_adjoint(of_sd, g, adjoint * value_(r) * of_pool_(r) / s_(g));
      add_adjoint(of_stretch, g, adjoint * value_(r) * (1 - of_pool_(r)) / t_(g));
    });
  }
}

}  // namespace reliabayes

using reliabayes::expected_levels;
using reliabayes::sd_levels;
