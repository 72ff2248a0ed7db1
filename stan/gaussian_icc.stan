// Gaussian ICC: crossed random effects of items and raters.
//
//   rating = mean + item effect + rater effect + residual
//   item effect ~ normal(0, sd_item)    rater effect ~ normal(0, sd_rater)
//   residual ~ normal(0, sd_residual)   mean ~ normal(prior_mean)
//
//   ICC = sd_item^2 / (sd_item^2 + sd_rater^2 + sd_residual^2)
//
// ICC(2,1) of Shrout & Fleiss (1979), https://doi.org/10.1037/0033-2909.86.2.420.
// Effects and mean are integrated out exactly; only the three standard deviations are sampled.
functions {
  #include functions/priors.stanfunctions
  #include functions/crossed_normal.stanfunctions
  
  real crossed_normal(vector weight, vector precision, vector location, data matrix gram,
                      data matrix moment, data vector square); // cpp/crossed_normal.hpp
  vector crossed_normal_last(vector weight, vector precision, vector location, data matrix gram,
                             data matrix moment, vector noise); // draws of the last effects
}
data {
  int<lower=1> N; // ratings
  int<lower=1> J; // columns of the design: raters, or items if swapped
  int<lower=1> D; // patterns: distinct numbers of ratings in a row of the design
  int<lower=0, upper=1> swapped; // 0: rows are items, 1: rows are raters
  vector<lower=1>[D] n; // ratings in a row, by pattern
  vector<lower=1>[D] multiplicity; // rows with this pattern
  matrix[choose(J + 2, 2), D + 1] gram; // cross products of columns and constant, lower triangles
  matrix[J + 1, D + 1] moment; // cross products of columns and constant with the ratings
  vector[D + 1] square; // sums of squares
  real center; // subtracted from each rating before the sums
  vector[2] prior_mean; // mean and sd, infinite for a flat prior
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  vector<lower=0>[2] prior_sd_residual; // the same
}
transformed data {
  vector[J + 1] location = append_row(zeros_vector(J), prior_mean[1] - center);
  int flat = is_inf(prior_mean[2]);
  real constant = -0.5 * (N - flat) * log(2 * pi()) - (flat ? 0 : log(prior_mean[2]));
}
parameters {
  real<lower=0> sd_item; // between items, in units of the rating
  real<lower=0> sd_rater; // between raters
  real<lower=0> sd_residual; // within item and rater
}
model {
  real sd_row = swapped ? sd_rater : sd_item;
  real sd_column = swapped ? sd_item : sd_rater;
  
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  sd_residual ~ half_student_t(prior_sd_residual);
  target += constant - 0.5 * crossed_log_det(sd_row, sd_column, sd_residual, N, J, n, multiplicity)
            + crossed_normal(pattern_weights(sd_row, sd_residual, n),
                             column_precision(sd_column, J, prior_mean), location, gram, moment,
                             square);
}
generated quantities {
  real mean; // grand mean, drawn given the standard deviations
  {
    vector[1] last = crossed_normal_last(pattern_weights(swapped ? sd_rater : sd_item, sd_residual,
                                                         n),
                                         column_precision(swapped ? sd_item : sd_rater, J,
                                                          prior_mean),
                                         location, gram, moment, [std_normal_rng()]');
    mean = center + last[1];
  }
}

