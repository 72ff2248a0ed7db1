// Groupthink, t_i-a_j-c_i, with one pass over the ratings.
//
//   true category ~ categorical(t[item])
//   accurate ~ bernoulli(a[rater])
//   rating = true category if accurate, else ~ categorical(proportions of the item's ratings)
//
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
data {
  int<lower=1> N, I, R; // ratings, items, raters
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[N] int<lower=1, upper=K> rating; // the category
  vector<lower=0>[K] prior_t; // concentrations of Dirichlets
  vector<lower=0>[2] prior_a; // of Betas
}
transformed data {
  array[I] vector[K] proportion = rep_array(zeros_vector(K), I); // of each item's ratings
  for (n in 1 : N)
    proportion[item[n], rating[n]] += 1;
  for (i in 1 : I)
    proportion[i] /= sum(proportion[i]);
}
parameters {
  array[I] simplex[K] t; // probabilities of each item's true category
  vector<lower=0, upper=1>[R] a; // accuracy: probability that the rater knows the true category
}
model {
  array[I] vector[K] log_joint = log(t); // of true category and ratings
  for (n in 1 : N)
    for (truth in 1 : K)
      log_joint[item[n], truth] += log(a[rater[n]] * (rating[n] == truth)
                                       + (1 - a[rater[n]]) * proportion[item[n], rating[n]]);
  t ~ dirichlet(prior_t);
  a ~ beta(prior_a[1], prior_a[2]);
  for (i in 1 : I)
    target += log_sum_exp(log_joint[i]); // marginalises the true category
}

