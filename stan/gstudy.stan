// G study, complete and balanced: random effects of crossed and nested facets.
//
//   rating = mean + an effect of each source of variance + residual
//   effect ~ normal(0, sd[source])    residual ~ normal(0, sd[K])    mean ~ normal(prior_mean)
//
//   sum of squares / expected mean square ~ chi square(degrees of freedom)
//
// Brennan (2001), sections 3.2 and 3.4, https://doi.org/10.1007/978-1-4757-3456-0.
// Effects and mean are integrated out exactly: the mean squares are all that matters of the ratings.
functions {
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> N; // ratings
  int<lower=2> K; // sources of variance, the last of them the residual
  int<lower=1> J; // mean squares
  vector<lower=1>[J] df; // degrees of freedom
  vector<lower=0>[J] sum_of_squares; // from the means that are left out of each
  matrix<lower=0>[J, K] coefficient; // of the variances, in each expected mean square
  row_vector<lower=0>[K] mean_coefficient; // of the variances, in N times the variance of the mean
  real mean_rating; // of all ratings
  vector[2] prior_mean; // mean and sd, infinite for a flat prior
  array[K] vector<lower=0>[2] prior_sd; // degrees of freedom, infinite for a half normal, and scale
}
transformed data {
  int flat = is_inf(prior_mean[2]);
  real constant = -0.5 * ((N - 1) * log(2 * pi()) + log(N));
}
parameters {
  vector<lower=0>[K] sd; // of the effects of each source, in units of the rating
}
model {
  vector[J] expected = coefficient * square(sd);
  
  for (k in 1 : K) 
    sd[k] ~ half_student_t(prior_sd[k]);
  target += constant - 0.5 * sum(df .* log(expected) + sum_of_squares ./ expected);
  if (!flat) {
    real variance = mean_coefficient * square(sd) / N;
    target += normal_lpdf(mean_rating | prior_mean[1], sqrt(square(prior_mean[2]) + variance));
  }
}
generated quantities {
  real mean; // grand mean, drawn given the standard deviations
  {
    real of_ratings = N / (mean_coefficient * square(sd)); // precisions
    real of_prior = inv_square(prior_mean[2]);
    real precision = of_ratings + of_prior;
    mean = normal_rng((of_ratings * mean_rating + of_prior * prior_mean[1]) / precision,
                      inv_sqrt(precision));
  }
}

