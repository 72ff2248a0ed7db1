// Ordinal ICC with every effect as a parameter.
//
//   Pr(rating > k) = inv_logit(item effect + rater effect - cut[k])
//   item effect ~ normal(0, sd_item)    rater effect ~ normal(0, sd_rater)
//
//   ICC = sd_item^2 / (sd_item^2 + sd_rater^2 + pi^2 / 3)
data {
  int<lower=1> N, I, R; // ratings, items, raters
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[N] int<lower=1, upper=K> rating; // the category
  vector[2] prior_cut; // mean and sd of normals
  real<lower=0> prior_sd_item; // scale of a half normal
  vector<lower=0>[2] prior_sd_rater; // degrees of freedom and scale of a half t
}
parameters {
  ordered[K - 1] cut; // points between the categories, in log odds
  real<lower=0> sd_item; // between items
  real<lower=0> sd_rater; // between raters
  vector[I] item_effect; // by item
  vector[R] rater_effect; // by rater
}
model {
  cut ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ normal(0, prior_sd_item);
  sd_rater ~ student_t(prior_sd_rater[1], 0, prior_sd_rater[2]);
  item_effect ~ normal(0, sd_item);
  rater_effect ~ normal(0, sd_rater);
  rating ~ ordered_logistic(item_effect[item] + rater_effect[rater], cut);
}

