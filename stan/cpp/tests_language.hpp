// What the programs of reference/ and of tests use of Stan's language.
#pragma once
#include "stan_language.hpp"

#include <stan/math/prim/prob/bernoulli_logit_lpmf.hpp>
#include <stan/math/prim/prob/categorical_logit_lpmf.hpp>
#include <stan/math/prim/prob/exponential_lpdf.hpp>
#include <stan/math/prim/prob/multi_normal_lpdf.hpp>
#include <stan/math/prim/prob/ordered_logistic_lpmf.hpp>
