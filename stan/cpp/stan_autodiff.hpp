// Stan's autodiff and what its samplers use, in place of <stan/math.hpp>: the command line needs none of the functions,
// distributions and solvers of the language, which take most of the time of reading Stan's headers.
#pragma once
#include <stan/math/prim/fun/log_sum_exp.hpp>
#include <stan/math/prim/fun/to_matrix.hpp>
#include <stan/math/prim/fun/welford_covar_estimator.hpp>
#include <stan/math/prim/fun/welford_var_estimator.hpp>
#include <stan/math/rev/core.hpp>
#include <stan/math/rev/fun/grad.hpp>
#include <stan/math/rev/fun/value_of.hpp>
#include <stan/math/rev/functor/gradient.hpp>
#include <stan/math/rev/meta.hpp>

// What Stan's own headers then need not read.
#define STAN_MATH_HPP
#define STAN_MATH_REV_HPP
#define STAN_MATH_PRIM_HPP
