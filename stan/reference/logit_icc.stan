// Logit ICC with every effect as a parameter.
//
//   rating ~ bernoulli(inv_logit(mean + item effect + rater effect))
//   item effect ~ normal(0, sd_item)    rater effect ~ normal(0, sd_rater)
//
//   ICC = sd_item^2 / (sd_item^2 + sd_rater^2 + pi^2 / 3)
data {
  int<lower=1> N, I, R; // ratings, items, raters
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[N] int<lower=0, upper=1> rating; // 1: the second category
  vector[2] prior_mean; // mean and sd of a normal
  real<lower=0> prior_sd_item; // scale of a half normal
  vector<lower=0>[2] prior_sd_rater; // degrees of freedom and scale of a half t
}
parameters {
  real mean; // log odds
  real<lower=0> sd_item; // between items
  real<lower=0> sd_rater; // between raters
  vector[I] item_effect; // by item
  vector[R] rater_effect; // by rater
}
model {
  mean ~ normal(prior_mean[1], prior_mean[2]);
  sd_item ~ normal(0, prior_sd_item);
  sd_rater ~ student_t(prior_sd_rater[1], 0, prior_sd_rater[2]);
  item_effect ~ normal(0, sd_item);
  rater_effect ~ normal(0, sd_rater);
  rating ~ bernoulli_logit(mean + item_effect[item] + rater_effect[rater]);
}

