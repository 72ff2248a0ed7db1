// Ordinal ICC for a crowd: the model of ordinal_icc for designs with too many raters, and too many
// ratings of each item, for its effect to be integrated out at every step.
//
// Effects of items and levels of raters are sampled, as scores that are approximately standard normal
// given the data. What all raters have in common, and all items, can make up for each other and for the
// location: the scores in these two directions are part of the core. Each item is stored on its own:
// every multiplicity is 1.
functions {
  #include functions/ordinal.stanfunctions
  
  #include functions/scores.stanfunctions
  
  #include functions/priors.stanfunctions
}
data {
  int<lower=2> R; // raters
  #include data/ratings.standata
  
  int<lower=0, upper=1> probit; // 1: standard normal residuals, 0: logistic
  vector[2] prior_cut; // mean and sd
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  // Normal approximations of the likelihoods of each rater's level and of each item's effect, scales of
  // sd_item and sd_rater, and mean and root of the covariance of the core. They centre and scale the
  // parameters for the sampler and do not enter the density.
  array[1] int<lower=1, upper=K - 1> reference; // cut point that levels and location are relative to
  vector[R] level_mean;
  vector<lower=0>[R] level_precision;
  vector[D] effect_mean;
  vector<lower=0>[D] effect_precision;
  vector[R] common_level; // reflects the first score to what raters have in common
  vector[D] common_effect; // the same of items
  vector[2] spread_scale; // of sds of items, then of raters, for their softplus
  vector[K + 3] core_mean; // sds, steps, location and what raters and items have in common
  matrix[K + 3, K + 3] core_root; // of their covariance
}
transformed data {
  array[R] int pool = ones_int_array(R);
}
parameters {
  vector[K + 3] core; // centred and scaled
  vector[R - 1] score; // of levels, besides what they have in common
  vector[D - 1] item_score; // of effects
}
transformed parameters {
  real<lower=0> sd_item; // between items, in log odds
  real<lower=0> sd_rater; // between raters
  vector<lower=0>[K - 2] step; // from one cut point to the next
  real mean; // log odds
  vector[R] level; // mean plus rater effect
  vector[D] effect; // of items
  vector[K - 1] cut;
  real log_slope; // log of the derivatives of all these by what is sampled, and of their priors
  {
    vector[K + 3] free = core_mean + core_root * core;
    vector[2] sd = softplus(free[1 : 2], spread_scale);
    sd_item = sd[1];
    sd_rater = sd[2];
    step = exp(free[3 : K]);
    real location = free[K + 1];
    mean = location + reference_cuts({step}, reference)[1];
    cut = append_row(0, cumulative_sum(step)) - mean;
    vector[2] common = free[K + 2 : K + 3];
    vector[R + 1] of_raters = common_effects(mean, location, sd_rater, common[1], score,
                                             level_mean, level_precision, common_level);
    vector[D + 1] of_items = common_effects(0, 0, sd_item, common[2], item_score, effect_mean,
                                            effect_precision, common_effect);
    level = head(of_raters, R);
    effect = head(of_items, D);
    log_slope = sum(log1m_exp(-sd ./ spread_scale)) + sum(free[3 : K]) + of_raters[R + 1]
                + of_items[D + 1];
  }
}
model {
  cut ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  target += log_slope; // with the priors of levels and effects
  target += ordinal_ratings(to_matrix(effect), level, to_matrix(cut + mean), pool, probit, first,
                            cell, count);
}
generated quantities {
  // Of all ratings, item effects integrated out.
  real log_likelihood = ordinal_marginal(effect, sd_item, level, cut + mean, probit, first, cell,
                                         count);
}

