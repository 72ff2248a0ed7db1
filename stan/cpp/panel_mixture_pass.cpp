#include "panel_mixture_pass.hpp"

#include "columns.hpp"

#include <algorithm>
#include <limits>

namespace reliabayes {

namespace {

// Entries between two positions, which have one misreading matrix.
struct Block {
  Eigen::Index matrix, first, number;
};

std::vector<Block> blocks_of(const Integers& matrix_of) {
  std::vector<Block> found;
  for (auto begin = matrix_of.begin(), end = begin; begin != matrix_of.end(); begin = end) {
    end = std::upper_bound(begin, matrix_of.end(), *begin);
    found.push_back({*begin - 1, begin - matrix_of.begin(), end - begin});
  }
  return found;
}

// What entries were divided by, in logarithms: each as often as items have it.
double total_of_scales(const Vector& log_scale, Eigen::Index by_people, const DistinctItems& data) {
  double total = 0;
  for (std::size_t i = 0; i < data.multiplicity.size(); ++i)
    for (int at = data.first[i] - 1; at < data.first[i + 1] - 1; ++at)
      if (data.cell[at] > by_people)
        total += data.multiplicity[i] * data.count[at] * log_scale[data.cell[at] - by_people - 1];
  return total;
}

}  // namespace

double panel_mixture_pass(const Matrix& people, const Matrix& log_reading, const Matrix& misreading,
                          const Matrix& log_weight, const FamilyEntries& families,
                          const DistinctItems& data, PanelGradient* gradient) {
  const Eigen::Index categories = log_weight.rows(), entries = families.matrix_of.size();
  const Eigen::Index by_people = people.cols();
  const std::vector<Block> blocks = blocks_of(families.matrix_of);
  const auto matrix = [&](const Matrix& of, const Block& block) {
    return of.middleCols(block.matrix * categories, categories);
  };
  if (gradient != nullptr)  // also where the density is no number
    *gradient = {Matrix::Zero(categories, by_people), Matrix::Zero(categories, log_reading.cols()),
                 Matrix::Zero(categories, misreading.cols()), Matrix::Zero(categories, log_weight.cols())};
  // Of each entry, by category that the family reads: the probability of the judges' answers. Where it is
  // too small to be multiplied, it is in units of the largest.
  Matrix answers(categories, entries);
  Vector log_scale;
  const Matrix reading = log_reading.array().exp();
  const Vector ones = Vector::Ones(categories);
  for (Eigen::Index c = 0; c < entries; ++c) {
    const int begin = families.first[c] - 1, end = families.first[c + 1] - 1;
    const double sum = multiply_columns(answers.col(c).data(), ones.data(), categories, reading.data(),
                                        families.reading.data() + begin, end - begin);
    if (sum > smallest_product) continue;
    auto own = answers.col(c);
    own.setZero();
    for (int at = begin; at < end; ++at) own += log_reading.col(families.reading[at] - 1);
    const double largest = own.maxCoeff();
    if (!(largest > -std::numeric_limits<double>::infinity())) return largest;  // or NaN
    own = (own.array() - largest).exp();
    if (log_scale.size() == 0) log_scale = Vector::Zero(entries);
    log_scale[c] = largest;
  }
  Matrix factor(categories, by_people + entries);
  factor.leftCols(by_people) = people.array().exp();
  for (const Block& block : blocks)
    factor.middleCols(by_people + block.first, block.number).noalias() =
        matrix(misreading, block) * answers.middleCols(block.first, block.number);
  const double scales = log_scale.size() == 0 ? 0 : total_of_scales(log_scale, by_people, data);
  const FactorTable factors = FactorTable::of(std::move(factor));
  if (gradient == nullptr) return scales + item_mixture_pass(factors, log_weight, data, nullptr);

  ItemMixtureGradient by{Matrix::Zero(categories, by_people + entries), gradient->by_weight};
  const double value = item_mixture_pass(factors, log_weight, data, &by);
  gradient->by_people = by.by_table.leftCols(by_people);
  gradient->by_weight = by.by_weight;
  const auto by_log = by.by_table.rightCols(entries).array();
  const Matrix by_truth = (by_log == 0).select(0, by_log / factors.factor().rightCols(entries).array());
  Matrix by_answers(categories, entries);
  for (const Block& block : blocks) {
    const auto own = by_truth.middleCols(block.first, block.number);
    gradient->by_misreading.middleCols(block.matrix * categories, categories).noalias() =
        own * answers.middleCols(block.first, block.number).transpose();
    by_answers.middleCols(block.first, block.number).noalias() = matrix(misreading, block).transpose() * own;
  }
  by_answers.array() *= answers.array();
  for (Eigen::Index c = 0; c < entries; ++c) {
    const double* const own = by_answers.col(c).data();
    for (int at = families.first[c] - 1; at < families.first[c + 1] - 1; ++at) {
      double* const sum = gradient->by_reading.data() + (families.reading[at] - 1) * categories;
      for (Eigen::Index k = 0; k < categories; ++k) sum[k] += own[k];
    }
  }
  return scales + value;
}

}  // namespace reliabayes
