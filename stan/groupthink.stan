// Groupthink, t-a-c_i: a rater who does not know the true category follows the other raters.
//
//   true category ~ categorical(prevalence)
//   accurate ~ bernoulli(a)
//   rating = true category if accurate, else ~ categorical(proportions of the item's ratings)
//
// The proportions include the rating itself and explain nearly all of it, so the accuracy collapses.
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/right_or_wrong_mixture.stanfunctions
}
data {
  #include data/ratings.standata
  #include data/misleading.standata
  
  array[V] int<lower=1, upper=K> category; // of each cell
  vector<lower=0, upper=1>[V] proportion; // of the item's ratings that have the cell's category
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector<lower=0>[2] prior_a; // of a Beta
}
parameters {
  simplex[K] prevalence; // of the true categories
  real<lower=0, upper=1> a; // accuracy: probability that a rater knows
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories marginalised
  {
    vector[V] followed = (1 - a) * proportion;
    log_likelihood = right_or_wrong_mixture(a + followed, followed, category,
                                            by_kind(log(prevalence), W, misleading), multiplicity,
                                            kind, first, cell, count);
  }
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  a ~ beta(prior_a[1], prior_a[2]);
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

