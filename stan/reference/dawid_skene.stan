// Dawid-Skene with one pass over the ratings.
//
//   true category ~ categorical(prevalence)
//   rating ~ categorical(confusion[rater, true category])
//
// After Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040, with priors as data.
data {
  int<lower=1> N, I, R; // ratings, items, raters
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[N] int<lower=1, upper=K> rating; // the category
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  array[R, K] vector<lower=0>[K] prior_confusion; // concentrations, by rater and true category
}
parameters {
  simplex[K] prevalence; // of the true categories
  array[R, K] simplex[K] confusion; // by rater and true category
}
model {
  array[R, K] vector[K] log_confusion = log(confusion);
  array[I] vector[K] log_joint = rep_array(log(prevalence), I); // of true category and ratings
  for (n in 1 : N)
    for (truth in 1 : K)
      log_joint[item[n], truth] += log_confusion[rater[n], truth, rating[n]];
  prevalence ~ dirichlet(prior_prevalence);
  for (truth in 1 : K)
    confusion[ : , truth] ~ dirichlet(prior_confusion[ : , truth]);
  for (i in 1 : I)
    target += log_sum_exp(log_joint[i]); // marginalises the true category
}

