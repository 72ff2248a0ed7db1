// Judge panels with one pass over the answers, for up to four categories.
//
//   true category T ~ categorical(prevalence[group])
//   a person's rating ~ categorical(people[person, T])
//   family's reading F ~ categorical(misreading[family, group, T])
//   judge's lasting reading O ~ categorical(own[judge, F])
//   a run of the judge ~ categorical(slip[judge, O])
//
// Log odds of prevalences, people's errors and misreadings are location + spread * effect of the unit. An
// error is a pair of a true category and a wrong category; log odds are relative to the right one.
functions {
  // Probabilities of categories by the right one (rows).
  matrix answers(row_vector log_odds, int K) {
    matrix[K, K] p;
    for (truth in 1 : K) {
      vector[K] own = zeros_vector(K);
      for (wrong in 1 : K - 1)
        own[wrong + (wrong >= truth)] = log_odds[(truth - 1) * (K - 1) + wrong];
      p[truth] = softmax(own)';
    }
    return p;
  }
}
data {
  int<lower=1> N, I, R; // answers, items, raters
  int<lower=2> K; // categories
  int<lower=1> G, F; // groups of items, families of judges
  array[N] int<lower=1, upper=I> item; // the judged item
  array[N] int<lower=1, upper=R> rater; // who judged it
  array[N] int<lower=1, upper=K> rating; // the category
  array[I] int<lower=1, upper=G> group; // of each item
  array[R] int<lower=0, upper=F> family; // of each judge, 0 for people
  array[R] int<lower=0, upper=1> has_own, has_slip; // whether judges have readings of their own, and slips
  matrix[K, K - 1] contrasts; // of log-probabilities
  vector[2] prior_prevalence_location, prior_people_location, prior_misreading_location; // of normals
  real<lower=0> prior_prevalence_spread, prior_people_spread, prior_misreading_spread; // of half normals
  vector[2] prior_own, prior_slip; // mean and sd of normals
}
parameters {
  vector[K - 1] prevalence_location;
  real<lower=0> prevalence_spread; // sd between groups
  matrix[G, K - 1] prevalence_effect; // of groups, standard normal
  row_vector[K * (K - 1)] people_location; // mean log odds of each error
  real<lower=0> people_spread; // sd between people
  matrix[R, K * (K - 1)] people_effect; // of people, standard normal
  array[F] row_vector[K * (K - 1)] misreading_location; // mean log odds of each misreading
  vector<lower=0>[F] misreading_spread; // sd between groups
  array[F] matrix[G, K * (K - 1)] misreading_effect; // of groups, standard normal
  matrix[R, K * (K - 1)] own; // log odds of a judge's own misreadings
  matrix[R, K * (K - 1)] slip; // log odds of slips of its runs
}
model {
  array[I, R] vector[K] log_lasting = rep_array(zeros_vector(K), I, R); // of runs, by lasting reading
  array[I] vector[K] log_joint; // of true category and answers
  for (i in 1 : I)
    log_joint[i] = log_softmax(contrasts
                               * (prevalence_location
                                  + prevalence_spread * prevalence_effect[group[i]]'));
  for (n in 1 : N) {
    int i = item[n], r = rater[n];
    if (family[r] == 0)
      log_joint[i] += log(answers(people_location + people_spread * people_effect[r], K)[ : , rating[n]]);
    else if (has_slip[r])
      log_lasting[i, r] += log(answers(slip[r], K)[ : , rating[n]]);
    else
      log_lasting[i, r] += log(one_hot_vector(K, rating[n]));
  }
  for (i in 1 : I) {
    for (f in 1 : F) {
      vector[K] of_reading = ones_vector(K); // probability of the judges' answers
      for (r in 1 : R)
        if (family[r] == f)
          of_reading .*= has_own[r] ? answers(own[r], K) * exp(log_lasting[i, r])
                         : exp(log_lasting[i, r]);
      log_joint[i] += log(answers(misreading_location[f]
                                  + misreading_spread[f] * misreading_effect[f, group[i]], K)
                          * of_reading);
    }
    target += log_sum_exp(log_joint[i]); // marginalises the true category
  }
  prevalence_location ~ normal(prior_prevalence_location[1], prior_prevalence_location[2]);
  prevalence_spread ~ normal(0, prior_prevalence_spread);
  to_vector(prevalence_effect) ~ std_normal();
  people_location ~ normal(prior_people_location[1], prior_people_location[2]);
  people_spread ~ normal(0, prior_people_spread);
  to_vector(people_effect) ~ std_normal();
  misreading_spread ~ normal(0, prior_misreading_spread);
  for (f in 1 : F) {
    misreading_location[f] ~ normal(prior_misreading_location[1], prior_misreading_location[2]);
    to_vector(misreading_effect[f]) ~ std_normal();
  }
  to_vector(own) ~ normal(prior_own[1], prior_own[2]);
  to_vector(slip) ~ normal(prior_slip[1], prior_slip[2]);
}

