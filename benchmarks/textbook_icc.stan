// The Gaussian ICC as textbooks write it, every effect sampled: a peer, not part of the package.
//
//   rating ~ normal(mean + item effect + rater effect, sd_residual)
data {
  int<lower=1> N; // ratings
  int<lower=1> I; // items
  int<lower=1> R; // raters
  array[N] int<lower=1, upper=I> item; // what was rated
  array[N] int<lower=1, upper=R> rater; // who rated it
  vector[N] rating; // the rating
  vector[2] prior_mean; // mean and sd
  real<lower=0> prior_sd; // scale of the half normal priors of the three sds
}
parameters {
  real mean; // grand mean
  real<lower=0> sd_item; // between items
  real<lower=0> sd_rater; // between raters
  real<lower=0> sd_residual; // within item and rater
  vector[I] item_effect; // by item
  vector[R] rater_effect; // by rater
}
model {
  mean ~ normal(prior_mean[1], prior_mean[2]);
  sd_item ~ normal(0, prior_sd);
  sd_rater ~ normal(0, prior_sd);
  sd_residual ~ normal(0, prior_sd);
  item_effect ~ normal(0, sd_item);
  rater_effect ~ normal(0, sd_rater);
  rating ~ normal(mean + item_effect[item] + rater_effect[rater], sd_residual);
}
