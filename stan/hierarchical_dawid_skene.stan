// Hierarchical Dawid-Skene: each rater has a confusion matrix, and raters resemble one another.
//
//   true category ~ categorical(prevalence)
//   rating ~ categorical(softmax(log odds[rater, true category]))          0 if the rating is right
//   log odds = location + spread * effect                       of each error, location and spread
//   effect ~ normal(0, 1)                                                 that all raters share
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
  
  vector<lower=0>[K] prior_prevalence; // of a Dirichlet
  vector[2] prior_location; // mean and sd of a normal
  vector<lower=0>[2] prior_spread; // degrees of freedom and scale of a half t
  // What a rater's own ratings tell, roughly; it makes sampling fast, and is not in the model.
  array[K * (K - 1)] vector[R] own; // log odds of each error
  array[K * (K - 1)] vector<lower=0>[R] precision; // with this precision
}
parameters {
  simplex[K] prevalence; // of the true categories
  vector[K * (K - 1)] location; // mean log odds of each error
  vector<lower=0>[K * (K - 1)] spread; // standard deviations of the log odds between raters
  array[K * (K - 1)] vector<offset=expected_effects(location, spread, own, precision),
                            multiplier=sd_effects(spread, precision)>[R] effect; // standard scores
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories summed out
  log_likelihood = item_mixture(error_table(location, spread, effect, K),
                                by_kind(log(prevalence), W), items, kind, first, cell, count);
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

