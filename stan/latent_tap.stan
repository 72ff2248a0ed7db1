// Latent-scale t-a-p: accuracy decreases with the difficulty of the item.
//
//   true category ~ categorical(prevalence)
//   accurate ~ bernoulli(inv_logit(alpha[rater] - delta[item] + x[rater] * eta))
//   rating = true category if accurate, else ~ categorical(p[rater])
//   alpha ~ normal(mean_alpha, sd_alpha)    delta ~ normal(0, sd_delta)
//   p ~ dirichlet(1 + concentration * mean_p)
//
// The difficulty delta is integrated out by quadrature on equally spaced nodes, so a state of an item is
// a node and a true category.
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/guessing_mixture.stanfunctions
  
  #include functions/guesses.stanfunctions
  
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  #include data/misleading.standata
  
  int<lower=1> Q; // nodes: 1 if all items are equally difficult
  vector[Q] node; // difficulty, in standard deviations
  simplex[Q] node_weight; // probability of each node
  int<lower=0> X; // covariates of raters
  matrix[R, X] covariate; // values by rater
  vector<lower=0, upper=1>[R] centredness; // of alpha: 1 centred, 0 non-centred
  // Expected guesses of each category. They centre and scale the parameters for the sampler and do not
  // enter the density.
  matrix<lower=0>[R, K] guessed;
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector[2] prior_mean_alpha; // mean and sd
  vector<lower=0>[2] prior_sd_alpha; // degrees of freedom and scale of a half t
  vector<lower=0>[2] prior_sd_delta; // the same
  vector[2] prior_eta; // mean and sd
  vector<lower=0>[K] prior_mean_p; // concentrations of a Dirichlet
  vector<lower=0>[2] prior_concentration; // degrees of freedom and scale of a half t
}
parameters {
  simplex[K] prevalence; // of the true categories
  real mean_alpha; // accuracy of an average rater, in log odds
  real<lower=0> sd_alpha; // of the accuracies of raters
  vector[R] score; // alpha, partly centred and scaled by its mean and sd
  array[Q > 1] real<lower=0> sd_delta; // of the difficulties of items
  vector[X] eta; // slopes of the covariates
  simplex[K] mean_p; // average distribution of guesses
  real<lower=0> concentration; // of the raters' guesses around it; 0: uniform on the simplex
  matrix[R, K - 1] guess_score; // of p, centred and scaled
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  vector[R] alpha = mean_alpha
                    + (score - mean_alpha * centredness) .* exp((1 - centredness) * log(sd_alpha));
  matrix[R, K] p = guesses(guess_score, 1 + concentration * mean_p, guessed); // of each rater
  real log_likelihood; // of all ratings, true categories and difficulties marginalised
  {
    vector[Q * K] log_weight;
    for (q in 1 : Q) {
      log_weight[(q - 1) * K + 1 : q * K] = log(prevalence) + log(node_weight[q]);
    }
    log_likelihood = guessing_mixture(alpha + covariate * eta, (Q > 1 ? sd_delta[1] : 0) * node, p,
                                      by_kind(log_weight, W, misleading), multiplicity, kind,
                                      first, cell, count);
  }
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  mean_alpha ~ normal(prior_mean_alpha[1], prior_mean_alpha[2]);
  sd_alpha ~ half_student_t(prior_sd_alpha);
  score ~ normal(mean_alpha * centredness, exp(centredness * log(sd_alpha)));
  if (Q > 1) {
    sd_delta[1] ~ half_student_t(prior_sd_delta);
  }
  eta ~ normal(prior_eta[1], prior_eta[2]);
  mean_p ~ dirichlet(prior_mean_p);
  concentration ~ half_student_t(prior_concentration);
  target += guess_density(p, 1 + concentration * mean_p, guessed);
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

