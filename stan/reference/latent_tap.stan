// Latent-scale t-a-p with every difficulty as a parameter.
//
//   true category ~ categorical(prevalence)
//   accurate ~ bernoulli(inv_logit(alpha[rater] - delta[item] + covariate[rater] * eta))
//   rating = true category if accurate, else ~ categorical(p[rater])
//
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
data {
  int<lower=1> N, I, R; // ratings, items, raters
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[N] int<lower=1, upper=K> rating; // the category
  int<lower=0> X; // covariates of raters
  matrix[R, X] covariate; // values by rater
  vector<lower=0>[K] prior_prevalence, prior_mean_p; // concentrations of Dirichlets
  vector[2] prior_mean_alpha, prior_eta; // mean and sd of normals
  real<lower=0> prior_sd_alpha, prior_sd_delta, prior_concentration; // scales of half normals
}
parameters {
  simplex[K] prevalence, mean_p; // of the true categories, and of an average rater's guesses
  real mean_alpha; // accuracy of an average rater, in log odds
  // sds of accuracies between raters and of difficulties; concentration of guesses around the average
  real<lower=0> sd_alpha, sd_delta, concentration;
  vector[R] alpha; // accuracy of each rater, in log odds
  vector[I] delta; // difficulty of each item, in log odds
  vector[X] eta; // slopes of the covariates
  array[R] simplex[K] p; // distribution of each rater's guesses over categories
}
model {
  array[I] vector[K] log_joint = rep_array(log(prevalence), I); // of true category and ratings
  for (n in 1 : N) {
    real a = inv_logit(alpha[rater[n]] + covariate[rater[n]] * eta - delta[item[n]]);
    for (truth in 1 : K)
      log_joint[item[n], truth] += log(a * (rating[n] == truth) + (1 - a) * p[rater[n], rating[n]]);
  }
  prevalence ~ dirichlet(prior_prevalence);
  mean_alpha ~ normal(prior_mean_alpha[1], prior_mean_alpha[2]);
  sd_alpha ~ normal(0, prior_sd_alpha);
  sd_delta ~ normal(0, prior_sd_delta);
  concentration ~ normal(0, prior_concentration);
  alpha ~ normal(mean_alpha, sd_alpha);
  delta ~ normal(0, sd_delta);
  eta ~ normal(prior_eta[1], prior_eta[2]);
  mean_p ~ dirichlet(prior_mean_p);
  p ~ dirichlet(1 + concentration * mean_p);
  for (i in 1 : I)
    target += log_sum_exp(log_joint[i]); // marginalises the true category
}

