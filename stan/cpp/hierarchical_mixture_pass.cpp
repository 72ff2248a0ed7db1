#include "hierarchical_mixture_pass.hpp"

#include "effects.hpp"

#include <cmath>

namespace reliabayes {

constexpr double largest_log_odds = 300;  // beyond which probabilities need logarithms

// Probabilities of ratings (rows: true categories; columns: by category, then by rater) by log odds of errors.
static FactorTable probabilities(const Matrix& log_odds, Eigen::Index categories) {
  const Eigen::Index raters = log_odds.rows();
  Matrix table(categories, categories * raters);
  const bool moderate = log_odds.array().abs().maxCoeff() < largest_log_odds;
  for (Eigen::Index truth = 0; truth < categories; ++truth) {
    const auto own = log_odds.middleCols(truth * (categories - 1), categories - 1).array();
    Eigen::ArrayXd largest = Eigen::ArrayXd::Zero(raters);
    if (!moderate) largest = own.rowwise().maxCoeff().max(0.0);
    Eigen::ArrayXXd odds = (own.colwise() - largest).exp();
    const Eigen::ArrayXd total = (-largest).exp() + odds.rowwise().sum();
    for (Eigen::Index k = 0; k < categories; ++k) {
      auto row = table.row(truth).segment(k * raters, raters).transpose().array();
      const Eigen::Index error = k - (k > truth);
      if (moderate && k == truth) row = 1 / total;
      else if (moderate) row = odds.col(error) / total;
      else if (k == truth) row = -largest - total.log();
      else row = own.col(error) - largest - total.log();
    }
  }
  return moderate ? FactorTable::of(table) : FactorTable::of_logs(table);
}

double hierarchical_mixture_pass(const Vector& location, const Vector& level, const Vector& spread,
                                 const Matrix& score, const Matrix& log_weight,
                                 const OwnNumbers& own, const DistinctItems& data,
                                 HierarchicalGradient* gradient) {
  const Eigen::Index raters = score.rows(), errors = score.cols(), categories = log_weight.rows();
  std::vector<Effects> effects;
  effects.reserve(errors);
  Matrix log_odds(raters, errors);
  for (Eigen::Index e = 0; e < errors; ++e) {
    const Eigen::ArrayXd around = location(e) + level.array();
    effects.emplace_back(around, spread(e), score.col(e), own.mean.col(e), own.precision.col(e));
    log_odds.col(e) = around + spread(e) * effects[e].value;
  }
  const FactorTable table = probabilities(log_odds, categories);
  if (gradient == nullptr) return item_mixture_pass(table, log_weight, data, nullptr);

  ItemMixtureGradient by{Matrix::Zero(categories, categories * raters),
                         Matrix::Zero(log_weight.rows(), log_weight.cols())};
  const double value = item_mixture_pass(table, log_weight, data, &by);
  *gradient = {Vector(errors), Vector::Zero(raters), Vector(errors), Matrix(raters, errors),
               by.by_weight};
  const auto cells = [=](const Matrix& of, Eigen::Index truth, Eigen::Index category) {
    return of.row(truth).segment(category * raters, raters).transpose().array();
  };
  for (Eigen::Index truth = 0; truth < categories; ++truth) {
    Eigen::ArrayXd total = Eigen::ArrayXd::Zero(raters);
    for (Eigen::Index k = 0; k < categories; ++k) total += cells(by.by_table, truth, k);
    for (Eigen::Index k = 0; k < categories; ++k) {
      if (k == truth) continue;
      const Eigen::Index e = truth * (categories - 1) + k - (k > truth);
      const Effects& of = effects[e];
      const Eigen::ArrayXd by_log_odds =
          cells(by.by_table, truth, k) - cells(table.factor(), truth, k) * total;
      const Eigen::ArrayXd by_location = by_log_odds * (1 + spread(e) * of.by_location);
      gradient->by_location(e) = by_location.sum();
      gradient->by_level.array() += by_location;
      gradient->by_spread(e) = (by_log_odds * (of.value + spread(e) * of.by_spread)).sum();
      gradient->by_score.col(e) = spread(e) * by_log_odds * of.scale;
    }
  }
  return value;
}

}  // namespace reliabayes
