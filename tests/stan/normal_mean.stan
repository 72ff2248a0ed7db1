// Normal ratings with a known sd; the posterior of their mean is normal, with a known mean and sd.
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
  profile("density") {
    mean_rating ~ normal(0, prior_sd);
    y ~ normal(mean_rating, sd);
  }
}
generated quantities {
  real doubled = 2 * mean_rating; // a deterministic function of the parameter
  real new_rating = normal_rng(mean_rating, sd); // one more rating
}

