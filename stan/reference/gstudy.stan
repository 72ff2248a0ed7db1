// G study with every effect as a parameter.
//
//   rating ~ normal(mean + an effect of each source of variance, sd[K])
//   effect ~ normal(0, sd[source])
data {
  int<lower=1> N, Q; // ratings, effects of all sources
  int<lower=2> K; // sources of variance, the last of them the residual
  array[Q] int<lower=1, upper=K - 1> source; // of each effect
  array[N, K - 1] int<lower=1, upper=Q> has; // effects that each rating has
  vector[N] rating; // the rating
  vector[2] prior_mean; // mean and sd of a normal
  array[K] vector<lower=0>[2] prior_sd; // degrees of freedom and scale of a half t
}
parameters {
  real mean; // grand mean
  vector<lower=0>[K] sd; // of the effects of each source
  vector[Q] effect; // of each level of each source
}
model {
  mean ~ normal(prior_mean[1], prior_mean[2]);
  for (k in 1 : K)
    sd[k] ~ student_t(prior_sd[k][1], 0, prior_sd[k][2]);
  effect ~ normal(0, sd[source]);
  for (n in 1 : N)
    rating[n] ~ normal(mean + sum(effect[has[n]]), sd[K]);
}

