// Ordinal xCC: agreement between two pools of raters on ratings in ordered categories.
//
//   Pr(rating > k) = inv_logit(item effect[item, pool] + rater effect[rater] - cut[k, pool])
//   item effects ~ multi_normal(0, covariance: sd_item[pool], rho between pools)
//   rater effect ~ normal(0, sd_rater[pool of the rater])
//
//   normalized xCC = rho    unnormalized xCC = rho sqrt(ICC[1] ICC[2])
//
// Cut points are counted from the first: cut = (0, step 1, step 1 + step 2, ...) - mean, by pool.
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
  vector[2] prior_cut; // mean and sd
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  real<lower=0> prior_lkj; // shape: 1 for a uniform correlation
  // What a rater's own ratings tell, roughly; it makes sampling fast, and is not in the model.
  vector[R] own; // level
  vector<lower=0>[R] variance; // with this variance
}
transformed data {
  vector[G] raters = pool_sizes(pool, G); // how many there are
  vector[G] own_mean = pool_means(own, pool, G); // of their own levels, and of their variances
  vector[G] own_variance = pool_means(variance, pool, G);
}
parameters {
  vector<lower=0>[G] sd_item; // between items, in log odds
  vector<lower=0>[G] sd_rater; // between raters
  cholesky_factor_corr[G] factor_item; // of the correlation between pools of an item's effects
  array[G] vector<lower=0>[K - 2] step; // from one cut point to the next
  vector<offset=own_mean, multiplier=sd_means(sd_rater, own_variance, raters)>[G] mean; // log odds
  
  vector<offset=expected_levels(mean, sd_rater, pool, own, variance),
         multiplier=sd_levels(sd_rater, pool, variance)>[R] level; // of raters: mean plus effect
}
transformed parameters {
  matrix[K - 1, G] cut;
  for (g in 1 : G) {
    cut[ : , g] = append_row(0, cumulative_sum(step[g])) - mean[g];
  }
  // of all ratings, item effects summed out
  real log_likelihood = paired_mixture(level, sd_item, factor_item, cut + rep_matrix(mean', K - 1),
                                       pool, probit, node, node_weight, items, first, cell, count);
}
model {
  to_vector(cut) ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  level ~ normal(mean[pool], sd_rater[pool]);
  target += log_likelihood;
}

