#include "ordinal_mixture_pass.hpp"

#include "ordinal_table.hpp"

namespace reliabayes {

double ordinal_mixture_pass(const Vector& level, const Vector& effect, const Vector& cut,
                            bool probit, const ConstVector& weight, const DistinctItems& data,
                            OrdinalMixtureGradient* gradient) {
  const OrdinalTable table(level, effect.array(), cut, probit);
  const FactorTable factors = FactorTable::of(table.probability);
  const Matrix log_weight = weight.array().log();
  if (gradient == nullptr) return item_mixture_pass(factors, log_weight, data, nullptr);
  const Eigen::Index states = effect.size();
  ItemMixtureGradient by{Matrix::Zero(states, table.probability.cols()), Matrix::Zero(states, 1)};
  const double value = item_mixture_pass(factors, log_weight, data, &by);
  const OrdinalGradient found(table, by.by_table);
  *gradient = {found.by_level, found.by_effect, found.by_cut};
  return value;
}

}  // namespace reliabayes
