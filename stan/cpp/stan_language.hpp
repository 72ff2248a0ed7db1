// What our programs use of Stan's language, in place of <stan/model/model_header.hpp>: distributions by name, no solvers,
// and all functions but those of without_boost.hpp. A function comes with its form for parameters, which has a gradient
// of its own: without it the form for numbers would compile for parameters, too, and be slower.
#pragma once
#include "stan_autodiff.hpp"
#include "without_boost.hpp"

#define STAN_MATH_PRIM_FUNCTOR_HPP  // integrals, differential equations, parallel sums
#include <stan/math/prim/functor/operands_and_partials.hpp>
#include <stan/math/prim/functor/partials_propagator.hpp>
#include <stan/math/rev/functor/operands_and_partials.hpp>
#include <stan/math/rev/functor/partials_propagator.hpp>

#include <stan/math/prim/fun.hpp>
#include <stan/math/rev/fun.hpp>

#include <stan/math/prim/prob/beta_lpdf.hpp>
#include <stan/math/prim/prob/dirichlet_lpdf.hpp>
#include <stan/math/prim/prob/lkj_corr_cholesky_lpdf.hpp>
#include <stan/math/prim/prob/normal_lpdf.hpp>
#include <stan/math/prim/prob/normal_rng.hpp>
#include <stan/math/prim/prob/std_normal_lpdf.hpp>
#include <stan/math/prim/prob/std_normal_rng.hpp>
#include <stan/math/prim/prob/student_t_lpdf.hpp>

#include <stan/model/model_header.hpp>
