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
    : raters_(score.rows()), last_(score.cols()), blocks_(in_whole_lanes(raters_) / lanes),
      score_(last_ * blocks_), by_own_(score_.size()), by_later_(score_.size()), sd_(score_.size()),
      inverse_sd_(score_.size()), skew_(score_.size()), square_(score_.size()),
      inverse_root_(score_.size()), slope_(score_.size()), taken_(score_.size()),
      probability_(raters_, last_ + 1), log_probability_(raters_, last_ + 1) {
  tabulate(score, shape, guessed);
}

// Loops are short, so that the processor begins with the next four raters before it has finished these.
WIDEST void Guesses::tabulate(const Matrix& score, const Vector& shape, const ConstMatrix& guessed) {
  const std::size_t size = score_.size();
  Table own(size), later(size), log_odds(size), log_larger(size), left(size);
  for (Eigen::Index j = 0, block = 0; j < raters_; j += lanes, ++block) {
    Lanes of_later = read_some(guessed.col(last_).data() + j, raters_ - j, 1) + shape(last_);
    for (Eigen::Index k = last_ - 1; k >= 0; --k) {
      const Lanes each = read_some(guessed.col(k).data() + j, raters_ - j, 1) + shape(k);
      score_[k * blocks_ + block].lanes = read_some(&score(j, k), raters_ - j);
      own[k * blocks_ + block].lanes = each - 0.5;
      later[k * blocks_ + block].lanes = of_later - 0.5;
      of_later += each;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    const Lanes a = own[i].lanes, b = later[i].lanes, by_a = 1 / a, by_b = 1 / b;
    const Lanes variance = by_a + by_b, inverse = inverse_root(variance), sd = variance * inverse;
    const Lanes skew = (a - b) * (by_a * by_b) * inverse, bend = skew * score_[i].lanes * (1 / largest_bend);
    by_own_[i].lanes = by_a;
    by_later_[i].lanes = by_b;
    sd_[i].lanes = sd;
    inverse_sd_[i].lanes = inverse;
    skew_[i].lanes = skew;
    inverse_root_[i].lanes = inverse_root(1 + bend * bend);
  }
  for (std::size_t i = 0; i < size; ++i) {
    const Lanes z = score_[i].lanes, sd = sd_[i].lanes, skew = skew_[i].lanes, each = inverse_root_[i].lanes;
    const Lanes square = z * z * each / (3 * (1 + each));
    square_[i].lanes = square;
    slope_[i].lanes = sd * (1 + skew * z * each * (1 / 3.0));
    log_odds[i].lanes = logarithm(own[i].lanes * by_later_[i].lanes) + sd * (z + skew * (square - 1 / 6.0));
  }
  for (std::size_t i = 0; i < size; ++i) {
    const Logistic taken = logistic(log_odds[i].lanes);
    log_larger[i].lanes = -logarithm(1 + taken.odds);
    taken_[i].lanes = taken.value;
    left[i].lanes = taken.rest;
  }
  for (Eigen::Index j = 0, block = 0; j < raters_; j += lanes, ++block) {
    Lanes rest = all(1), log_rest = all(0);  // for later categories
    for (Eigen::Index k = 0; k < last_; ++k) {
      const Eigen::Index i = k * blocks_ + block;
      const Lanes odds = log_odds[i].lanes, size = absolute(odds), log_each = log_rest + log_larger[i].lanes;
      write_some(rest * taken_[i].lanes, &probability_(j, k), raters_ - j);
      rest *= left[i].lanes;
      // The log of the less probable is that of the other, less the size of the log odds. If these are no number, both
      // are none.
      write_some(log_each + 0.5 * (odds - size), &log_probability_(j, k), raters_ - j);
      log_rest = log_each - 0.5 * (odds + size);
    }
    write_some(rest, &probability_(j, last_), raters_ - j);
    write_some(log_rest, &log_probability_(j, last_), raters_ - j);
  }
}

double Guesses::log_slope() const {
  double total = 0, product = 1;  // the value is total + log(product)
  for (Eigen::Index k = 0; k < last_; ++k)
    for (Eigen::Index j = 0; j < raters_; ++j) {
      product *= slope_[k * blocks_ + j / lanes].lanes[j % lanes];
      if (product > 1e-200 && product < 1e200) continue;
      total += std::log(product);
      product = 1;
    }
  return total + std::log(product);
}

WIDEST GuessGradient Guesses::gradient(const Matrix& by_log_probability, double by_log_slope) const {
  GuessGradient by{Matrix(raters_, last_), Vector::Zero(last_ + 1)};
  Table left(blocks_);  // by all logarithms from a category on
  for (Eigen::Index j = 0; j < raters_; j += lanes)
    left[j / lanes].lanes = read_some(&by_log_probability(j, last_), raters_ - j);
  double of_later = 0;
  Vector by_later(last_);
  for (Eigen::Index k = last_ - 1; k >= 0; --k) {
    Lanes by_own_shape = all(0), by_later_shape = all(0);
    for (Eigen::Index j = 0, block = 0; j < raters_; j += lanes, ++block) {
      const Eigen::Index i = k * blocks_ + block;
      const Lanes by_a = by_own_[i].lanes, by_b = by_later_[i].lanes, z = score_[i].lanes;
      const Lanes sd = sd_[i].lanes, inverse = inverse_sd_[i].lanes, skew = skew_[i].lanes;
      const Lanes square = square_[i].lanes, slope = slope_[i].lanes, by_root = inverse_root_[i].lanes;
      const Lanes by_log = read_some(&by_log_probability(j, k), raters_ - j);
      const Lanes by_slope = by_log_slope * places(raters_ - j);
      left[block].lanes += by_log;
      const Lanes by_log_odds = by_log - taken_[i].lanes * left[block].lanes;
      // The derivative by g z, where it is in the slope of h.
      const Lanes by_skewed = by_slope * sd * (by_root * by_root * by_root) / (3 * slope);
      write_some(slope * by_log_odds + skew * by_skewed, &by.by_score(j, k), raters_ - j);
      // The derivatives by the skewness, and by the ratio of a - b and a + b that it is with the sd.
      const Lanes by_skew = sd * by_log_odds * (square * by_root - 1 / 6.0) + z * by_skewed;
      const Lanes by_sum = by_a * by_b * inverse * inverse, by_ratio = 2 * sd * by_skew * by_sum;
      // The derivative by the square of the sd, 1 / a + 1 / b.
      const Lanes h = z + skew * (square - 1 / 6.0);
      const Lanes by_variance = 0.5 * inverse * (by_log_odds * h + (by_slope + skew * by_skew) * inverse);
      by_own_shape += by_a * (by_log_odds - by_a * by_variance + by_ratio * (inverse * inverse));
      by_later_shape -= by_b * (by_log_odds + by_b * by_variance + by_ratio * (inverse * inverse));
    }
    by.by_shape(k) = sum_of(by_own_shape);
    by_later(k) = sum_of(by_later_shape);
  }
  for (Eigen::Index k = 0; k <= last_; ++k) {
    by.by_shape(k) += of_later;
    if (k < last_) of_later += by_later(k);
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
