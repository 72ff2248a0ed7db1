// Logit xCC: agreement between two pools of raters on binary ratings.
//
//   rating ~ bernoulli(inv_logit(mean[pool] + item effect[item, pool] + rater effect[rater]))
//   item effects ~ multi_normal(0, covariance: sd_item[pool], rho between pools)
//   rater effect ~ normal(0, sd_rater[pool of the rater])
//
//   normalized xCC = rho    unnormalized xCC = rho sqrt(ICC[1] ICC[2])
//
// Item effects are summed over equally spaced nodes, in standard deviations. factor_item is the
// Cholesky factor of their correlation.
// Wong, Paritosh & Aroyo (2021), https://doi.org/10.18653/v1/2021.acl-long.548.
functions {
  #include functions/graded.stanfunctions
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  int<lower=2, upper=2> G; // pools
  array[R] int<lower=1, upper=G> pool; // of each rater
  #include data/ratings.standata
  
  int<lower=2> Q; // nodes
  vector[Q] node; // item effect, in standard deviations
  simplex[Q] node_weight; // probability
  int<lower=0, upper=1> probit; // 1: normal residuals of sd 1, not logistic ones
  vector[2] prior_mean; // mean and sd
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  real<lower=0> prior_lkj; // shape: 1 for a uniform correlation
  // What a rater's own ratings tell, roughly; it makes sampling fast, and is not in the model.
  vector[R] own; // level
  vector<lower=0>[R] variance; // with this variance
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
}
transformed parameters {
  // of all ratings, item effects summed out
  real log_likelihood = paired_mixture(level, sd_item, factor_item, cut, pool, probit, node,
                                       node_weight, items, first, cell, count);
}
model {
  mean ~ normal(prior_mean[1], prior_mean[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  level ~ normal(mean[pool], sd_rater[pool]);
  target += log_likelihood;
}

