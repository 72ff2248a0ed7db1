// G study with empty cells or unequal numbers of ratings: random effects of crossed and nested facets.
//
//   rating = mean + an effect of each source of variance + residual
//   effect ~ normal(0, sd[source])    residual ~ normal(0, sd[K])    mean ~ normal(prior_mean)
//
// Brennan (2001), section 7.1, https://doi.org/10.1007/978-1-4757-3456-0.
// Effects and mean are integrated out exactly, by a sparse Cholesky factor.
functions {
  #include functions/priors.stanfunctions
  
  real sparse_normal(real weight, vector precision, data array[] int start, data array[] int row,
                     data vector gram, data vector moment, data real square); // cpp/sparse_normal.hpp
  vector sparse_normal_last(real weight, vector precision, array[] int start, array[] int row,
                            vector gram, vector moment); // mean and sd of the last effect
}
data {
  int<lower=1> N; // ratings
  int<lower=2> K; // sources of variance, the last of them the residual
  int<lower=1> Q; // effects of all sources but the residual
  int<lower=1> F; // entries of the Cholesky factor of the effects and the mean, which is last
  array[Q] int<lower=1, upper=K - 1> source; // of each effect
  array[Q + 2] int<lower=1, upper=F + 1> start; // of the columns of the factor
  array[F] int<lower=1, upper=Q + 1> row; // of each entry
  vector<lower=0>[F] gram; // ratings that have both effects
  vector[Q + 1] moment; // sum of the ratings with each effect
  real<lower=0> square; // sum of squares
  vector[2] prior_mean; // mean, which was subtracted from each rating, and sd, infinite if flat
  array[K] vector<lower=0>[2] prior_sd; // degrees of freedom, infinite for a half normal, and scale
}
transformed data {
  int flat = is_inf(prior_mean[2]);
  real constant = -0.5 * (N - flat) * log(2 * pi()) - (flat ? 0 : log(prior_mean[2]));
}
parameters {
  vector<lower=0>[K] sd; // of the effects of each source, in units of the rating
}
model {
  vector[Q + 1] precision = inv_square(append_row(sd[source], prior_mean[2]));
  
  for (k in 1 : K) 
    sd[k] ~ half_student_t(prior_sd[k]);
  target += constant - N * log(sd[K]) - sum(log(sd[source]))
            + sparse_normal(inv_square(sd[K]), precision, start, row, gram, moment, square);
}
generated quantities {
  real mean; // grand mean, drawn given the standard deviations
  {
    vector[Q + 1] precision = inv_square(append_row(sd[source], prior_mean[2]));
    vector[2] last = sparse_normal_last(inv_square(sd[K]), precision, start, row, gram, moment);
    mean = normal_rng(prior_mean[1] + last[1], last[2]);
  }
}

