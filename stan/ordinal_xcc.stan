// Ordinal xCC: agreement between two pools of raters on ratings in ordered categories.
//
//   Pr(rating > k) = inv_logit(item effect[item, pool] + rater effect[rater] - cut[k, pool])
//   item effects ~ multi_normal(0, covariance: sd_item[pool], rho between pools)
//   rater effect ~ normal(0, sd_rater[pool of the rater])
//
//   normalized xCC = rho    unnormalized xCC = rho sqrt(ICC[1] ICC[2])
//
// Cut points start from the first, by pool: cut = (0, step[1], step[1] + step[2], ...) - mean. Two
// categories have one, and are the logit xCC.
// Item effects are integrated out by quadrature on equally spaced nodes. factor_item is the Cholesky
// factor of their correlation.
// Wong, Paritosh & Aroyo (2021), https://doi.org/10.18653/v1/2021.acl-long.548.
functions {
  #include functions/ordinal.stanfunctions
  
  #include functions/scores.stanfunctions
  
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  int<lower=2, upper=2> G; // pools
  array[R] int<lower=1, upper=G> pool; // of each rater
  #include data/ratings.standata
  
  int<lower=2> Q; // nodes
  vector[Q] node; // item effects, in standard deviations
  simplex[Q] node_weight; // probability of each node
  int<lower=0, upper=1> probit; // 1: standard normal residuals, 0: logistic
  vector[2] prior_cut; // mean and sd
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  real<lower=0> prior_lkj; // shape: 1 for a uniform correlation
  // Normal approximation of the likelihood of each rater's level, scales of sd_item and sd_rater, and
  // mean and root of the covariance of what raters have in common. They centre and scale the parameters
  // for the sampler and do not enter the density.
  vector[R] level_mean; // by rater, relative to the reference cut point
  vector<lower=0>[R] level_variance; // by rater
  array[G] int<lower=1, upper=K - 1> reference; // cut point that levels are centred on, by pool
  vector<lower=0>[G] known_sd_item; // that the approximation was found with, by pool
  real<lower=0> widening; // of the residuals' distribution by normal effects
  vector<lower=0>[2 * G] spread_scale; // of sds of items, then of raters, for their softplus
  vector[2 * G + 1 + G * (K - 1)] core_mean; // sds, correlation, steps and means, free of bounds
  matrix[2 * G + 1 + G * (K - 1), 2 * G + 1 + G * (K - 1)] core_root; // of their covariance
}
transformed data {
  vector[G] pool_size = pool_sizes(pool, G); // raters
  vector[G] average_mean = pool_means(level_mean, pool, G); // over the raters of a pool
  vector[G] average_variance = pool_means(level_variance, pool, G); // the same
}
parameters {
  vector[2 * G + 1 + G * (K - 1)] core; // what raters have in common, centred and scaled
  vector[R] score; // of level, centred and scaled
}
transformed parameters {
  vector<lower=0>[G] sd_item; // between items, in log odds
  vector<lower=0>[G] sd_rater; // between raters
  cholesky_factor_corr[G] factor_item; // of the correlation of an item's effects between pools
  array[G] vector<lower=0>[K - 2] step; // from one cut point to the next, by pool
  vector[G] mean; // log odds
  vector[R] level; // mean plus rater effect
  matrix[K - 1, G] cut;
  real log_likelihood; // of all ratings, item effects integrated out
  real log_slope; // log of the derivatives of sds, correlation, steps, means and levels
  {
    vector[rows(core)] free = core_mean + core_root * core;
    int first_step = 2 * G + 2;
    sd_item = softplus(free[1 : G], spread_scale[1 : G]);
    sd_rater = softplus(free[G + 1 : 2 * G], spread_scale[G + 1 : 2 * G]);
    factor_item = [[1, 0], [tanh(free[2 * G + 1]), inv(cosh(free[2 * G + 1]))]];
    for (g in 1 : G) {
      step[g] = exp(segment(free, first_step + (g - 1) * (K - 2), K - 2));
    }
    vector[G] stretch = stretches(sd_item, known_sd_item, widening);
    vector[G] distance = reference_cuts(step, reference);
    vector[G] sd_mean = sd_means(sd_rater, average_variance, stretch, pool_size);
    mean = expected_means(average_mean, stretch, distance) + sd_mean .* tail(free, G);
    vector[R] sd_level = sd_levels(sd_rater, stretch, pool, level_variance);
    level = expected_levels(mean, sd_rater, stretch, distance, pool, level_mean, level_variance)
            + sd_level .* score;
    for (g in 1 : G) {
      cut[ : , g] = append_row(0, cumulative_sum(step[g])) - mean[g];
    }
    log_likelihood = ordinal_pair_mixture(level, sd_item, factor_item,
                                          cut + rep_matrix(mean', K - 1), pool, probit, node,
                                          node_weight, multiplicity, first, cell, count);
    log_slope = sum(log1m_exp(-append_row(sd_item, sd_rater) ./ spread_scale))
                + 2 * log(factor_item[2, 2]) + sum(segment(free, first_step, G * (K - 2)))
                + sum(log(sd_mean)) + sum(log(sd_level));
  }
}
model {
  to_vector(cut) ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  level ~ normal(mean[pool], sd_rater[pool]);
  target += log_slope + log_likelihood;
}

