// Gaussian ICC for a crowd: the model of gaussian_icc where items and raters both are too many for
// their effects to be summed out together.
//
// The effects of the many are summed out one by one; those of the few, and the mean, are sampled as
// scores that are near standard normal given the data, however many ratings each rater has.
functions {
  #include functions/priors.stanfunctions
  #include functions/crossed_normal.stanfunctions
  
  real crossed_square(vector weight, vector level, data vector ratings, data vector sums,
                      real square, data array[] int first, data array[] int few, data vector count,
                      data vector total, data array[] int pattern); // cpp/crossed_square.hpp
}
data {
  int<lower=1> N; // ratings
  int<lower=1> F; // the few: raters, or items where swapped
  int<lower=1> M; // the many: items, or raters where swapped
  int<lower=1> D; // patterns: distinct numbers of ratings a unit of the many has
  int<lower=1> C; // cells: pairs of a unit of the many and one of the few, with ratings
  int<lower=0, upper=1> swapped; // 1: the many are the raters
  vector<lower=1>[D] n; // ratings of a unit, by pattern
  vector<lower=1>[D] units; // units of the many, by pattern
  array[M] int<lower=1, upper=D> pattern; // of each unit
  vector[M] total; // sum of ratings of each unit
  array[M + 1] int<lower=1, upper=C + 1> first; // first cell of each unit, and one past the last
  array[C] int<lower=1, upper=F> few; // which of the few, by cell
  vector<lower=1>[C] count; // ratings, by cell
  matrix[F, D + 1] gram; // squared numbers of ratings, by the few
  matrix[F, D + 1] moment; // sums of ratings, by the few
  vector[D + 1] square; // sums of squares
  real center; // taken off every rating before the sums
  vector[2] prior_mean; // mean and sd, infinite for a flat prior
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  vector<lower=0>[2] prior_sd_residual; // the same
}
transformed data {
  real location = prior_mean[1] - center;
  real precision = inv_square(prior_mean[2]); // 0 for a flat prior
  int flat = is_inf(prior_mean[2]);
  vector[D + 1] whole = append_row(N, square(n) .* units); // squared numbers of ratings, in all
  real constant = -0.5 * (N + F - flat) * log(2 * pi()) - (flat ? 0 : log(prior_mean[2]));
}
parameters {
  real<lower=0> sd_item; // between items, in units of the rating
  real<lower=0> sd_rater; // between raters
  real<lower=0> sd_residual; // within item and rater
  vector[F] score; // of the levels of the few, each mean plus effect
}
model {
  real sd_many = swapped ? sd_rater : sd_item;
  real sd_few = swapped ? sd_item : sd_rater;
  vector[D + 1] weight = pattern_weights(sd_many, sd_residual, n);
  vector[F] held = gram * weight + inv_square(sd_few);
  real stiffness = common_stiffness(weight, whole, sd_few, precision, held);
  vector[F] level = levels(score, held, moment * weight, stiffness);
  
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  sd_residual ~ half_student_t(prior_sd_residual);
  target += constant - 0.5 * (sum(log(held)) + log(stiffness))
            // Jacobian of the levels
            - 0.5 * crossed_log_det(sd_many, sd_few, sd_residual, N, F, n, units)
            - 0.5 * exchangeable_square(level - location, sd_few, precision)
            - 0.5
              * crossed_square(weight, level, gram[ : , 1], moment[ : , 1], square[1], first, few,
                               count, total, pattern);
}
generated quantities {
  real mean; // grand mean, drawn given the levels
  {
    real sd_few = swapped ? sd_item : sd_rater;
    vector[D + 1] weight = pattern_weights(swapped ? sd_rater : sd_item, sd_residual, n);
    vector[F] held = gram * weight + inv_square(sd_few);
    real stiffness = common_stiffness(weight, whole, sd_few, precision, held);
    real pull = sum(levels(score, held, moment * weight, stiffness)) * inv_square(sd_few);
    real total_precision = precision + F * inv_square(sd_few);
    mean = center
           + normal_rng((precision * location + pull) / total_precision, inv_sqrt(total_precision));
  }
}

