// t-a-p: exchangeable raters know the true category with probability a, and otherwise guess.
//
//   true category ~ categorical(prevalence)                  t if there are two categories
//   accurate ~ bernoulli(a)
//   rating = true category if accurate, else ~ categorical(p)
//
// Accuracies a and guesses p may depend on the true category. They are then identified only by their
// priors, because the ratings identify no more than prevalence and confusion.
// Eubanks, The t-a-p model, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
}
data {
  #include data/ratings.standata
  #include data/misleading.standata
  
  int<lower=1, upper=K> A; // accuracies: 1, or K if each true category has its own
  int<lower=1, upper=K> P; // distributions of guesses: the same
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector<lower=0>[2] prior_a; // of Betas
  vector<lower=0>[K] prior_p; // concentrations of Dirichlets
}
parameters {
  simplex[K] prevalence; // of the true categories
  vector<lower=0, upper=1>[A] a; // accuracy: probability that a rater knows
  array[P] simplex[K] p; // distributions of guesses over categories
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories marginalised
  {
    matrix[K, K] table;
    for (truth in 1 : K) {
      real accuracy = a[min(truth, A)];
      vector[K] probability = (1 - accuracy) * p[min(truth, P)];
      probability[truth] += accuracy;
      table[truth] = log(probability)';
    }
    log_likelihood = item_mixture(table, by_kind(log(prevalence), W, misleading), multiplicity,
                                  kind, first, cell, count);
  }
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  a ~ beta(prior_a[1], prior_a[2]);
  p ~ dirichlet(prior_p);
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

