// MACE, multi-annotator competence estimation: a rater copies the true category or spams.
//
//   true category ~ categorical(prevalence)                  uniform or estimated
//   copies ~ bernoulli(theta[rater])
//   rating = true category if copies, else ~ categorical(xi[rater])
//
// Hovy et al. (2013), https://aclanthology.org/N13-1132; priors as in Paun et al. (2018),
// https://doi.org/10.1162/tacl_a_00040.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/known_or_guessed.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  #include data/misleading.standata
  
  #include data/shared_prevalence.standata
  
  vector<lower=0>[2] prior_theta; // of Betas
  vector<lower=0>[K] prior_xi; // concentrations of Dirichlets
}
parameters {
  array[shared] simplex[K] prevalence; // of the true categories
  vector<lower=0, upper=1>[R] theta; // competence: probability that the rater copies
  array[R] simplex[K] xi; // distribution of the rater's spam over categories
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories marginalised
  log_likelihood = item_mixture_of_guesses(theta, xi, shared ? prevalence[1] : mean_prevalence,
                                           misleading, W, multiplicity, kind, first, cell, count);
}
model {
  if (shared) {
    prevalence[1] ~ dirichlet(prior_prevalence);
  }
  theta ~ beta(prior_theta[1], prior_theta[2]);
  xi ~ dirichlet(prior_xi);
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

