// Functions that the Stan programs declare without a body, all in one file as CmdStan wants them.
#pragma once
#include "crossed_normal.hpp"
#include "crossed_normal_pass.cpp"
#include "crossed_quadratic_form.hpp"
#include "crossed_quadratic_form_pass.cpp"
#include "item_mixture.hpp"
#include "item_mixture_pass.cpp"
#include "ordinal_mixture.hpp"
#include "ordinal_mixture_pass.cpp"
#include "ordinal_pair_mixture.hpp"
#include "ordinal_pair_mixture_pass.cpp"
#include "ordinal_ratings.hpp"
#include "ordinal_ratings_pass.cpp"
