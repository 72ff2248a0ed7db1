// Normal ratings of known spread; the posterior of their mean is normal, with known mean and spread.
data {
  int<lower=0> N; // ratings
  vector[N] y; // ratings
  real<lower=0> sd; // of a rating around the mean
  real<lower=0> prior_sd; // of the mean around 0
}
parameters {
  real mean_rating; // mean of all ratings
}
model {
  mean_rating ~ normal(0, prior_sd);
  y ~ normal(mean_rating, sd);
}
generated quantities {
  real doubled = 2 * mean_rating; // the same as it is in every interface
  real new_rating = normal_rng(mean_rating, sd); // one more rating
}
