// MACE as published for Stan, every rating read on its own: a peer, not part of the package.
//
//   true category ~ categorical(1 / K)
//   rating = true category with probability theta[rater], else ~ categorical(xi[rater])
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
  vector<lower=0>[2] prior_theta; // of Betas
  vector<lower=0>[K] prior_xi; // of Dirichlets
}
parameters {
  vector<lower=0, upper=1>[R] theta; // probability that the rater copies the true category
  array[R] simplex[K] xi; // categories of the rater's spam
}
model {
  array[I] vector[K] log_joint = rep_array(rep_vector(-log(K), K), I); // true category and ratings
  for (n in 1 : N) {
    for (truth in 1 : K) {
      int copied = rating[n] == truth;
      log_joint[item[n], truth] += log(theta[rater[n]] * copied
                                       + (1 - theta[rater[n]]) * xi[rater[n], rating[n]]);
    }
  }
  theta ~ beta(prior_theta[1], prior_theta[2]);
  for (r in 1 : R) {
    xi[r] ~ dirichlet(prior_xi);
  }
  for (i in 1 : I) {
    target += log_sum_exp(log_joint[i]);
  }
}
