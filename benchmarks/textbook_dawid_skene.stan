// Dawid-Skene as published for Stan, every rating read on its own: a peer, not part of the package.
//
//   true category ~ categorical(prevalence)
//   rating ~ categorical(confusion[rater, true category])
//
// After Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040, in today's syntax and with priors
// as data. The log-joint probabilities are local; theirs are written with each draw.
data {
  int<lower=1> N; // ratings
  int<lower=1> I; // items
  int<lower=1> R; // raters
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // what was rated
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[N] int<lower=1, upper=K> rating; // the category
  vector<lower=0>[K] prior_prevalence; // of a Dirichlet
  array[K] vector<lower=0>[K] prior_confusion; // of Dirichlets, by true category
}
parameters {
  simplex[K] prevalence; // of the true categories
  array[R, K] simplex[K] confusion; // of each rater, by true category: shares of the ratings
}
model {
  array[R, K] vector[K] log_confusion = log(confusion);
  array[I] vector[K] log_joint = rep_array(log(prevalence), I); // true category and ratings
  for (n in 1 : N) {
    for (truth in 1 : K) {
      log_joint[item[n], truth] += log_confusion[rater[n], truth, rating[n]];
    }
  }
  prevalence ~ dirichlet(prior_prevalence);
  for (r in 1 : R) {
    for (truth in 1 : K) {
      confusion[r, truth] ~ dirichlet(prior_confusion[truth]);
    }
  }
  for (i in 1 : I) {
    target += log_sum_exp(log_joint[i]);
  }
}
