// Answers judged by people and by families of judges that err together.
//
//   true category T ~ categorical(prevalence[group])
//   a person's rating ~ categorical(people[person, T])
//   family's reading F ~ categorical(misreading[family, group, T])
//   judge's lasting reading O ~ categorical(own[judge, F])
//   a run of the judge ~ categorical(slip[judge, O])
//
// A judge with one run on each item has no slips, a judge alone in its family has no readings of its own.
// Log odds of prevalences, of people's errors and of misreadings in each group come from a population:
// log_odds[unit] = location + spread * effect[unit], effect ~ normal(0, 1); with one unit, or without
// pooling, location and spread are the numbers of a prior.
//
// With people alone it is a hierarchy of the model of Dawid & Skene (1979), https://doi.org/10.2307/2346806.
functions {
  #include functions/panel_mixture.stanfunctions
  
  #include functions/scores.stanfunctions
  
  #include functions/priors.stanfunctions
  
  // Levels of units (rows), of scores: scores.stanfunctions.
  matrix unit_levels(vector location, vector spread, matrix score, data matrix own_mean,
                     data matrix own_precision) {
    matrix[rows(score), cols(score)] level;
    for (l in 1 : cols(score)) {
      level[ : , l] = rater_effects(location[l], spread[l], score[ : , l : l],
                                    own_mean[ : , l : l], own_precision[ : , l : l]);
    }
    return level;
  }
}
data {
  #include data/ratings.standata
  
  int<lower=1> G; // groups of items
  int<lower=0> P; // people
  int<lower=0> F; // families of judges
  int<lower=0> J; // judges
  int<lower=1> L; // levels of a matrix of errors: K (K - 1), or K where each is the share of all errors
  int<lower=1> M; // groups of items that misreadings differ between: 1 or G
  int<lower=0> A; // judges with lasting readings of their own
  int<lower=0> B; // judges with several runs
  int<lower=0> Y; // populations of errors with popular categories: none if L = K (K - 1)
  int<lower=0, upper=1> is_ordered; // 1: errors fall off with distance, if they have popular categories
  array[3] int<lower=0, upper=1> pooled; // whether prevalences, people and misreadings are
  array[J] int<lower=1, upper=F> family; // of each judge
  array[J] int<lower=0, upper=A> own_of; // position of each judge's readings of its own, 0 if none
  array[J] int<lower=0, upper=B> slip_of; // position of each judge's slips, 0 if none
  int<lower=0> S; // readings: what a judge may have said of an item, in any number of runs
  array[J + 1] int<lower=1, upper=S + 1> first_of_judge; // readings are ordered by judge
  matrix<lower=0>[K, S] runs; // runs of a reading by category
  int<lower=0> E; // entries of families: what all judges of a family have said of an item of a group
  array[E] int<lower=1, upper=F * M> matrix_of; // family and group: groups run fastest
  int<lower=0> N; // readings of all entries
  array[E + 1] int<lower=1, upper=N + 1> first_reading; // first reading of each entry
  array[N] int<lower=1, upper=S> reading; // of each entry in turn
  matrix[K, K - 1] contrasts; // of log-probabilities, whose differences all have the same size
  vector[2] prior_prevalence_location; // means and sds of normals; of all groups if they are not pooled
  vector<lower=0>[2] prior_prevalence_spread; // degrees of freedom and scale of half ts
  vector[2] prior_people_location;
  vector<lower=0>[2] prior_people_spread;
  vector[2] prior_misreading_location;
  vector<lower=0>[2] prior_misreading_spread;
  vector[2] prior_own; // mean and sd of normals
  vector[2] prior_slip;
  vector[2] prior_popularity;
  vector[2] prior_log_decay;
  // Normal approximations of the likelihood of each unit's levels, and half the sizes of spreads. They
  // centre and scale the parameters for the sampler and do not enter the density.
  matrix[K - 1, G] prevalence_mean;
  matrix<lower=0>[K - 1, G] prevalence_precision;
  matrix[L, P] people_mean;
  matrix<lower=0>[L, P] people_precision;
  matrix[M, F * L] misreading_mean;
  matrix<lower=0>[M, F * L] misreading_precision;
  vector<lower=0>[3] spread_scale;
}
transformed data {
  array[3] int columns = {K - 1, L, F * L}; // of the three kinds of levels
}
parameters {
  vector[pooled[1] * columns[1]] prevalence_location; // mean log odds
  vector[pooled[1]] free_prevalence_spread; // spreads before softplus
  matrix[columns[1], G] prevalence_score; // effects of groups, centred and scaled
  vector[pooled[2] * columns[2]] people_location; // mean levels of people's errors
  vector[pooled[2]] free_people_spread;
  matrix[columns[2], P] people_score;
  vector[pooled[3] * columns[3]] misreading_location; // mean levels of misreadings, by family
  vector[pooled[3] * F] free_misreading_spread;
  array[M] row_vector[columns[3]] misreading_score;
  matrix[L, A] own_log_odds; // levels of each judge's readings of its own
  matrix[L, B] slip_log_odds; // levels of the slips of a judge's runs
  matrix[K - 1, Y] popularity; // of wrong categories, in log odds, by families and then people
  vector[is_ordered * Y] log_decay; // of errors by distance
}
transformed parameters {
  vector<lower=0>[pooled[1]] prevalence_spread = softplus(free_prevalence_spread, spread_scale[1]);
  vector<lower=0>[pooled[2]] people_spread = softplus(free_people_spread, spread_scale[2]);
  vector<lower=0>[pooled[3] * F] misreading_spread = softplus(free_misreading_spread,
                                                              spread_scale[3]);
  matrix[G, columns[1]] prevalence_log_odds;
  matrix[P, columns[2]] people_log_odds;
  matrix[M, columns[3]] misreading_log_odds;
  real log_score_density; // of the effects
  real log_likelihood; // of all answers, what is hidden marginalised
  {
    vector[columns[1]] location_1 = pooled[1] ? prevalence_location
                                    : rep_vector(prior_prevalence_location[1], columns[1]);
    vector[columns[1]] spread_1 = rep_vector(pooled[1] ? prevalence_spread[1]
                                             : prior_prevalence_location[2], columns[1]);
    vector[columns[2]] location_2 = pooled[2] ? people_location
                                    : rep_vector(prior_people_location[1], columns[2]);
    vector[columns[2]] spread_2 = rep_vector(pooled[2] ? people_spread[1]
                                             : prior_people_location[2], columns[2]);
    vector[columns[3]] location_3 = pooled[3] ? misreading_location
                                    : rep_vector(prior_misreading_location[1], columns[3]);
    vector[columns[3]] spread_3 = pooled[3] ? to_vector(rep_matrix(misreading_spread', L))
                                  : rep_vector(prior_misreading_location[2], columns[3]);
    prevalence_log_odds = unit_levels(location_1, spread_1, prevalence_score', prevalence_mean',
                                      prevalence_precision');
    people_log_odds = unit_levels(location_2, spread_2, people_score', people_mean',
                                  people_precision');
    misreading_log_odds = unit_levels(location_3, spread_3, to_matrix(
                                      misreading_score), misreading_mean, misreading_precision);
    log_score_density = score_density(location_1, spread_1, prevalence_score', prevalence_mean',
                                      prevalence_precision')
                        + score_density(location_2, spread_2, people_score', people_mean',
                                        people_precision')
                        + score_density(location_3, spread_3, to_matrix(
                                        misreading_score), misreading_mean, misreading_precision);
    
    matrix[K, Y] log_popularity = contrasts * popularity;
    vector[Y] decay = is_ordered ? exp(log_decay) : zeros_vector(Y);
    
    matrix[K, P * K] people;
    for (p in 1 : P) {
      people[ : , (p - 1) * K + 1 : p * K] = log_answers(people_log_odds[p], log_popularity, decay,
                                                         F + 1, K);
    }
    matrix[K, F * M * K] misreading;
    for (f in 1 : F) {
      for (m in 1 : M) {
        int last = ((f - 1) * M + m) * K;
        row_vector[L] level = misreading_log_odds[m, (f - 1) * L + 1 : f * L];
        misreading[ : , last - K + 1 : last] = exp(log_answers(level, log_popularity, decay, f, K));
      }
    }
    matrix[K, S] log_reading;
    for (j in 1 : J) {
      int a = first_of_judge[j];
      int b = first_of_judge[j + 1] - 1;
      matrix[K, b - a + 1] answers = log_runs(slip_log_odds, slip_of[j], runs[ : , a : b],
                                              log_popularity, decay, family[j]);
      if (own_of[j] > 0) {
        matrix[K, K] own = log_answers(own_log_odds[ : , own_of[j]]', log_popularity, decay,
                                       family[j], K);
        log_reading[ : , a : b] = log(exp(own) * exp(answers));
      } else {
        log_reading[ : , a : b] = answers;
      }
    }
    log_likelihood = panel_mixture(people, log_reading, misreading,
                                   by_group(prevalence_log_odds * contrasts', W), matrix_of,
                                   first_reading, reading, multiplicity, kind, first, cell, count);
  }
}
model {
  prevalence_location ~ normal(prior_prevalence_location[1], prior_prevalence_location[2]);
  prevalence_spread ~ half_student_t(prior_prevalence_spread);
  people_location ~ normal(prior_people_location[1], prior_people_location[2]);
  people_spread ~ half_student_t(prior_people_spread);
  misreading_location ~ normal(prior_misreading_location[1], prior_misreading_location[2]);
  misreading_spread ~ half_student_t(prior_misreading_spread);
  // Derivatives of the spreads.
  target += log_inv_logit(free_prevalence_spread / spread_scale[1]);
  target += log_inv_logit(free_people_spread / spread_scale[2]);
  target += log_inv_logit(free_misreading_spread / spread_scale[3]);
  target += log_score_density;
  to_vector(own_log_odds) ~ normal(prior_own[1], prior_own[2]);
  to_vector(slip_log_odds) ~ normal(prior_slip[1], prior_slip[2]);
  to_vector(popularity) ~ normal(prior_popularity[1], prior_popularity[2]);
  log_decay ~ normal(prior_log_decay[1], prior_log_decay[2]);
  target += log_likelihood;
}

