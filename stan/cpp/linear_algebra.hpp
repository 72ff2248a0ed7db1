// Names of the types that our densities compute with.
#pragma once
#include <stan/math/prim/fun/Eigen.hpp>

#include <vector>

namespace reliabayes {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using Integers = std::vector<int>;
using ConstVector = Eigen::Ref<const Vector>;
using ConstMatrix = Eigen::Ref<const Matrix>;

}  // namespace reliabayes
