// Hierarchical Dawid-Skene: each rater has a confusion matrix, and raters resemble one another.
//
//   true category ~ categorical(prevalence)
//   rating ~ categorical(softmax(log odds of the rater's errors against the right category))
//   log odds ~ normal(location, spread)                      of each error, among raters
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
  
  vector<lower=0, upper=1>[R] centred; // how far log odds are told by ratings, not other raters
  vector<lower=0>[K] prior_prevalence; // of a Dirichlet
  vector[2] prior_location; // mean and sd
  vector<lower=0>[2] prior_spread; // degrees of freedom and scale of a half t
}
parameters {
  simplex[K] prevalence; // of the true categories
  vector[K * (K - 1)] location; // mean log odds of each error
  vector<lower=0>[K * (K - 1)] spread; // between raters
  array[K * (K - 1)] vector[R] score; // log odds, around location and in spread if not centred
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories summed out
  {
    array[K * (K - 1)] vector[R] log_odds;
    for (e in 1 : K * (K - 1)) {
      log_odds[e] = location[e]
                    + (score[e] - location[e] * centred) .* exp((1 - centred) * log(spread[e]));
    }
    log_likelihood = item_mixture(errors_or_right(log_odds, K), by_kind(
                                  log(prevalence), W), items, kind, first, cell, count);
  }
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  location ~ normal(prior_location[1], prior_location[2]);
  for (e in 1 : K * (K - 1)) {
    spread[e] ~ half_student_t(prior_spread);
    score[e] ~ normal(location[e] * centred, exp(centred * log(spread[e])));
  }
  target += log_likelihood;
}

