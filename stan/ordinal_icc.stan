// Ordinal ICC: crossed random effects of items and raters on ratings in ordered categories.
//
//   Pr(rating > k) = inv_logit(item effect + rater effect - cut[k])
//   item effect ~ normal(0, sd_item)    rater effect ~ normal(0, sd_rater)
//
//   ICC = sd_item^2 / (sd_item^2 + sd_rater^2 + pi^2 / 3)
//
// Cut points are counted from the first: cut = (0, step 1, step 1 + step 2, ...) - mean. Item effects
// are summed over nodes, equally spaced in standard deviations: a state is a node.
// McCullagh (1980), https://doi.org/10.1111/j.2517-6161.1980.tb01109.x.
functions {
  #include functions/graded.stanfunctions
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  
  int<lower=1> Q; // nodes
  vector[Q] node; // item effect, in standard deviations
  simplex[Q] node_weight; // probability
  int<lower=0, upper=1> probit; // 1: normal residuals of sd 1, not logistic ones
  vector[2] prior_cut; // mean and sd
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  // What a rater's own ratings tell, roughly; it makes sampling fast, and is not in the model.
  vector[R] own; // level
  vector<lower=0>[R] variance; // with this variance
}
transformed data {
  array[R] int one_pool = ones_int_array(R);
  real own_mean = mean(own);
  real own_variance = mean(variance);
}
parameters {
  real<lower=0> sd_item; // between items, in log odds
  real<lower=0> sd_rater; // between raters
  vector<lower=0>[K - 2] step; // from one cut point to the next
  real<offset=own_mean, multiplier=sqrt((square(sd_rater) + own_variance) / R)> mean; // log odds
  
  vector<offset=expected_levels([mean]', [sd_rater]', one_pool, own, variance),
         multiplier=sd_levels([sd_rater]', one_pool, variance)>[R] level; // mean plus effect
}
transformed parameters {
  vector[K - 1] cut = append_row(0, cumulative_sum(step)) - mean;
  // of all ratings, item effects summed out
  real log_likelihood = graded_mixture(level, sd_item * node, cut + mean, probit, node_weight,
                                       items, kind, first, cell, count);
}
model {
  cut ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  level ~ normal(mean, sd_rater);
  target += log_likelihood;
}

