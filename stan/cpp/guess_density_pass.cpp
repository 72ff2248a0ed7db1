#include "guess_density_pass.hpp"

#include <cmath>

namespace reliabayes {

// Log odds are log(a / b) + sd h(z, g) for a score z, where g is their skewness to first order and
//
//     h(z, g) = z + g (z^2 / (3 (r + 1)) - 1 / 6),   r = sqrt(1 + (g z / largest_bend)^2),
//
// the Cornish-Fisher expansion where g z is small. Its derivative by z, 1 + g z / (3 r), is positive because
// |g z / r| < largest_bend < 3. The same number stands in guess_centring.py.
static constexpr double largest_bend = 2.5;

Guesses::Guesses(const Matrix& score, const Vector& shape, const ConstMatrix& guessed)
    : score_(score), own_(score.rows(), score.cols()), later_(score.rows(), score.cols()),
      sd_(score.rows(), score.cols()), skew_(score.rows(), score.cols()),
      root_(score.rows(), score.cols()), slope_(score.rows(), score.cols()),
      taken_(score.rows(), score.cols()), probability_(score.rows(), score.cols() + 1),
      log_probability_(score.rows(), score.cols() + 1) {
  const Eigen::Index last = score.cols();
  Eigen::ArrayXd later = guessed.col(last).array() + (shape(last) - 0.5);
  for (Eigen::Index k = last - 1; k >= 0; --k) {
    own_.col(k) = guessed.col(k).array() + (shape(k) - 0.5);
    later_.col(k) = later;
    later += guessed.col(k).array() + shape(k);
  }
  Eigen::ArrayXd left = Eigen::ArrayXd::Ones(score.rows());  // for later categories, and its log
  Eigen::ArrayXd rest = Eigen::ArrayXd::Zero(score.rows());
  for (Eigen::Index k = 0; k < last; ++k) {
    const auto a = own_.col(k).array(), b = later_.col(k).array();
    const auto z = score.col(k).array();
    const Eigen::ArrayXd sd = ((a + b) / (a * b)).sqrt();
    const Eigen::ArrayXd skew = sd * (a - b) / (a + b), skewed = skew * z;
    const Eigen::ArrayXd root = (1 + (skewed / largest_bend).square()).sqrt();
    const Eigen::ArrayXd log_odds =
        (a / b).log() + sd * (z + skewed * z / (3 * (root + 1)) - skew / 6);
    sd_.col(k) = sd;
    skew_.col(k) = skew;
    root_.col(k) = root;
    slope_.col(k) = sd * (1 + skewed / (3 * root));
    const Eigen::ArrayXd odds = (-log_odds.abs()).exp();  // of the less probable of the two
    const Eigen::ArrayXd log_larger = -(1 + odds).log();
    const Eigen::ArrayXd larger = 1 / (1 + odds), smaller = odds * larger;
    taken_.col(k) = (log_odds > 0).select(larger, smaller);
    probability_.col(k) = left * taken_.col(k).array();
    left *= (log_odds > 0).select(smaller, larger);
    log_probability_.col(k) = rest + log_larger + log_odds.min(0.0);
    rest += log_larger - log_odds.max(0.0);
  }
  probability_.col(last) = left;
  log_probability_.col(last) = rest;
}

double Guesses::log_slope() const {
  double total = 0, product = 1;  // the value is total + log(product)
  for (Eigen::Index i = 0; i < slope_.size(); ++i) {
    product *= slope_(i);
    if (product > 1e-200 && product < 1e200) continue;
    total += std::log(product);
    product = 1;
  }
  return total + std::log(product);
}

GuessGradient Guesses::gradient(const Matrix& by_log_probability, double by_log_slope) const {
  const Eigen::Index last = score_.cols();
  GuessGradient by{Matrix(score_.rows(), last), Vector::Zero(last + 1)};
  Eigen::ArrayXd left = by_log_probability.col(last);  // by all logarithms from a category on
  double by_earlier = 0;
  Vector by_later(last);
  for (Eigen::Index k = last - 1; k >= 0; --k) {
    const auto a = own_.col(k).array(), b = later_.col(k).array();
    const auto z = score_.col(k).array();
    const auto sd = sd_.col(k).array(), skew = skew_.col(k).array();
    const auto root = root_.col(k).array(), slope = slope_.col(k).array();
    left += by_log_probability.col(k).array();
    const Eigen::ArrayXd by_log_odds = by_log_probability.col(k).array() - taken_.col(k).array() * left;
    // The derivative by g z, where it is in the slope of h.
    const Eigen::ArrayXd by_skewed = by_log_slope * sd / (3 * root.cube() * slope);
    by.by_score.col(k) = slope * by_log_odds + skew * by_skewed;
    // The derivatives by the skewness, and by the ratio of a - b and a + b that it is with the sd.
    const Eigen::ArrayXd square = z.square() / (3 * (root + 1));
    const Eigen::ArrayXd by_skew = sd * by_log_odds * (square / root - 1.0 / 6) + z * by_skewed;
    const Eigen::ArrayXd by_ratio = 2 * sd * by_skew / (a + b).square();
    // The derivative by the square of the sd, 1 / a + 1 / b.
    const Eigen::ArrayXd h = z + skew * (square - 1.0 / 6);
    const Eigen::ArrayXd by_variance =
        0.5 * (by_log_odds * h + (by_log_slope + skew * by_skew) / sd) / sd;
    by.by_shape(k) = ((by_log_odds - by_variance / a) / a + by_ratio * b).sum();
    by_later(k) = -((by_log_odds + by_variance / b) / b + by_ratio * a).sum();
  }
  for (Eigen::Index k = 0; k <= last; ++k) {
    by.by_shape(k) += by_earlier;
    if (k < last) by_earlier += by_later(k);
  }
  return by;
}

double guess_density(const Guesses& guesses, const Vector& shape, GuessGradient* gradient) {
  const Matrix& log_probability = guesses.log_probability();
  const Vector logs = log_probability.colwise().sum();
  if (gradient != nullptr) {
    *gradient = guesses.gradient(shape.transpose().replicate(log_probability.rows(), 1), 1);
    gradient->by_shape += logs;
  }
  return shape.dot(logs) + guesses.log_slope();
}

}  // namespace reliabayes
