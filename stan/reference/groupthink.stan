// Groupthink, t-a-c_i, with one pass over the ratings.
//
//   true category ~ categorical(prevalence)
//   accurate ~ bernoulli(a)
//   rating = true category if accurate, else ~ categorical(proportions of the item's ratings)
//
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
data {
  int<lower=1> N, I; // ratings, items
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=K> rating; // the category
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector<lower=0>[2] prior_a; // of a Beta
}
transformed data {
  array[I] vector[K] proportion = rep_array(zeros_vector(K), I); // of each item's ratings
  for (n in 1 : N)
    proportion[item[n], rating[n]] += 1;
  for (i in 1 : I)
    proportion[i] /= sum(proportion[i]);
}
parameters {
  simplex[K] prevalence; // of the true categories
  real<lower=0, upper=1> a; // accuracy: probability that a rater knows the true category
}
model {
  array[I] vector[K] log_joint = rep_array(log(prevalence), I); // of true category and ratings
  for (n in 1 : N)
    for (truth in 1 : K)
      log_joint[item[n], truth] += log(a * (rating[n] == truth)
                                       + (1 - a) * proportion[item[n], rating[n]]);
  prevalence ~ dirichlet(prior_prevalence);
  a ~ beta(prior_a[1], prior_a[2]);
  for (i in 1 : I)
    target += log_sum_exp(log_joint[i]); // marginalises the true category
}

