// Guesses and their density in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

namespace reliabayes {

// Derivatives of a function of guesses.
struct GuessGradient {
  Matrix by_score;
  Vector by_shape;
};

// Distributions of guesses with Dirichlet concentrations ``shape``, of scores of the log odds of each
// category against all later ones; given expected guesses, scores are nearly standard normal. Rows are
// raters, and the last category has no column of its own in what belongs to log odds.
class Guesses {
 public:
  Guesses(const Matrix& score, const Vector& shape, const ConstMatrix& guessed);

  const Matrix& probability() const { return probability_; }  // 0 beyond the smallest number
  const Matrix& log_probability() const { return log_probability_; }
  // Log of the derivatives of all log odds by their scores, in total.
  double log_slope() const;

  // From derivatives by the logarithms of probabilities; ``by_sd`` is the part of the slopes in what is
  // differentiated, a number of times `log_slope`.
  GuessGradient gradient(const Matrix& by_log_probability, double by_log_slope) const;

 private:
  const Matrix& score_;
  Matrix own_, later_;  // concentrations and guesses of a category, and of all later ones, less 0.5
  Matrix sd_, skew_, root_, slope_;  // of log odds; what bends them, and their derivative by the score
  Matrix taken_, probability_, log_probability_;
};

// The log density of the scores but for the constant of the Dirichlet distribution, and its gradient if one
// is asked for.
double guess_density(const Guesses& guesses, const Vector& shape, GuessGradient* gradient);

}  // namespace reliabayes
