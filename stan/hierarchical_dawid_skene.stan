// Hierarchical Dawid-Skene: the raters' confusion matrices come from a common population.
//
//   true category ~ categorical(prevalence)
//   rating ~ categorical(softmax(log_odds[rater, true category]))
//   log_odds[rater, error] = location[error] + spread[error] * effect[error, rater]
//   effect ~ normal(0, 1)
//
// An error is a pair of a true category and a wrong category; log odds are relative to the right one.
//
// Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/errors.stanfunctions
  
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector[2] prior_location; // mean and sd of normals
  vector<lower=0>[2] prior_spread; // degrees of freedom and scale of half ts
  // Normal approximation of the likelihood of each rater's log odds. It centres and scales the
  // parameters for the sampler and does not enter the density.
  array[K * (K - 1)] vector[R] log_odds_mean; // by error
  array[K * (K - 1)] vector<lower=0>[R] log_odds_precision; // by error
}
parameters {
  simplex[K] prevalence; // of the true categories
  vector[K * (K - 1)] location; // mean log odds of each error
  vector<lower=0>[K * (K - 1)] spread; // sd of the log odds of each error between raters
  array[K * (K - 1)] vector<offset=expected_effects(location, spread, log_odds_mean,
                                                    log_odds_precision),
                            multiplier=sd_effects(spread, log_odds_precision)>[R] effect; // standard scores
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories marginalised
  log_likelihood = item_mixture(error_table(location, spread, effect, K),
                                by_kind(log(prevalence), W), multiplicity, kind, first, cell,
                                count);
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  location ~ normal(prior_location[1], prior_location[2]);
  for (error in 1 : K * (K - 1)) {
    spread[error] ~ half_student_t(prior_spread);
    effect[error] ~ std_normal();
  }
  target += log_likelihood;
}

