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
  // Normal approximation of the likelihood of each rater's level. It centres and scales the parameters
  // for the sampler and does not enter the density.
  vector[R] level_mean; // by rater, relative to the reference cut point
  vector<lower=0>[R] level_variance; // by rater
  array[G] int<lower=1, upper=K - 1> reference; // cut point that levels are centred on, by pool
  vector<lower=0>[G] known_sd_item; // that the approximation was found with, by pool
  real<lower=0> widening; // of the residuals' distribution by normal effects
}
transformed data {
  vector[G] pool_size = pool_sizes(pool, G); // raters
  vector[G] average_mean = pool_means(level_mean, pool, G); // over the raters of a pool
  vector[G] average_variance = pool_means(level_variance, pool, G); // the same
}
parameters {
  vector<lower=0>[G] sd_item; // between items, in log odds
  vector<lower=0>[G] sd_rater; // between raters
  cholesky_factor_corr[G] factor_item; // of the correlation of an item's effects between pools
  array[G] vector<lower=0>[K - 2] step; // from one cut point to the next, by pool
  
  vector<offset=expected_means(average_mean, stretches(sd_item, known_sd_item, widening),
                               reference_cuts(step, reference)),
         multiplier=sd_means(sd_rater, average_variance,
                             stretches(sd_item, known_sd_item, widening), pool_size)>[G] mean; // log odds
  
  vector<offset=expected_levels(mean, sd_rater, stretches(sd_item, known_sd_item, widening),
                                reference_cuts(step, reference), pool, level_mean, level_variance),
         multiplier=sd_levels(sd_rater, stretches(sd_item, known_sd_item, widening), pool,
                              level_variance)>[R] level; // mean plus rater effect
}
transformed parameters {
  matrix[K - 1, G] cut;
  for (g in 1 : G) {
    cut[ : , g] = append_row(0, cumulative_sum(step[g])) - mean[g];
  }
  // of all ratings, item effects integrated out
  real log_likelihood = ordinal_pair_mixture(level, sd_item, factor_item,
                                             cut + rep_matrix(mean', K - 1), pool, probit, node,
                                             node_weight, multiplicity, first, cell, count);
}
model {
  to_vector(cut) ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  level ~ normal(mean[pool], sd_rater[pool]);
  target += log_likelihood;
}

