// Gaussian ICC for a crowd: the model of gaussian_icc for designs with too many items and raters to
// integrate all effects out.
//
// Row effects are integrated out. Column levels (mean plus effect) are sampled, as scores that are
// approximately standard normal given the data however many ratings each column has.
functions {
  #include functions/priors.stanfunctions
  #include functions/crossed_normal.stanfunctions
  
  #include functions/column_levels.stanfunctions
  
  // cpp/crossed_quadratic_form.hpp
  real crossed_quadratic_form(vector weight, vector level, data vector number, data vector sum,
                              data vector square, data array[] int pool,
                              data array[] int first_cell, data array[] int column,
                              data vector count, data vector total, data array[] int pattern,
                              data array[] int pair_pattern, data array[] int first,
                              data array[] int second);
}
data {
  int<lower=1> N; // ratings
  int<lower=1> J; // columns of the design: raters, or items if swapped
  int<lower=1> M; // rows: items, or raters if swapped
  int<lower=1> D; // patterns: distinct numbers of ratings in a row
  int<lower=1> C; // cells: pairs of a row and a column with ratings
  int<lower=0, upper=1> swapped; // 0: rows are items, 1: rows are raters
  vector<lower=1>[D] n; // ratings in a row, by pattern
  vector<lower=1>[D] multiplicity; // rows with this pattern
  array[M] int<lower=1, upper=D> pattern; // of each row
  vector[M] total; // sum of the ratings in each row
  array[M + 1] int<lower=1, upper=C + 1> first_cell; // of each row, and one past the last
  array[C] int<lower=1, upper=J> column; // of each cell
  vector<lower=1>[C] count; // ratings in each cell
  matrix[J, D + 1] gram; // sums of squared numbers of ratings, by column
  matrix[J, D + 1] moment; // cross products with the ratings, by column
  vector[D + 1] square; // sums of squares
  real center; // subtracted from each rating before the sums
  vector[2] prior_mean; // mean and sd, infinite for a flat prior
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  vector<lower=0>[2] prior_sd_residual; // the same
}
transformed data {
  vector[1] location = [prior_mean[1] - center]';
  vector[1] prior_precision = [inv_square(prior_mean[2])]'; // 0 for a flat prior
  int flat = is_inf(prior_mean[2]);
  matrix[1, D + 1] total_square = to_matrix(append_row(N, square(n) .* multiplicity)'); // of sizes
  array[J] int pool = ones_int_array(J); // one for all columns
  matrix[J, 1] member = rep_matrix(1, J, 1);
  array[D] int pair_pattern = linspaced_int_array(D, 1, D); // each has one pair, a pool with itself
  array[D] int of_pair = ones_int_array(D);
  real constant = -0.5 * (N + J - flat) * log(2 * pi()) - (flat ? 0 : log(prior_mean[2]));
}
parameters {
  real<lower=0> sd_item; // between items, in units of the rating
  real<lower=0> sd_rater; // between raters
  real<lower=0> sd_residual; // within item and rater
  vector[J] score; // of the columns' levels, each mean plus effect
}
model {
  real sd_row = swapped ? sd_rater : sd_item;
  vector[1] sd_column = [swapped ? sd_item : sd_rater]';
  vector[D + 1] weight = pattern_weights(sd_row, sd_residual, n);
  vector[J] precision = gram * weight + inv_square(sd_column[1]);
  matrix[1, 1] shift_factor = common_shift_factor(weight, total_square, sd_column, prior_precision,
                                                  precision, member);
  vector[J] level = column_levels(score, precision, moment * weight, shift_factor, pool, member);
  
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  sd_residual ~ half_student_t(prior_sd_residual);
  target += constant - 0.5 * sum(log(precision)) - log(shift_factor[1, 1])
            - 0.5
              * (crossed_log_det(sd_row, sd_column[1], sd_residual, N, J, n, multiplicity)
                 + exchangeable_quadratic_form(level - location[1], sd_column, prior_precision,
                                               member)
                 + crossed_quadratic_form(weight, level, gram[ : , 1], moment[ : , 1],
                                          square[ : 1], pool, first_cell, column, count, total,
                                          pattern, pair_pattern, of_pair, of_pair));
}
generated quantities {
  real mean; // grand mean, drawn given the levels
  {
    vector[1] sd_column = [swapped ? sd_item : sd_rater]';
    vector[D + 1] weight = pattern_weights(swapped ? sd_rater : sd_item, sd_residual, n);
    vector[J] precision = gram * weight + inv_square(sd_column[1]);
    matrix[1, 1] shift_factor = common_shift_factor(weight, total_square, sd_column,
                                                    prior_precision, precision, member);
    vector[J] level = column_levels(score, precision, moment * weight, shift_factor, pool, member);
    mean = center + pool_means_rng(level, sd_column, location, prior_precision, member)[1];
  }
}

