// Functions that the Stan programs declare without a body.
#pragma once
#include "crossed_normal.hpp"
#include "crossed_quadratic_form.hpp"
#include "item_mixture.hpp"
#include "ordinal_mixture.hpp"
#include "ordinal_pair_mixture.hpp"
#include "ordinal_ratings.hpp"
