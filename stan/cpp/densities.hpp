// Functions that Stan programs declare without a body.
#pragma once
#include "crossed_normal.hpp"
#include "crossed_square.hpp"
#include "graded_mixture.hpp"
#include "graded_ratings.hpp"
#include "item_mixture.hpp"
#include "paired_mixture.hpp"
