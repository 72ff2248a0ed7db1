// t_i-a_j-p_j: each rater knows the true category with probability a[rater], and otherwise guesses.
//
//   true category ~ categorical(t)                           t of each item, or shared
//   accurate ~ bernoulli(a[rater])
//   rating = true category if accurate, else ~ categorical(p[rater])
//
// If each item has its own t, the likelihood is linear in t; integrating t out leaves its prior mean.
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/known_or_guessed.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  #include data/misleading.standata
  
  #include data/shared_prevalence.standata
  
  vector<lower=0>[2] prior_a; // of Betas
  vector<lower=0>[K] prior_p; // concentrations of Dirichlets
}
parameters {
  array[shared] simplex[K] prevalence; // of the true categories
  vector<lower=0, upper=1>[R] a; // accuracy: probability that the rater knows
  array[R] simplex[K] p; // distribution of each rater's guesses over categories
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories marginalised
  log_likelihood = item_mixture_of_guesses(a, p, shared ? prevalence[1] : mean_prevalence,
                                           misleading, W, multiplicity, kind, first, cell, count);
}
model {
  if (shared) {
    prevalence[1] ~ dirichlet(prior_prevalence);
  }
  a ~ beta(prior_a[1], prior_a[2]);
  p ~ dirichlet(prior_p);
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

