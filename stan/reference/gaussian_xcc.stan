// Gaussian xCC with every effect as a parameter.
//
//   rating ~ normal(mean[pool] + item effect[item, pool] + rater effect, sd_residual)
//   item effects of an item ~ multi_normal(0, diag(sd_item) correlation diag(sd_item))
//   rater effect ~ normal(0, sd_rater[pool])
//
//   normalized xCC of two pools = correlation[g, h]
data {
  int<lower=1> N, I, R; // ratings, items, raters
  int<lower=2> G; // pools
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[R] int<lower=1, upper=G> pool; // of each rater
  vector[N] rating; // the rating
  array[G] vector[2] prior_mean; // mean and sd of normals
  vector<lower=0>[2] prior_sd_item, prior_sd_rater, prior_sd_residual; // of half ts: df and scale
  real<lower=0> prior_lkj; // shape
}
parameters {
  vector[G] mean; // of the ratings, by pool
  vector<lower=0>[G] sd_item, sd_rater; // between items and between raters, by pool
  real<lower=0> sd_residual; // within item and rater
  cholesky_factor_corr[G] factor_item; // of the correlation of an item's effects between pools
  matrix[I, G] item_score; // independent standard scores, which the factor turns into effects
  vector[R] rater_effect; // by rater
}
model {
  matrix[I, G] item_effect = item_score * diag_pre_multiply(sd_item, factor_item)';
  vector[N] location = mean[pool[rater]] + rater_effect[rater];
  for (n in 1 : N)
    location[n] += item_effect[item[n], pool[rater[n]]];
  mean ~ normal(to_vector(prior_mean[ : , 1]), to_vector(prior_mean[ : , 2]));
  sd_item ~ student_t(prior_sd_item[1], 0, prior_sd_item[2]);
  sd_rater ~ student_t(prior_sd_rater[1], 0, prior_sd_rater[2]);
  sd_residual ~ student_t(prior_sd_residual[1], 0, prior_sd_residual[2]);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  to_vector(item_score) ~ std_normal();
  rater_effect ~ normal(0, sd_rater[pool]);
  rating ~ normal(location, sd_residual);
}

