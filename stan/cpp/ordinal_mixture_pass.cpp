#include "ordinal_mixture_pass.hpp"

#include "ordinal_table.hpp"

namespace reliabayes {

double ordinal_mixture_pass(const Vector& level, const Vector& effect, const Vector& cut,
                            bool probit, const ConstVector& weight, const DistinctItems& all,
                            OrdinalMixtureGradient* gradient) {
  const UsedCells used(all.cell, level.size(), cut.size() + 1);
  const DistinctItems data{all.multiplicity, all.kind, all.first, used.column, all.count};
  const OrdinalTable table(level, effect.array(), cut, probit, used.cells);
  const Matrix log_weight = weight.array().log();
  if (gradient == nullptr) return item_mixture_pass(table.probability, log_weight, data, nullptr);
  ItemMixtureGradient by{Matrix::Zero(table.by_upper.rows(), table.by_upper.cols()), Matrix()};
  const double value = item_mixture_pass(table.probability, log_weight, data, &by);
  const OrdinalGradient found(table, by.by_table);
  *gradient = {found.by_level, found.by_effect, found.by_cut};
  return value;
}

}  // namespace reliabayes
