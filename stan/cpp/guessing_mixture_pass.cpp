#include "guessing_mixture_pass.hpp"

#include <limits>

namespace reliabayes {

// Probabilities that a rater knows the category of an item, and that he does not (rows: nodes, columns:
// raters).
struct Knowledge {
  Matrix known, unknown;

  Knowledge(const Vector& level, const Vector& difficulty) {
    const Matrix distance = level.transpose().replicate(difficulty.size(), 1).colwise() - difficulty;
    const Matrix odds = (-distance.array().abs()).exp();  // of the less probable of the two
    const Matrix smaller = odds.array() / (1 + odds.array());
    const auto likely = distance.array() > 0;
    known = likely.select(1 - smaller.array(), smaller.array());
    unknown = likely.select(smaller.array(), 1 - smaller.array());
  }
};

// Probabilities of ratings (rows: by node, then by true category; columns: by category, then by rater).
static Matrix probabilities(const Knowledge& p, const Matrix& guess) {
  const Eigen::Index raters = guess.rows(), categories = guess.cols(), nodes = p.known.rows();
  Matrix found(nodes * categories, raters * categories);
  for (Eigen::Index cell = 0; cell < found.cols(); ++cell) {
    const Eigen::Index rater = cell % raters, rated = cell / raters;
    const double guessed = guess(rater, rated);
    double* const column = found.col(cell).data();
    for (Eigen::Index q = 0; q < nodes; ++q) {
      for (Eigen::Index truth = 0; truth < categories; ++truth)
        column[q * categories + truth] = guessed * p.unknown(q, rater);
      column[q * categories + rated] += p.known(q, rater);
    }
  }
  return found;
}

double guessing_mixture_pass(const Vector& level, const Vector& difficulty, const Matrix& guess,
                             const Matrix& log_weight, const DistinctItems& data,
                             GuessingMixtureGradient* gradient) {
  const Eigen::Index raters = level.size(), nodes = difficulty.size(), categories = guess.cols();
  const Knowledge p(level, difficulty);
  const FactorTable table = FactorTable::of(probabilities(p, guess));
  const Matrix& factor = table.factor();
  if (gradient == nullptr) return item_mixture_pass(table, log_weight, data, nullptr);

  ItemMixtureGradient by{Matrix::Zero(factor.rows(), factor.cols()),
                         Matrix::Zero(log_weight.rows(), log_weight.cols())};
  const double value = item_mixture_pass(table, log_weight, data, &by);
  // By each factor; one that is zero rules its states out.
  by.by_table.array() /= factor.array().max(std::numeric_limits<double>::min());
  *gradient = {Vector::Zero(raters), Vector::Zero(nodes), Matrix(raters, categories), by.by_weight};
  Matrix by_known = Matrix::Zero(nodes, raters);
  for (Eigen::Index cell = 0; cell < factor.cols(); ++cell) {
    const Eigen::Index rater = cell % raters, rated = cell / raters;
    const double guessed = guess(rater, rated);
    const double* const column = by.by_table.col(cell).data();
    double by_guess = 0;
    for (Eigen::Index q = 0; q < nodes; ++q) {
      double sum = 0;
      for (Eigen::Index truth = 0; truth < categories; ++truth) sum += column[q * categories + truth];
      by_guess += sum * p.unknown(q, rater);
      by_known(q, rater) += column[q * categories + rated] - guessed * sum;
    }
    gradient->by_guess(rater, rated) = by_guess;
  }
  const Matrix by_log_odds = by_known.cwiseProduct(p.known).cwiseProduct(p.unknown);
  gradient->by_level = by_log_odds.colwise().sum();
  gradient->by_difficulty = -by_log_odds.rowwise().sum();
  return value;
}

}  // namespace reliabayes
