// Ordinal xCC of three or more pools: ordinal_xcc with more dimensions than quadrature can integrate.
//
// Item effects are sampled, as scores that are approximately standard normal given the data however
// many ratings an item has from a pool. Each item is stored on its own: every multiplicity is 1.
functions {
  #include functions/ordinal.stanfunctions
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  int<lower=2> G; // pools
  array[R] int<lower=1, upper=G> pool; // of each rater
  #include data/ratings.standata
  
  int<lower=0, upper=1> probit; // 1: standard normal residuals, 0: logistic
  vector[2] prior_cut; // mean and sd
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  real<lower=0> prior_lkj; // shape: 1 for a uniform correlation
  // Normal approximations of the likelihoods of each rater's level and of each item's effect in a pool.
  // They centre and scale the parameters for the sampler and do not enter the density.
  vector[R] level_mean; // by rater, relative to the reference cut point
  vector<lower=0>[R] level_variance; // by rater
  array[G] int<lower=1, upper=K - 1> reference; // cut point that levels are centred on, by pool
  array[G] vector<lower=0>[D] effect_precision; // by pool and distinct item
  array[G] vector[D] effect_weighted_mean; // precision times mean
}
transformed data {
  vector[G] pool_size = pool_sizes(pool, G); // raters
  vector[G] average_mean = pool_means(level_mean, pool, G); // over the raters of a pool
  vector[G] average_variance = pool_means(level_variance, pool, G); // the same
  vector[G] level_stretch = ones_vector(G); // levels lie where they were found
}
parameters {
  vector<lower=0>[G] sd_item; // between items, in log odds
  vector<lower=0>[G] sd_rater; // between raters
  cholesky_factor_corr[G] factor_item; // of the correlation of an item's effects between pools
  array[G] vector<lower=0>[K - 2] step; // from one cut point to the next, by pool
  
  vector<offset=expected_means(average_mean, level_stretch, reference_cuts(step, reference)),
         multiplier=sd_means(sd_rater, average_variance, level_stretch, pool_size)>[G] mean; // log odds
  
  vector<offset=expected_levels(mean, sd_rater, level_stretch, reference_cuts(
                                step, reference), pool, level_mean, level_variance),
         multiplier=sd_levels(sd_rater, level_stretch, pool, level_variance)>[R] level; // mean plus rater effect
  array[G] vector[D] score; // of items, by pool: near standard normal given the data
}
transformed parameters {
  matrix[K - 1, G] cut;
  for (g in 1 : G) {
    cut[ : , g] = append_row(0, cumulative_sum(step[g])) - mean[g];
  }
}
model {
  matrix[G, G] factor = diag_pre_multiply(sd_item, factor_item);
  array[G] vector[D] variance = conditional_variances(factor, effect_precision);
  vector[G] level_shift = pool_means(level - level_mean, pool, G) - reference_cuts(step, reference);
  matrix[D, G] standard = standard_scores(score, factor, variance, level_shift, effect_precision,
                                          effect_weighted_mean);
  
  to_vector(cut) ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  level ~ normal(mean[pool], sd_rater[pool]);
  to_vector(standard) ~ std_normal();
  for (g in 1 : G) {
    target += 0.5 * sum(log(variance[g])); // Jacobian of the standard scores
  }
  target += ordinal_ratings(standard * factor', level, cut + rep_matrix(mean', K - 1), pool,
                            probit, first, cell, count);
}

