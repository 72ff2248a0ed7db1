// Hierarchical Dawid-Skene with one pass over the ratings.
//
//   true category ~ categorical(prevalence)
//   rating ~ categorical(softmax(log_odds[rater, true category]))
//   log_odds[rater, error] ~ normal(location[error] - ability_spread * ability[rater], spread[error])
//   ability ~ normal(0, 1)
//
// An error is a pair of a true category and a wrong category; log odds are relative to the right one.
// Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040.
data {
  int<lower=1> N, I, R; // ratings, items, raters
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[N] int<lower=1, upper=K> rating; // the category
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector[2] prior_location; // mean and sd of normals
  real<lower=0> prior_spread; // scale of half normals
  real<lower=0> prior_ability_spread; // scale of a half normal
}
parameters {
  simplex[K] prevalence; // of the true categories
  vector[K * (K - 1)] location; // mean log odds of each error
  vector<lower=0>[K * (K - 1)] spread; // sd of the log odds of each error between raters
  real<lower=0> ability_spread; // sd of what the log odds of all errors of a rater share
  vector[R] ability; // of raters, standard normal
  array[K * (K - 1)] vector[R] effect; // of raters, standard normal
}
model {
  array[I] vector[K] log_joint = rep_array(log(prevalence), I); // of true category and ratings
  for (n in 1 : N) {
    for (truth in 1 : K) {
      vector[K] log_odds = zeros_vector(K);
      for (wrong in 1 : K - 1) {
        int error = (truth - 1) * (K - 1) + wrong;
        log_odds[wrong + (wrong >= truth)] = location[error] - ability_spread * ability[rater[n]]
                                             + spread[error] * effect[error, rater[n]];
      }
      log_joint[item[n], truth] += categorical_logit_lpmf(rating[n] | log_odds);
    }
  }
  prevalence ~ dirichlet(prior_prevalence);
  location ~ normal(prior_location[1], prior_location[2]);
  spread ~ normal(0, prior_spread);
  ability_spread ~ normal(0, prior_ability_spread);
  ability ~ std_normal();
  for (error in 1 : K * (K - 1))
    effect[error] ~ std_normal();
  for (i in 1 : I)
    target += log_sum_exp(log_joint[i]); // marginalises the true category
}

