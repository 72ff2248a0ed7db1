// Raters of a vendor know the true category with the vendor's probability, and guess uniformly
// otherwise.
functions {
  #include functions/item_mixture.stanfunctions
}
data {
  int<lower=1> R; // raters
  int<lower=1> L; // vendors
  #include data/ratings.standata
  
  array[R] int<lower=1, upper=L> vendor; // of each rater
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector<lower=0>[2] prior_a; // of Betas
}
parameters {
  simplex[K] prevalence; // of the true categories
  vector<lower=0, upper=1>[L] a; // probability of knowing, by vendor
}
transformed parameters {
  real log_likelihood; // of all ratings, true categories marginalised
  {
    matrix[K, V] table; // cells: category by category, the raters within
    for (category in 1 : K) {
      for (rater in 1 : R) {
        real known = a[vendor[rater]];
        int cell_of = (category - 1) * R + rater;
        table[ : , cell_of] = rep_vector(log1m(known) - log(K), K);
        table[category, cell_of] = log(known + (1 - known) / K);
      }
    }
    log_likelihood = item_mixture(table, by_kind(log(prevalence), W), multiplicity, kind, first,
                                  cell, count);
  }
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  a ~ beta(prior_a[1], prior_a[2]);
  target += log_likelihood;
}

