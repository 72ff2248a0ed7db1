// Latent-scale t-a-p: accuracy falls with the difficulty of the item.
//
//   true category ~ categorical(prevalence)
//   accurate ~ bernoulli(inv_logit(alpha[rater] - delta[item] + x[rater] * eta))
//   rating = true category if accurate, else ~ categorical(p[rater])
//   alpha ~ normal(mean_alpha, sd_alpha)    delta ~ normal(0, sd_delta)
//   p ~ dirichlet(1 + concentration * mean_p)
//
// The difficulty delta is summed over nodes, equally spaced in standard deviations: a state is a
// node and a true category.
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/known_or_guessed.stanfunctions
  
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  
  int<lower=1> Q; // nodes: 1 where all items are equally difficult
  vector[Q] node; // difficulty, in standard deviations
  simplex[Q] node_weight; // probability
  int<lower=0> X; // covariates of raters
  matrix[R, X] covariate; // values
  vector<lower=0, upper=1>[R] centred; // how far alpha is told by ratings, not by other raters
  vector<lower=0>[K] prior_prevalence; // of a Dirichlet
  vector[2] prior_mean_alpha; // mean and sd
  vector<lower=0>[2] prior_sd_alpha; // degrees of freedom and scale of a half t
  vector<lower=0>[2] prior_sd_delta; // the same
  vector[2] prior_eta; // mean and sd
  vector<lower=0>[K] prior_mean_p; // of a Dirichlet
  vector<lower=0>[2] prior_concentration; // of a half t
}
parameters {
  simplex[K] prevalence; // of the true categories
  real mean_alpha; // accuracy of an average rater, in log odds
  real<lower=0> sd_alpha; // between raters
  vector[R] score; // alpha, around its mean and in its sd as far as it is not centred
  array[Q > 1] real<lower=0> sd_delta; // difficulty, between items
  vector[X] eta; // slopes of the covariates
  simplex[K] mean_p; // guesses that raters are drawn to
  real<lower=0> concentration; // of the raters' guesses around it; 0: they share nothing
  array[R] simplex[K] p; // guesses: categories of ratings that are not accurate
}
transformed parameters {
  vector[R] alpha = mean_alpha
                    + (score - mean_alpha * centred) .* exp((1 - centred) * log(sd_alpha));
  real log_likelihood; // of all ratings, true categories and difficulties summed out
  {
    matrix[Q * K, V] table;
    vector[Q * K] log_weight;
    vector[R] accuracy = alpha + covariate * eta;
    for (q in 1 : Q) {
      vector[R] known = inv_logit(Q > 1 ? accuracy - sd_delta[1] * node[q] : accuracy);
      int last = q * K;
      table[last - K + 1 : last] = known_or_guessed(known, p, K);
      log_weight[last - K + 1 : last] = log(prevalence) + log(node_weight[q]);
    }
    log_likelihood = item_mixture(table, by_kind(log_weight, W), items, kind, first, cell, count);
  }
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  mean_alpha ~ normal(prior_mean_alpha[1], prior_mean_alpha[2]);
  sd_alpha ~ half_student_t(prior_sd_alpha);
  score ~ normal(mean_alpha * centred, exp(centred * log(sd_alpha)));
  if (Q > 1) {
    sd_delta[1] ~ half_student_t(prior_sd_delta);
  }
  eta ~ normal(prior_eta[1], prior_eta[2]);
  mean_p ~ dirichlet(prior_mean_p);
  concentration ~ half_student_t(prior_concentration);
  p ~ dirichlet(1 + concentration * mean_p);
  target += log_likelihood;
}

