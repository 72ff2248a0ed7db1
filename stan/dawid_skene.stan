// Dawid-Skene: each rater has a confusion matrix.
//
//   true category ~ categorical(prevalence)
//   rating ~ categorical(confusion[rater, true category])
//
// Dawid & Skene (1979), https://doi.org/10.2307/2346806.
functions {
  #include functions/item_mixture.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  #include data/misleading.standata
  
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  array[R, K] vector<lower=0>[K] prior_confusion; // concentrations, by rater and true category
}
parameters {
  simplex[K] prevalence; // of the true categories
  array[R, K] simplex[K] confusion; // by rater and true category
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories marginalised
  {
    matrix[K, V] table; // cells are ordered by category, then by rater
    for (category in 1 : K) {
      int last = category * R;
      for (truth in 1 : K) {
        table[truth, last - R + 1 : last] = log(to_row_vector(confusion[ : , truth, category]));
      }
    }
    log_likelihood = item_mixture(table, by_kind(log(prevalence), W, misleading), multiplicity,
                                  kind, first, cell, count);
  }
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  for (truth in 1 : K) {
    confusion[ : , truth] ~ dirichlet(prior_confusion[ : , truth]);
  }
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

