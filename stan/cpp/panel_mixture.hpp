// Answers of people and of families of judges, with true categories marginalised: an item mixture, see
// item_mixture.hpp, in which all that the judges of a family say of an item is one entry,
//
//     Pr(answers | T) = sum_F misreading[T, F] prod_judge exp(log_reading[F, answers of the judge]).
//
// Items on which a family's judges say the same share the entry, and its sum over F is made once.
#pragma once
#include "gradient.hpp"
#include "panel_mixture_pass.hpp"

#include <ostream>

namespace reliabayes {

template <typename People, typename Reading, typename Misreading, typename Weight>
stan::return_type_t<People, Reading, Misreading, Weight> panel_mixture(
    const People& people, const Reading& log_reading, const Misreading& misreading,
    const Weight& log_weight, const Integers& matrix_of, const Integers& first_reading,
    const Integers& reading, const Integers& multiplicity, const Integers& kind,
    const Integers& first, const Integers& cell, const ConstVector& count, std::ostream* = nullptr) {
  using stan::math::value_of;
  const Matrix p = value_of(people), r = value_of(log_reading), m = value_of(misreading),
               w = value_of(log_weight);
  const FamilyEntries families{matrix_of, first_reading, reading};
  const DistinctItems data{multiplicity, kind, first, cell, count};
  if constexpr (stan::is_constant_all<People, Reading, Misreading, Weight>::value) {
    return panel_mixture_pass(p, r, m, w, families, data, nullptr);
  } else {
    PanelGradient by;
    const double value = panel_mixture_pass(p, r, m, w, families, data, &by);
    return with_gradient(value, Differentiated(people, by.by_people),
                         Differentiated(log_reading, by.by_reading),
                         Differentiated(misreading, by.by_misreading),
                         Differentiated(log_weight, by.by_weight));
  }
}

}  // namespace reliabayes

using reliabayes::panel_mixture;
