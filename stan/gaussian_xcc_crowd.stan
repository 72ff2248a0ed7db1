// Gaussian xCC for a crowd: the model of gaussian_xcc for designs with too many raters to integrate
// their effects out.
//
// Item effects are integrated out. Levels of raters (mean of the pool plus effect) are sampled, as
// scores that are approximately standard normal given the data however many ratings a rater has.
functions {
  #include functions/priors.stanfunctions
  #include functions/pooled_normal.stanfunctions
  
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
  int<lower=1> I; // items
  int<lower=1> R; // raters
  int<lower=2> G; // pools
  int<lower=1> D; // patterns: distinct numbers of ratings of an item, by pool
  int<lower=1> P; // pairs of pools that rated a pattern's items, including each with itself
  int<lower=1> C; // cells: pairs of an item and a rater with ratings
  int<lower=1, upper=G> E; // residual standard deviations: 1 if the pools share it, else G
  array[R] int<lower=1, upper=G> pool; // of each rater
  vector<lower=0>[G] N; // ratings, by pool
  matrix<lower=0>[G, D] n; // ratings of an item, by pattern
  vector<lower=1>[D] multiplicity; // items with this pattern
  array[P] int<lower=1, upper=D> pair_pattern; // of each pair, pattern by pattern
  array[P] int<lower=1, upper=G> first; // pool of each pair
  array[P] int<lower=1, upper=G> second; // pool of each pair
  array[I] int<lower=1, upper=D> pattern; // of each item
  vector[I * G] total; // sum of the ratings of each item by each pool, item by item
  array[I * G + 1] int<lower=1, upper=C + 1> first_cell; // of each item and pool, and one past
  array[C] int<lower=1, upper=R> rater; // of each cell
  vector<lower=1>[C] count; // ratings in each cell
  matrix[R, G + P] gram; // sums of squared numbers of ratings, by rater
  matrix[R, G + P] moment; // cross products with the ratings, by rater
  vector[G] square; // sums of squares
  vector[G] center; // subtracted from each rating before the sums
  array[G] vector[2] prior_mean; // mean and sd, infinite for a flat prior
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  vector<lower=0>[2] prior_sd_residual; // the same
  real<lower=0> prior_lkj; // shape: 1 for a uniform correlation of two pools
}
transformed data {
  vector[G] location = to_vector(prior_mean[ : , 1]) - center;
  vector[G] prior_precision = inv_square(to_vector(prior_mean[ : , 2])); // 0 for a flat prior
  array[G] int residual = E == 1 ? rep_array(1, G) : linspaced_int_array(G, 1, G);
  int flat = is_inf(prior_mean[1, 2]);
  vector[R] number = gram[ : , 1 : G] * ones_vector(G); // ratings of each rater
  vector[R] rating_sum = moment[ : , 1 : G] * ones_vector(G); // and their sum
  matrix[R, G] member = rep_matrix(0, R, G); // who is in which pool
  matrix[G * G, G + P] total_square = rep_matrix(0, G * G, G + P); // products of an item's ratings
  real constant = -0.5 * (sum(N) + R - flat * G) * log(2 * pi())
                  - (flat ? 0 : sum(log(to_vector(prior_mean[ : , 2]))));
  for (r in 1 : R) {
    member[r, pool[r]] = 1;
  }
  for (g in 1 : G) {
    total_square[(g - 1) * G + g, g] = N[g];
  }
  for (pair in 1 : P) {
    int g = first[pair], h = second[pair], d = pair_pattern[pair];
    total_square[(g - 1) * G + h, G + pair] = multiplicity[d] * n[g, d] * n[h, d];
    total_square[(h - 1) * G + g, G + pair] = multiplicity[d] * n[g, d] * n[h, d];
  }
}
parameters {
  vector<lower=0>[G] sd_item; // between items, in units of the rating
  vector<lower=0>[G] sd_rater; // between raters
  vector<lower=0>[E] sd_residual; // within item and rater
  cholesky_factor_corr[G] factor_item; // of the correlation of an item's effects between pools
  vector[R] score; // of the raters' levels, each mean plus effect
}
model {
  matrix[G, G] factor = diag_pre_multiply(sd_item, factor_item);
  array[D] matrix[G, G] precision_factor = precision_factors(factor, sd_residual[residual], n);
  vector[G + P] weight = pooled_weights(factor, precision_factor, sd_residual[residual],
                                        pair_pattern, first, second);
  vector[R] precision = gram * weight + inv_square(sd_rater[pool]);
  matrix[G, G] shift_factor = common_shift_factor(weight, total_square, sd_rater, prior_precision,
                                                  precision, member);
  vector[R] level = column_levels(score, precision, moment * weight, shift_factor, pool, member);
  
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  sd_residual ~ half_student_t(prior_sd_residual);
  factor_item ~ lkj_corr_cholesky(prior_lkj);
  target += constant - 0.5 * sum(log(precision)) - sum(log(diagonal(shift_factor)))
            - 0.5
              * (pooled_log_det(precision_factor, sd_rater[pool], sd_residual[residual], N,
                                multiplicity)
                 + exchangeable_quadratic_form(level - location[pool], sd_rater, prior_precision,
                                               member)
                 + crossed_quadratic_form(weight, level, number, rating_sum, square, pool,
                                          first_cell, rater, count, total, pattern, pair_pattern,
                                          first, second));
}
generated quantities {
  vector[G] mean; // of the ratings of each pool, drawn given the levels
  {
    matrix[G, G] factor = diag_pre_multiply(sd_item, factor_item);
    array[D] matrix[G, G] precision_factor = precision_factors(factor, sd_residual[residual], n);
    vector[G + P] weight = pooled_weights(factor, precision_factor, sd_residual[residual],
                                          pair_pattern, first, second);
    vector[R] precision = gram * weight + inv_square(sd_rater[pool]);
    matrix[G, G] shift_factor = common_shift_factor(weight, total_square, sd_rater,
                                                    prior_precision, precision, member);
    vector[R] level = column_levels(score, precision, moment * weight, shift_factor, pool, member);
    mean = center + to_vector(pool_means_rng(level, sd_rater, location, prior_precision, member));
  }
}

