// Guesses and their density in numbers that Stan need not know of.
#pragma once
#include "lanes.hpp"
#include "linear_algebra.hpp"

#include <vector>

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

  // At least e^-700 of what earlier categories leave, also where its log is less, or no number.
  const Matrix& probability() const { return probability_; }
  const Matrix& log_probability() const { return log_probability_; }
  // Log of the derivatives of all log odds by their scores, in total.
  double log_slope() const;

  // From derivatives by the logarithms of probabilities; ``by_log_slope`` is the part of the slopes in what is
  // differentiated, a number of times `log_slope`.
  GuessGradient gradient(const Matrix& by_log_probability, double by_log_slope) const;

 private:
  using Table = std::vector<Aligned>;  // by category but the last and by rater, in whole lanes

  const Eigen::Index raters_, last_, blocks_;  // raters, the last category, and blocks of four raters
  // Scores; inverse concentrations, with guesses and less 0.5, of a category and of all later ones.
  Table score_, by_own_, by_later_;
  Table sd_, inverse_sd_, skew_;       // of log odds
  Table square_, inverse_root_, slope_;  // what bends them, and their derivative by the score
  Table taken_;                        // of what earlier categories leave
  Matrix probability_, log_probability_;

  void tabulate(const Matrix& score, const Vector& shape, const ConstMatrix& guessed);
};

// The log density of the scores but for the constant of the Dirichlet distribution, and its gradient if one
// is asked for.
double guess_density(const Guesses& guesses, const Vector& shape, GuessGradient* gradient);

}  // namespace reliabayes
