// Groupthink, t_i-a_j-c_i: the model of groupthink.stan with an accuracy for each rater.
//
//   true category ~ categorical(t)                           t of each item, or shared
//   accurate ~ bernoulli(a[rater])
//   rating = true category if accurate, else ~ categorical(proportions of the item's ratings)
//
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/right_or_wrong_mixture.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  #include data/misleading.standata
  
  #include data/shared_prevalence.standata
  
  array[V] int<lower=1, upper=R> rater; // of each cell
  array[V] int<lower=1, upper=K> category; // of each cell
  vector<lower=0, upper=1>[V] proportion; // of the item's ratings that have the cell's category
  vector<lower=0>[2] prior_a; // of Betas
}
parameters {
  array[shared] simplex[K] prevalence; // of the true categories
  vector<lower=0, upper=1>[R] a; // accuracy: probability that the rater knows
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories marginalised
  {
    vector[V] accuracy = a[rater];
    vector[V] followed = (1 - accuracy) .* proportion;
    log_likelihood = right_or_wrong_mixture(accuracy + followed, followed, category,
                                            by_kind(log(shared ? prevalence[1] : mean_prevalence),
                                                    W, misleading),
                                            multiplicity, kind, first, cell, count);
  }
}
model {
  if (shared) {
    prevalence[1] ~ dirichlet(prior_prevalence);
  }
  a ~ beta(prior_a[1], prior_a[2]);
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

