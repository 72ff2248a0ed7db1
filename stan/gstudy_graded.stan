// G study of ratings in ordered categories, two or more: random effects of crossed and nested facets.
//
//   Pr(rating > k) = inv_logit(sum of an effect of each source of variance - cut[k])
//   effect ~ normal(0, sd[source])    sd[S + 1] = pi / sqrt(3), that of the logistic residual
//
// Two categories have one cut point, minus their mean in log odds. All effects are sampled. Those of
// sources with few levels, the core, are scaled together with the location, for they depend on each
// other; those of the others given the core, an object's effect together with its interactions.
// Brennan (2001), https://doi.org/10.1007/978-1-4757-3456-0;
// McCullagh (1980), https://doi.org/10.1111/j.2517-6161.1980.tb01109.x.
functions {
  #include functions/ordinal.stanfunctions
  #include functions/priors.stanfunctions
  
  #include functions/core_effects.stanfunctions
}
data {
  int<lower=1> N; // ratings
  int<lower=2> K; // categories
  int<lower=1> S; // sources of variance, without the residual
  int<lower=0> G; // effects of the core
  int<lower=0> L; // other effects
  array[G + L] int<lower=1, upper=S> source; // of each effect, the core first
  array[N * S] int<lower=1, upper=G + L> has; // effects of each rating, one of each source
  array[N] int<lower=1, upper=K> rating; // category
  int<lower=1, upper=K - 1> reference; // cut point that the location is relative to
  vector[2] prior_cut; // mean and sd
  array[S] vector<lower=0>[2] prior_sd; // degrees of freedom, infinite for a half normal, and scale
  // Normal approximation of the likelihood of the effects. It centres and scales the parameters for the
  // sampler and does not enter the density.
  matrix[G + 1, G + 1] core_information; // of the core and the location, which is last
  vector[G + 1] core_moment; // information times mean
  vector[G + 1] core_mean; // where the other effects were found
  // Of the other effects given the core, in the order of elimination: effects of an object and its
  // interactions depend on each other.
  array[L] int<lower=1, upper=L> own_order;
  array[L] int<lower=1, upper=L> own_first; // column where each row of the lower triangle begins
  int<lower=0> E; // entries of these rows
  vector[E] own_information; // entries, row by row
  vector[L] own_moment; // information times mean
  int<lower=0> F; // entries of the information that other effects share with the core
  vector[F] shared; // its entries, row by row
  array[F] int<lower=1, upper=G + 1> shared_column;
  array[L + 1] int<lower=1, upper=F + 1> shared_start; // of the rows
}
transformed data {
  array[1] int pool = {1}; // all raters
  array[N + 1] int first = linspaced_int_array(N + 1, 1, N + 1);
  array[N + 1] int first_has = linspaced_int_array(N + 1, 1, N * S + 1);
  array[G] int core_source = source[ : G];
  array[L] int own_source = source[G + 1 : ];
  vector[N * S] ones = ones_vector(N * S);
  vector[N] once = ones_vector(N);
}
parameters {
  vector<lower=0>[S] spread; // sd of the effects of each source, in log odds
  vector<lower=0>[K - 2] step; // from one cut point to the next
  vector[G + 1] core_score; // effects of the core and location, centred and scaled
  vector[L] own_score; // other effects, centred and scaled
}
model {
  vector[G] core_sd = spread[core_source];
  vector[L] own_sd = spread[own_source];
  matrix[G + 1, G + 1] factor = core_factor(core_sd, core_information);
  vector[G + 1] core = core_effects(core_score, factor, core_moment);
  vector[L] moment = own_moment;
  if (L > 0) 
    moment -= csr_matrix_times_vector(L, G + 1, shared, shared_column, shared_start,
                                      core - core_mean);
  vector[L + 1] own = centred_effects(own_score, inv_square(own_sd), moment, own_order, own_first,
                                      own_information);
  vector[L] effect = head(own, L);
  vector[K - 1] cut = cut_points(step, reference, core[G + 1]);
  vector[G + L] every = append_row(head(core, G), effect);
  vector[N] score = csr_matrix_times_vector(N, G + L, ones, has, first_has, every);
  
  cut ~ normal(prior_cut[1], prior_cut[2]);
  for (k in 1 : S) 
    spread[k] ~ half_student_t(prior_sd[k]);
  head(core, G) ~ normal(0, core_sd);
  effect ~ normal(0, own_sd);
  target += own[L + 1] - sum(log(diagonal(factor))); // volume of the effects
  target += ordinal_ratings(to_matrix(score), zeros_vector(1), to_matrix(
                            cut), pool, 0, first, rating, once);
}
generated quantities {
  vector[S + 1] sd = append_row(spread, pi() / sqrt(3)); // the last is that of the residual
  vector[G + 1] core = core_effects(core_score, core_factor(spread[core_source], core_information),
                                    core_moment);
  vector[K - 1] cut = cut_points(step, reference, core[G + 1]);
}

