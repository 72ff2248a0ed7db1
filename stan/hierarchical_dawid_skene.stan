// Hierarchical Dawid-Skene: the raters' confusion matrices come from a common population.
//
//   true category ~ categorical(prevalence)
//   rating ~ categorical(softmax(log_odds[rater, true category]))
//   log_odds[rater, error] = location[error] - ability_spread * ability[rater]
//                            + spread[error] * effect[error, rater]
//   ability, effect ~ normal(0, 1)
//
// An error is a pair of a true category and a wrong category; log odds are relative to the right one.
//
// Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040.
functions {
  #include functions/item_mixture.stanfunctions
  #include functions/hierarchical_mixture.stanfunctions
  
  #include functions/scores.stanfunctions
  
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  #include data/misleading.standata
  
  vector<lower=0>[K] prior_prevalence; // concentrations of a Dirichlet
  vector[2] prior_location; // mean and sd of normals
  vector<lower=0>[2] prior_spread; // degrees of freedom and scale of half ts
  vector<lower=0>[2] prior_ability_spread; // the same
  // Normal approximation of the likelihood of each rater's log odds, by rater and error, and of what
  // all log odds of a rater share, and half the size of each spread. These centre and scale the parameters for the sampler and do not enter the
  // density.
  matrix[R, K * (K - 1)] log_odds_mean;
  matrix<lower=0>[R, K * (K - 1)] log_odds_precision;
  vector<lower=0>[K * (K - 1)] spread_scale;
  matrix[R, 1] level_mean;
  matrix<lower=0>[R, 1] level_precision;
  real<lower=0> ability_scale;
}
parameters {
  simplex[K] prevalence; // of the true categories
  vector[K * (K - 1)] location; // mean log odds of each error
  vector[K * (K - 1)] free_spread; // the spread of each error, before softplus
  real free_ability_spread; // the spread of abilities, before softplus
  matrix[R, 1] level_score; // levels of raters, centred and scaled
  matrix[R, K * (K - 1)] score; // effects of raters, centred and scaled
  array[misleads] real<lower=0, upper=1> misleading; // probability that an item misleads
}
transformed parameters {
  vector<lower=0>[K * (K - 1)] spread = softplus(free_spread, spread_scale); // sd between raters
  real<lower=0> ability_spread = softplus(free_ability_spread, ability_scale); // sd of levels
  // What all log odds of a rater share: the less, the more able.
  vector[R] level = rater_effects(0, ability_spread, level_score, level_mean, level_precision);
  real log_likelihood; // of all ratings, true categories marginalised
  log_likelihood = hierarchical_mixture(location, level, spread, score,
                                        by_kind(log(prevalence), W, misleading), log_odds_mean,
                                        log_odds_precision, multiplicity, kind, first, cell, count);
}
model {
  prevalence ~ dirichlet(prior_prevalence);
  location ~ normal(prior_location[1], prior_location[2]);
  spread ~ half_student_t(prior_spread);
  target += log_inv_logit(free_spread ./ spread_scale); // derivative of the spreads
  ability_spread ~ half_student_t(prior_ability_spread);
  target += log_inv_logit(free_ability_spread / ability_scale);
  target += score_density([0]', [ability_spread]', level_score, level_mean, level_precision);
  target += score_density(location, level, spread, score, log_odds_mean, log_odds_precision);
  misleading ~ beta(prior_misleading[1], prior_misleading[2]);
  target += log_likelihood;
}

