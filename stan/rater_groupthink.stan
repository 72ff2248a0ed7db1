// Groupthink, t_i-a_j-c_i: groupthink.stan, where each rater has an accuracy of their own.
//
//   true category ~ categorical(t)                           of each item, or shared by all
//   accurate ~ bernoulli(a[rater])
//   rating = true category if accurate, else ~ categorical(shares of the item's ratings)
//
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/known_or_followed.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  
  array[V] int<lower=1, upper=R> rater; // of the ratings in a cell
  array[V] int<lower=1, upper=K> category; // of the ratings in a cell
  vector<lower=0, upper=1>[V] share; // of the ratings of their items that are of their category
  int<lower=0, upper=1> shared; // 1: one prevalence for all items
  vector<lower=0>[K] prior_prevalence; // of a Dirichlet, where it is shared
  simplex[K] mean_prevalence; // prior mean of an item's t, where it is not
  vector<lower=0>[2] prior_a; // of Betas
}
parameters {
  array[shared] simplex[K] prevalence; // of the true categories
  vector<lower=0, upper=1>[R] a; // accuracy: probability that the rater knows
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories summed out
  log_likelihood = item_mixture(known_or_followed(a[rater], share, category, K),
                                by_kind(log(shared ? prevalence[1] : mean_prevalence), W), items,
                                kind, first, cell, count);
}
model {
  if (shared) {
    prevalence[1] ~ dirichlet(prior_prevalence);
  }
  a ~ beta(prior_a[1], prior_a[2]);
  target += log_likelihood;
}

