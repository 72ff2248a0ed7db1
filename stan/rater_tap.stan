// t_i-a_j-p_j: each rater knows the true category with an accuracy a of their own, or else guesses.
//
//   true category ~ categorical(t)                           of each item, or shared by all
//   accurate ~ bernoulli(a[rater])
//   rating = true category if accurate, else ~ categorical(p[rater])
//
// Where each item has its own t, the likelihood is linear in it: summed out, only its prior mean is
// left.
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/known_or_guessed.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  
  int<lower=0, upper=1> shared; // 1: one prevalence for all items
  vector<lower=0>[K] prior_prevalence; // of a Dirichlet, where it is shared
  simplex[K] mean_prevalence; // prior mean of an item's t, where it is not
  vector<lower=0>[2] prior_a; // of Betas
  vector<lower=0>[K] prior_p; // of Dirichlets
}
parameters {
  array[shared] simplex[K] prevalence; // of the true categories
  vector<lower=0, upper=1>[R] a; // accuracy: probability that the rater knows
  array[R] simplex[K] p; // guesses: categories of ratings that are not accurate
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories summed out
  log_likelihood = item_mixture(known_or_guessed(a, p, K),
                                by_kind(log(shared ? prevalence[1] : mean_prevalence), W), items,
                                kind, first, cell, count);
}
model {
  if (shared) {
    prevalence[1] ~ dirichlet(prior_prevalence);
  }
  a ~ beta(prior_a[1], prior_a[2]);
  p ~ dirichlet(prior_p);
  target += log_likelihood;
}

