// Errors of raters whose log odds come from a population, see functions/errors.stanfunctions.
//
// There are thousands of log odds, and the ratings need little time beside them: each function takes and
// gives them all in one node of Stan's reverse mode. Arrays run over errors, vectors over raters.
#pragma once
#include "linear_algebra.hpp"

#include <stan/math.hpp>

#include <ostream>

namespace reliabayes {

template <typename T>
using ByError = std::vector<Eigen::Matrix<T, Eigen::Dynamic, 1>>;

// Values (raters, errors) with their derivatives by the location and the spread of their error.
struct OfPopulation {
  Matrix value, by_location, by_spread;

  OfPopulation(Eigen::Index raters, Eigen::Index errors)
      : value(raters, errors), by_location(Matrix::Zero(raters, errors)), by_spread(raters, errors) {}
};

template <typename Location, typename Spread>
ByError<stan::return_type_t<Location, Spread>> by_error(const OfPopulation& found,
                                                        const Location& location,
                                                        const Spread& spread) {
  using T = stan::return_type_t<Location, Spread>;
  ByError<T> result(found.value.cols());
  if constexpr (stan::is_constant_all<Location, Spread>::value) {
    for (std::size_t e = 0; e < result.size(); ++e) result[e] = found.value.col(e);
  } else {
    stan::arena_t<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> value = found.value;
    for (std::size_t e = 0; e < result.size(); ++e) result[e] = value.col(e);
    stan::arena_t<Location> l = location;
    stan::arena_t<Spread> s = spread;
    const stan::arena_t<Matrix> by_location = found.by_location, by_spread = found.by_spread;
    stan::math::reverse_pass_callback([=]() mutable {
      const Matrix adjoint = value.adj();
      if constexpr (!stan::is_constant<Location>::value)
        l.adj() += by_location.cwiseProduct(adjoint).colwise().sum().transpose();
      s.adj() += by_spread.cwiseProduct(adjoint).colwise().sum().transpose();
    });
  }
  return result;
}

template <typename Location, typename Spread>
ByError<stan::return_type_t<Location, Spread>> expected_effects(
    const Location& location, const Spread& spread, const std::vector<Vector>& mean,
    const std::vector<Vector>& precision, std::ostream* = nullptr) {
  const Vector l = stan::math::value_of(location), s = stan::math::value_of(spread);
  OfPopulation found(mean[0].size(), mean.size());
  for (std::size_t e = 0; e < mean.size(); ++e) {
    const Eigen::ArrayXd away = mean[e].array() - l(e), p = precision[e];
    const Eigen::ArrayXd ratio = s(e) * s(e) * p; // variance of the log odds over that of their mean
    found.value.col(e) = s(e) * p * away / (1 + ratio);
    found.by_location.col(e) = -s(e) * p / (1 + ratio);
    found.by_spread.col(e) = p * away * (1 - ratio) / (1 + ratio).square();
  }
  return by_error(found, location, spread);
}

template <typename Spread>
ByError<stan::return_type_t<Spread>> sd_effects(const Spread& spread,
                                                const std::vector<Vector>& precision,
                                                std::ostream* = nullptr) {
  const Vector s = stan::math::value_of(spread);
  OfPopulation found(precision[0].size(), precision.size());
  for (std::size_t e = 0; e < precision.size(); ++e) {
    const Eigen::ArrayXd p = precision[e];
    const Eigen::ArrayXd variance = 1 / (1 + s(e) * s(e) * p);
    found.value.col(e) = variance.sqrt();
    found.by_spread.col(e) = -s(e) * p * variance * variance.sqrt();
  }
  return by_error(found, Vector(Vector::Zero(s.size())), spread);
}

template <typename Location, typename Spread, typename Effect>
Eigen::Matrix<stan::return_type_t<Location, Spread, Effect>, Eigen::Dynamic, Eigen::Dynamic>
error_table(const Location& location, const Spread& spread, const std::vector<Effect>& effect, int K,
            std::ostream* = nullptr) {
  using T = stan::return_type_t<Location, Spread, Effect>;
  const Vector l = stan::math::value_of(location), s = stan::math::value_of(spread);
  const Eigen::Index raters = effect[0].size(), errors = effect.size();
  const auto column = [=](int truth, int category) { // of an error, or -1 for the right category
    return category == truth ? -1 : truth * (K - 1) + category - (category > truth);
  };
  Matrix e(raters, errors), table(K, K * raters);
  for (Eigen::Index k = 0; k < errors; ++k) e.col(k) = stan::math::value_of(effect[k]);
  for (int truth = 0; truth < K; ++truth) {
    Eigen::ArrayXd total = Eigen::ArrayXd::Ones(raters);
    for (int category = 0; category < K; ++category) {
      const int k = column(truth, category);
      auto row = table.row(truth).segment(category * raters, raters);
      if (k < 0) row.setZero();
      else row = (l(k) + s(k) * e.col(k).array()).matrix();
      if (k >= 0) total += row.transpose().array().exp();
    }
    const Eigen::RowVectorXd right = -total.log().matrix().transpose();
    for (int category = 0; category < K; ++category)
      table.row(truth).segment(category * raters, raters) += right;
  }
  if constexpr (std::is_same_v<T, double>) {
    return table;
  } else {
    stan::arena_t<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> result = table;
    stan::arena_t<Location> at = location;
    stan::arena_t<Spread> of = spread;
    stan::arena_t<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> effects(raters, errors);
    for (Eigen::Index k = 0; k < errors; ++k) effects.col(k) = effect[k];
    stan::math::reverse_pass_callback([=]() mutable {
      const Matrix adjoint = result.adj(), probability = result.val().array().exp();
      const auto cells = [=](const Matrix& of, int truth, int category) {
        return of.row(truth).segment(category * raters, raters).transpose();
      };
      for (int truth = 0; truth < K; ++truth) {
        Vector total = Vector::Zero(raters);
        for (int category = 0; category < K; ++category) total += cells(adjoint, truth, category);
        for (int category = 0; category < K; ++category) {
          const int k = column(truth, category);
          if (k < 0) continue;
          const Vector by_log_odds = cells(adjoint, truth, category) -
                                     cells(probability, truth, category).cwiseProduct(total);
          at(k).adj() += by_log_odds.sum();
          of(k).adj() += by_log_odds.dot(effects.col(k).val());
          effects.col(k).adj() += of(k).val() * by_log_odds;
        }
      }
    });
    return result;
  }
}

}  // namespace reliabayes

using reliabayes::error_table;
using reliabayes::expected_effects;
using reliabayes::sd_effects;
