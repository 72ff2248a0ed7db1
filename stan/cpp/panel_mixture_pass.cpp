#include "panel_mixture_pass.hpp"

#include <limits>

namespace reliabayes {

double panel_mixture_pass(const Matrix& people, const Matrix& log_reading, const Matrix& misreading,
                          const Matrix& log_weight, const FamilyEntries& families,
                          const DistinctItems& data, PanelGradient* gradient) {
  const Eigen::Index categories = log_weight.rows(), entries = families.matrix_of.size();
  const Eigen::Index by_people = people.cols();
  const auto matrix = [&](const Matrix& of, Eigen::Index c) {
    return of.middleCols((families.matrix_of[c] - 1) * categories, categories);
  };
  Matrix table(categories, by_people + entries);
  table.leftCols(by_people) = people;
  // Of each entry, by category that the family reads: the probability of the judges' answers, of which the
  // largest is 1; and their probability by true category.
  Matrix answers(categories, entries), of_truth(categories, entries);
  for (Eigen::Index c = 0; c < entries; ++c) {
    auto own = answers.col(c);
    own.setZero();
    for (int at = families.first[c]; at < families.first[c + 1]; ++at)
      own += log_reading.col(families.reading[at - 1] - 1);
    const double largest = own.maxCoeff();
    if (!(largest > -std::numeric_limits<double>::infinity())) return largest;  // or NaN
    own = (own.array() - largest).exp();
    of_truth.col(c).noalias() = matrix(misreading, c) * own;
    table.col(by_people + c) = of_truth.col(c).array().log() + largest;
  }
  const FactorTable factors = FactorTable::of_logs(table);
  if (gradient == nullptr) return item_mixture_pass(factors, log_weight, data, nullptr);

  ItemMixtureGradient by{Matrix::Zero(categories, table.cols()),
                         Matrix::Zero(log_weight.rows(), log_weight.cols())};
  const double value = item_mixture_pass(factors, log_weight, data, &by);
  *gradient = {by.by_table.leftCols(by_people), Matrix::Zero(categories, log_reading.cols()),
               Matrix::Zero(categories, misreading.cols()), by.by_weight};
  Vector by_truth(categories), by_answers(categories);
  for (Eigen::Index c = 0; c < entries; ++c) {
    for (Eigen::Index truth = 0; truth < categories; ++truth) {
      const double derivative = by.by_table(truth, by_people + c);
      by_truth(truth) = derivative == 0 ? 0 : derivative / of_truth(truth, c);
    }
    gradient->by_misreading.middleCols((families.matrix_of[c] - 1) * categories, categories)
        .noalias() += by_truth * answers.col(c).transpose();
    by_answers.noalias() = matrix(misreading, c).transpose() * by_truth;
    by_answers.array() *= answers.col(c).array();
    for (int at = families.first[c]; at < families.first[c + 1]; ++at)
      gradient->by_reading.col(families.reading[at - 1] - 1) += by_answers;
  }
  return value;
}

}  // namespace reliabayes
