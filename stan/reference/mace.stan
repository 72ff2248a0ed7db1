// MACE with one pass over the ratings.
//
//   true category ~ categorical(1 / K)
//   copies ~ bernoulli(theta[rater])
//   rating = true category if copies, else ~ categorical(xi[rater])
//
// After Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040, with priors as data.
data {
  int<lower=1> N, I, R; // ratings, items, raters
  int<lower=2> K; // categories
  array[N] int<lower=1, upper=I> item; // the rated item
  array[N] int<lower=1, upper=R> rater; // who rated it
  array[N] int<lower=1, upper=K> rating; // the category
  vector<lower=0>[2] prior_theta; // of Betas
  vector<lower=0>[K] prior_xi; // concentrations of Dirichlets
}
parameters {
  vector<lower=0, upper=1>[R] theta; // competence: probability that the rater copies
  array[R] simplex[K] xi; // distribution of the rater's spam over categories
}
model {
  // of true category and ratings
  array[I] vector[K] log_joint = rep_array(rep_vector(-log(K), K), I);
  for (n in 1 : N)
    for (truth in 1 : K)
      log_joint[item[n], truth] += log(theta[rater[n]] * (rating[n] == truth)
                                       + (1 - theta[rater[n]]) * xi[rater[n], rating[n]]);
  theta ~ beta(prior_theta[1], prior_theta[2]);
  xi ~ dirichlet(prior_xi);
  for (i in 1 : I)
    target += log_sum_exp(log_joint[i]); // marginalises the true category
}

