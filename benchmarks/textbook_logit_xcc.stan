// The logit xCC as textbooks write it, every effect sampled: a peer, not part of the package.
//
//   rating ~ bernoulli(inv_logit(mean[pool] + item effect[item, pool] + rater effect))
//   item effects ~ multi_normal(0, diag(sd_item) correlation diag(sd_item)), made of scores
data {
  int<lower=1> N; // ratings
  int<lower=1> I; // items
  int<lower=1> R; // raters
  int<lower=2> G; // pools
  array[N] int<lower=1, upper=I> item; // what was rated
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[R] int<lower=1, upper=G> pool; // of each rater
  array[N] int<lower=0, upper=1> rating; // 1: the second category
  vector[2] prior_mean; // mean and sd
  real<lower=0> prior_sd_item; // scale of half normals
  real<lower=0> prior_sd_rater; // the same
  real<lower=0> prior_lkj; // shape
}
transformed data {
  array[N] int by = pool[rater]; // pool of the rating
  array[N] int effect; // place of the item's effect in this pool
  for (n in 1 : N) {
    effect[n] = (by[n] - 1) * I + item[n];
  }
}
parameters {
  vector[G] mean; // log odds
  vector<lower=0>[G] sd_item; // between items
  vector<lower=0>[G] sd_rater; // between raters
  cholesky_factor_corr[G] factor_item; // of the correlation between pools of an item's effects
  matrix[I, G] item_score; // independent
  vector[R] rater_effect; // by rater
}
model {
  vector[I * G] item_effect = to_vector(item_score * diag_pre_multiply(sd_item, factor_item)');
  mean ~ normal(prior_mean[1], prior_mean[2]);
  sd_item ~ normal(0, prior_sd_item);
  sd_rater ~ normal(0, prior_sd_rater);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  to_vector(item_score) ~ std_normal();
  rater_effect ~ normal(0, sd_rater[pool]);
  rating ~ bernoulli_logit(mean[by] + item_effect[effect] + rater_effect[rater]);
}

