// t-a-p with one pass over the ratings.
//
//   true category ~ categorical(prevalence)
//   accurate ~ bernoulli(a)
//   rating = true category if accurate, else ~ categorical(p)
//
// Eubanks, The t-a-p model, https://kappazoo.com.
data {
  int<lower=1> N, I; // ratings, items
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=K> rating; // the category
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector<lower=0>[2] prior_a; // of a Beta
  vector<lower=0>[K] prior_p; // concentrations of a Dirichlet
}
parameters {
  simplex[K] prevalence; // of the true categories
  real<lower=0, upper=1> a; // accuracy: probability that a rater knows the true category
  simplex[K] p; // distribution of guesses over categories
}
model {
  array[I] vector[K] log_joint = rep_array(log(prevalence), I); // of true category and ratings
  for (n in 1 : N)
    for (truth in 1 : K)
      log_joint[item[n], truth] += log(a * (rating[n] == truth) + (1 - a) * p[rating[n]]);
  prevalence ~ dirichlet(prior_prevalence);
  a ~ beta(prior_a[1], prior_a[2]);
  p ~ dirichlet(prior_p);
  for (i in 1 : I)
    target += log_sum_exp(log_joint[i]); // marginalises the true category
}

