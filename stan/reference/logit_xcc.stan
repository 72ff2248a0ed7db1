// Logit xCC with every effect as a parameter.
//
//   rating ~ bernoulli(inv_logit(mean[pool] + item effect[item, pool] + rater effect))
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
  array[N] int<lower=0, upper=1> rating; // 1: the second category
  vector[2] prior_mean; // mean and sd of normals
  real<lower=0> prior_sd_item; // scale of half normals
  vector<lower=0>[2] prior_sd_rater; // degrees of freedom and scale of half ts
  real<lower=0> prior_lkj; // shape
}
parameters {
  vector[G] mean; // log odds, by pool
  vector<lower=0>[G] sd_item, sd_rater; // between items and between raters, by pool
  cholesky_factor_corr[G] factor_item; // of the correlation of an item's effects between pools
  matrix[I, G] item_score; // independent standard scores, which the factor turns into effects
  vector[R] rater_effect; // by rater
}
model {
  matrix[I, G] item_effect = item_score * diag_pre_multiply(sd_item, factor_item)';
  vector[N] location = mean[pool[rater]] + rater_effect[rater];
  for (n in 1 : N)
    location[n] += item_effect[item[n], pool[rater[n]]];
  mean ~ normal(prior_mean[1], prior_mean[2]);
  sd_item ~ normal(0, prior_sd_item);
  sd_rater ~ student_t(prior_sd_rater[1], 0, prior_sd_rater[2]);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  to_vector(item_score) ~ std_normal();
  rater_effect ~ normal(0, sd_rater[pool]);
  rating ~ bernoulli_logit(location);
}

