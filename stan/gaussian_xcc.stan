// Gaussian xCC: agreement between pools of raters whose items overlap, wholly or partly.
//
//   rating = mean[pool] + item effect[item, pool] + rater effect + residual
//   item effects of an item ~ multi_normal(0, diag(sd_item) correlation diag(sd_item))
//   rater effect ~ normal(0, sd_rater[pool])   residual ~ normal(0, sd_residual)
//   correlation ~ lkj_corr(prior_lkj)          mean ~ normal(prior_mean)
//
//   normalized xCC of two pools = correlation[g, h]
//   ICC of a pool = sd_item^2 / (sd_item^2 + sd_rater^2 + sd_residual^2)
//   xCC = correlation[g, h] sqrt(ICC[g] ICC[h])
//
// Cross-replication reliability of Wong, Paritosh & Aroyo (2021),
// https://doi.org/10.18653/v1/2021.acl-long.548.
// Effects and means are integrated out exactly; standard deviations and correlation are sampled.
functions {
  #include functions/priors.stanfunctions
  #include functions/pooled_normal.stanfunctions
  
  real crossed_normal(vector weight, vector precision, vector location, data matrix gram,
                      data matrix moment, data vector square); // cpp/crossed_normal.hpp
  vector crossed_normal_last(vector weight, vector precision, vector location, data matrix gram,
                             data matrix moment, vector noise); // draws of the last effects
}
data {
  int<lower=1> R; // raters
  int<lower=2> G; // pools
  int<lower=1> D; // patterns: distinct numbers of ratings of an item, by pool
  int<lower=1> P; // pairs of pools that rated a pattern's items, including each with itself
  int<lower=1, upper=G> E; // residual standard deviations: 1 if the pools share it, else G
  array[R] int<lower=1, upper=G> pool; // of each rater
  vector<lower=0>[G] N; // ratings, by pool
  matrix<lower=0>[G, D] n; // ratings of an item, by pattern
  vector<lower=1>[D] multiplicity; // items with this pattern
  array[P] int<lower=1, upper=D> pattern; // of each pair
  array[P] int<lower=1, upper=G> first; // pool of each pair
  array[P] int<lower=1, upper=G> second; // pool of each pair
  matrix[choose(R + G + 1, 2), G + P] gram; // cross products of the raters and pools, lower triangles
  matrix[R + G, G + P] moment; // cross products of the raters and pools with the ratings
  vector[G + P] square; // sums of squares
  vector[G] center; // subtracted from each rating before the sums
  array[G] vector[2] prior_mean; // mean and sd, infinite for a flat prior
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  vector<lower=0>[2] prior_sd_residual; // the same
  real<lower=0> prior_lkj; // shape: 1 for a uniform correlation of two pools
}
transformed data {
  vector[G] prior_sd_mean = to_vector(prior_mean[ : , 2]);
  vector[R + G] location = append_row(zeros_vector(R), to_vector(prior_mean[ : , 1]) - center);
  array[G] int residual = E == 1 ? rep_array(1, G) : linspaced_int_array(G, 1, G);
  int flat = is_inf(prior_sd_mean[1]);
  real constant = -0.5 * (sum(N) - flat * G) * log(2 * pi()) - (flat ? 0 : sum(log(prior_sd_mean)));
}
parameters {
  vector<lower=0>[G] sd_item; // between items, in units of the rating
  vector<lower=0>[G] sd_rater; // between raters
  vector<lower=0>[E] sd_residual; // within item and rater
  cholesky_factor_corr[G] factor_item; // of the correlation of an item's effects between pools
}
model {
  matrix[G, G] factor = diag_pre_multiply(sd_item, factor_item);
  array[D] matrix[G, G] precision_factor = precision_factors(factor, sd_residual[residual], n);
  
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  sd_residual ~ half_student_t(prior_sd_residual);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  target += constant
            - 0.5
              * pooled_log_det(precision_factor, sd_rater[pool], sd_residual[residual], N,
                               multiplicity)
            + crossed_normal(pooled_weights(factor, precision_factor, sd_residual[residual],
                                            pattern, first, second),
                             inv_square(append_row(sd_rater[pool], prior_sd_mean)), location, gram,
                             moment, square);
}
generated quantities {
  vector[G] mean; // of the ratings of each pool, drawn given the rest
  {
    matrix[G, G] factor = diag_pre_multiply(sd_item, factor_item);
    array[D] matrix[G, G] precision_factor = precision_factors(factor, sd_residual[residual], n);
    mean = center
           + crossed_normal_last(pooled_weights(factor, precision_factor, sd_residual[residual],
                                                pattern, first, second),
                                 inv_square(append_row(sd_rater[pool], prior_sd_mean)), location,
                                 gram, moment, to_vector(normal_rng(zeros_vector(G), 1)));
  }
}

