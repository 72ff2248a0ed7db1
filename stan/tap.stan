// t-a-p: raters, all alike, know the true category with probability a, or else guess.
//
//   true category ~ categorical(prevalence)                  t, for two categories
//   accurate ~ bernoulli(a)
//   rating = true category if accurate, else ~ categorical(p)
//
// Either may depend on the true category, which then is a matter of the priors: the ratings tell
// prevalence and confusion alone.
// Eubanks, The t-a-p model, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
}
data {
  #include data/ratings.standata
  
  int<lower=1, upper=K> A; // accuracies: 1, or K where each true category has its own
  int<lower=1, upper=K> P; // guesses: the same
  vector<lower=0>[K] prior_prevalence; // of a Dirichlet
  vector<lower=0>[2] prior_a; // of Betas
  vector<lower=0>[K] prior_p; // of Dirichlets
}
parameters {
  simplex[K] prevalence; // of the true categories
  vector<lower=0, upper=1>[A] a; // accuracy: probability that a rater knows
  array[P] simplex[K] p; // guesses: categories of ratings that are not accurate
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories summed out
  {
    matrix[K, K] table;
    for (truth in 1 : K) {
      real known = a[min(truth, A)];
      vector[K] probability = (1 - known) * p[min(truth, P)];
      probability[truth] += known;
      table[truth] = log(probability)';
    }
    log_likelihood = item_mixture(table, by_kind(log(prevalence), W), items, kind, first, cell,
                                  count);
  }
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  a ~ beta(prior_a[1], prior_a[2]);
  p ~ dirichlet(prior_p);
  target += log_likelihood;
}

