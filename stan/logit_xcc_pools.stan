// Logit xCC of three pools or more: the model of logit_xcc where pairs of nodes no longer do.
//
// Effects of items are sampled, as scores that are near standard normal given the data, however many
// ratings an item has from a pool.
functions {
  #include functions/graded.stanfunctions
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  int<lower=2> G; // pools
  array[R] int<lower=1, upper=G> pool; // of each rater
  #include data/ratings.standata
  
  int<lower=0, upper=1> probit; // 1: normal residuals of sd 1, not logistic ones
  vector[2] prior_mean; // mean and sd
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  real<lower=0> prior_lkj; // shape: 1 for a uniform correlation
  // What ratings tell of a rater or of an item in a pool, roughly; it makes sampling fast, and is not in
  // the model.
  vector[R] own; // level
  vector<lower=0>[R] variance; // with this variance
  array[G] vector<lower=0>[D] precision; // of the effect
  array[G] vector[D] pull; // precision times effect
}
transformed data {
  matrix[1, G] cut = rep_matrix(0, 1, G); // the only one: levels count from there
  vector[G] raters = pool_sizes(pool, G); // how many there are
  vector[G] own_mean = pool_means(own, pool, G); // of their own levels, and of their variances
  vector[G] own_variance = pool_means(variance, pool, G);
}
parameters {
  vector<lower=0>[G] sd_item; // between items, in log odds
  vector<lower=0>[G] sd_rater; // between raters
  cholesky_factor_corr[G] factor_item; // of the correlation between pools of an item's effects
  vector<offset=own_mean, multiplier=sd_means(sd_rater, own_variance, raters)>[G] mean; // log odds
  
  vector<offset=expected_levels(mean, sd_rater, pool, own, variance),
         multiplier=sd_levels(sd_rater, pool, variance)>[R] level; // of raters: mean plus effect
  array[G] vector[D] score; // of items
}
model {
  matrix[G, G] root = diag_pre_multiply(sd_item, factor_item);
  array[G] vector[D] share = untold_shares(root, precision);
  vector[G] higher = pool_means(level - own, pool, G);
  matrix[D, G] standard = standard_scores(score, root, share, higher, precision, pull);
  
  mean ~ normal(prior_mean[1], prior_mean[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  level ~ normal(mean[pool], sd_rater[pool]);
  to_vector(standard) ~ std_normal();
  for (g in 1 : G) {
    target += 0.5 * sum(log(share[g])); // Jacobian of the standard scores
  }
  target += graded_ratings(standard * root', level, cut, pool, probit, first, cell, count);
}

