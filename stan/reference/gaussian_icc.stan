// Gaussian ICC with every effect as a parameter.
//
//   rating ~ normal(mean + item effect + rater effect, sd_residual)
//   item effect ~ normal(0, sd_item)    rater effect ~ normal(0, sd_rater)
//
//   ICC = sd_item^2 / (sd_item^2 + sd_rater^2 + sd_residual^2)
data {
  int<lower=1> N, I, R; // ratings, items, raters
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  vector[N] rating; // the rating
  vector[2] prior_mean; // mean and sd of a normal
  vector<lower=0>[2] prior_sd_item; // degrees of freedom and scale of a half t
  vector<lower=0>[2] prior_sd_rater; // the same
  vector<lower=0>[2] prior_sd_residual; // the same
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
  sd_item ~ student_t(prior_sd_item[1], 0, prior_sd_item[2]);
  sd_rater ~ student_t(prior_sd_rater[1], 0, prior_sd_rater[2]);
  sd_residual ~ student_t(prior_sd_residual[1], 0, prior_sd_residual[2]);
  item_effect ~ normal(0, sd_item);
  rater_effect ~ normal(0, sd_rater);
  rating ~ normal(mean + item_effect[item] + rater_effect[rater], sd_residual);
}

