// Log-probability of ratings in ordered categories by one pool, with item effects integrated out.
//
// An item's posterior is log-concave, for a logistic and for a normal residual. So the integral is a sum over equally
// spaced nodes to both sides of a point that is drawn from it, until there is nothing left to add.
#pragma once
#include "ordinal_marginal_pass.hpp"

#include <ostream>

namespace reliabayes {

inline double ordinal_marginal(const Vector& effect, double sd_item, const Vector& level, const Vector& cut,
                               int probit, const Integers& first, const Integers& cell,
                               const ConstVector& count, std::ostream* = nullptr) {
  return ordinal_marginal_pass(effect, sd_item, level, cut, probit, {first, cell, count});
}

}  // namespace reliabayes

using reliabayes::ordinal_marginal;
