#include "score_density_pass.hpp"

#include "effects.hpp"

namespace reliabayes {

double score_density_pass(const Vector& location, const Vector& level, const Vector& spread,
                          const Matrix& score, const OwnNumbers& own, ScoreGradient* gradient) {
  const Eigen::Index errors = score.cols();
  if (gradient != nullptr)
    *gradient = {Vector(errors), Vector::Zero(score.rows()), Vector(errors), Matrix(score.rows(), errors)};
  double value = 0;
  for (Eigen::Index e = 0; e < errors; ++e) {
    const Effects of(location(e) + level.array(), spread(e), score.col(e), own.mean.col(e), own.precision.col(e));
    value += of.scale.log().sum() - 0.5 * of.value.square().sum();
    if (gradient == nullptr) continue;
    const Eigen::ArrayXd by_location = -of.value * of.by_location;
    gradient->by_location(e) = by_location.sum();
    gradient->by_level.array() += by_location;
    gradient->by_spread(e) = (of.scale_by_spread - of.value * of.by_spread).sum();
    gradient->by_score.col(e) = -of.value * of.scale;
  }
  return value;
}

}  // namespace reliabayes
