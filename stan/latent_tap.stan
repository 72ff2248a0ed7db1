// Latent-scale t-a-p: accuracy decreases with the difficulty of the item.
//
//   true category ~ categorical(prevalence)
//   accurate ~ bernoulli(inv_logit(alpha[rater] - delta[item] + x[rater] * eta))
//   rating = true category if accurate, else ~ categorical(p[rater])
//   alpha ~ normal(mean_alpha, sd_alpha)    delta ~ normal(0, sd_delta)
//   p ~ dirichlet(1 + concentration * mean_p)
//
// The difficulty delta is integrated out by quadrature, so a state of an item is a node and a true
// category.
// Eubanks, Hierarchical t-a-p models, https://kappazoo.com.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/guessing_mixture.stanfunctions
  
  #include functions/scores.stanfunctions
  
  #include functions/priors.stanfunctions
  
  // How much farther out accuracies lie where difficulties differ more than the centring assumed: they
  // widen the curve of knowing.
  real stretch_of(vector sd_delta, data real known_sd_delta, data real widening) {
    return sqrt((1 + widening * dot_self(sd_delta)) / (1 + widening * square(known_sd_delta)));
  }
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
  // Normal approximation of the likelihood of each rater's accuracy, expected guesses of each category,
  // half the sizes of sd_alpha, sd_delta and concentration, and mean and root of the covariance of what
  // raters have in common. They centre and scale the parameters for the sampler and do not enter the
  // density.
  matrix[R, 1] alpha_mean;
  matrix<lower=0>[R, 1] alpha_precision;
  matrix<lower=0>[R, K] guessed;
  real<lower=0> known_sd_delta; // that the approximation was found with; 0 if there is none
  real<lower=0> widening; // of the curve of knowing by normal difficulties
  vector<lower=0>[3] spread_scale;
  vector[2 * K + 1 + (Q > 1) + X] core_mean;
  matrix[2 * K + 1 + (Q > 1) + X, 2 * K + 1 + (Q > 1) + X] core_root;
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector[2] prior_mean_alpha; // mean and sd
  vector<lower=0>[2] prior_sd_alpha; // degrees of freedom and scale of a half t
  vector<lower=0>[2] prior_sd_delta; // the same
  vector[2] prior_eta; // mean and sd
  vector<lower=0>[K] prior_mean_p; // concentrations of a Dirichlet
  vector<lower=0>[2] prior_concentration; // degrees of freedom and scale of a half t
}
parameters {
  vector[2 * K + 1 + (Q > 1) + X] core; // what raters have in common, centred and scaled
  matrix[R, 1] score; // of alpha, centred and scaled
  matrix[R, K - 1] guess_score; // of p, centred and scaled
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  simplex[K] prevalence; // of the true categories
  real mean_alpha; // accuracy of an average rater, in log odds
  real<lower=0> sd_alpha; // of the accuracies of raters
  vector<lower=0>[Q > 1] sd_delta; // of the difficulties of items
  vector[X] eta; // slopes of the covariates
  simplex[K] mean_p; // average distribution of guesses
  real<lower=0> concentration; // of the raters' guesses around it; 0: uniform on the simplex
  vector[R] alpha; // accuracies of raters
  real log_likelihood; // of all ratings, true categories and difficulties marginalised
  real log_guess_density; // of guess_score, but for a constant of the Dirichlet distribution
  {
    vector[rows(core)] free = core_mean + core_root * core;
    int n = K + 1 + (Q > 1);
    prevalence = broken_stick(free[1 : K - 1]);
    mean_alpha = free[K];
    sd_alpha = softplus(free[K + 1], spread_scale[1]);
    sd_delta = softplus(free[K + 2 : n], spread_scale[2]);
    eta = free[n + 1 : n + X];
    mean_p = broken_stick(free[n + X + 1 : n + X + K - 1]);
    concentration = softplus(free[n + X + K], spread_scale[3]);
    real stretch = stretch_of(sd_delta, known_sd_delta, widening);
    alpha = stretch
            * rater_effects(mean_alpha / stretch, sd_alpha / stretch, score, alpha_mean,
                            alpha_precision);
    vector[2] density = guessing_mixture(X > 0 ? alpha + covariate * eta : alpha,
                                         (Q > 1 ? sd_delta[1] : 0) * node, guess_score,
                                         1 + concentration * mean_p, guessed,
                                         by_kind(log(prevalence), W, misleading), node_weight,
                                         multiplicity, kind, first, cell, count);
    log_likelihood = density[1];
    log_guess_density = density[2];
  }
}
model {
  vector[K] shape = 1 + concentration * mean_p;
  real stretch = stretch_of(sd_delta, known_sd_delta, widening);
  prevalence ~ dirichlet(prior_prevalence);
  mean_alpha ~ normal(prior_mean_alpha[1], prior_mean_alpha[2]);
  sd_alpha ~ half_student_t(prior_sd_alpha);
  if (Q > 1) {
    sd_delta[1] ~ half_student_t(prior_sd_delta);
  }
  eta ~ normal(prior_eta[1], prior_eta[2]);
  mean_p ~ dirichlet(prior_mean_p);
  concentration ~ half_student_t(prior_concentration);
  // The derivatives of simplexes and of what is positive.
  target += sum(log(prevalence)) + sum(log(mean_p)) + log1m_exp(-sd_alpha / spread_scale[1])
            + sum(log1m_exp(-sd_delta / spread_scale[2]))
            + log1m_exp(-concentration / spread_scale[3]);
  target += score_density([mean_alpha / stretch]', [sd_alpha / stretch]', score, alpha_mean,
                          alpha_precision);
  target += log_guess_density + R * (lgamma(sum(shape)) - sum(lgamma(shape)));
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

