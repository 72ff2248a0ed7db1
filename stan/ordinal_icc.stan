// Ordinal ICC: crossed random effects of items and raters on ratings in ordered categories.
//
//   Pr(rating > k) = inv_logit(item effect + rater effect - cut[k])
//   item effect ~ normal(0, sd_item)    rater effect ~ normal(0, sd_rater)
//
//   ICC = sd_item^2 / (sd_item^2 + sd_rater^2 + pi^2 / 3)
//
// Cut points start from the first: cut = (0, step[1], step[1] + step[2], ...) - mean. Two categories
// have one cut point, and are the logit ICC with log odds mean + item effect + rater effect. Item
// effects are integrated out by quadrature on equally spaced nodes: a state is a node.
// McCullagh (1980), https://doi.org/10.1111/j.2517-6161.1980.tb01109.x;
// Nakagawa, Johnson & Schielzeth (2017), https://doi.org/10.1098/rsif.2017.0213.
functions {
  #include functions/ordinal.stanfunctions
  
  #include functions/scores.stanfunctions
  
  #include functions/priors.stanfunctions
}
data {
  int<lower=1> R; // raters
  #include data/ratings.standata
  
  int<lower=1> Q; // nodes
  vector[Q] node; // item effects, in standard deviations
  simplex[Q] node_weight; // probability of each node
  int<lower=0, upper=1> probit; // 1: standard normal residuals, 0: logistic
  vector[2] prior_cut; // mean and sd
  vector<lower=0>[2] prior_sd_item; // degrees of freedom, infinite for a half normal, and scale
  vector<lower=0>[2] prior_sd_rater; // the same
  // Normal approximation of the likelihood of each rater's level, scales of sd_item and sd_rater, and
  // mean and root of the covariance of what raters have in common. They centre and scale the parameters
  // for the sampler and do not enter the density.
  vector[R] level_mean; // by rater, relative to the reference cut point
  vector<lower=0>[R] level_variance; // by rater
  array[1] int<lower=1, upper=K - 1> reference; // cut point that levels are centred on
  vector<lower=0>[1] known_sd_item; // that the approximation was found with
  real<lower=0> widening; // of the residuals' distribution by normal effects
  vector<lower=0>[2] spread_scale; // of sds of items, then of raters, for their softplus
  vector[K + 1] core_mean; // sds, steps and mean, free of bounds
  matrix[K + 1, K + 1] core_root; // of their covariance
}
transformed data {
  array[R] int one_pool = ones_int_array(R);
  vector[1] average_mean = [mean(level_mean)]';
  vector[1] average_variance = [mean(level_variance)]';
}
parameters {
  vector[K + 1] core; // what raters have in common, centred and scaled
  vector[R] score; // of level, centred and scaled
}
transformed parameters {
  real<lower=0> sd_item; // between items, in log odds
  real<lower=0> sd_rater; // between raters
  vector<lower=0>[K - 2] step; // from one cut point to the next
  real mean; // log odds
  vector[R] level; // mean plus rater effect
  vector[K - 1] cut;
  real log_likelihood; // of all ratings, item effects integrated out
  real log_slope; // log of the derivatives of sds, steps, mean and levels
  {
    vector[K + 1] free = core_mean + core_root * core;
    vector[2] sd = softplus(free[1 : 2], spread_scale);
    sd_item = sd[1];
    sd_rater = sd[2];
    step = exp(free[3 : K]);
    vector[1] stretch = stretches(sd[1 : 1], known_sd_item, widening);
    vector[1] distance = reference_cuts({step}, reference);
    vector[1] sd_mean = sd_means(sd[2 : 2], average_variance, stretch, [R]');
    mean = expected_means(average_mean, stretch, distance)[1] + sd_mean[1] * free[K + 1];
    vector[R] sd_level = sd_levels(sd[2 : 2], stretch, one_pool, level_variance);
    level = expected_levels([mean]', sd[2 : 2], stretch, distance, one_pool, level_mean,
                            level_variance)
            + sd_level .* score;
    cut = append_row(0, cumulative_sum(step)) - mean;
    log_likelihood = ordinal_mixture(level, sd_item * node, cut + mean, probit, node_weight,
                                     multiplicity, kind, first, cell, count);
    log_slope = sum(log1m_exp(-sd ./ spread_scale)) + sum(free[3 : K]) + log(sd_mean[1])
                + sum(log(sd_level));
  }
}
model {
  cut ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  level ~ normal(mean, sd_rater);
  target += log_slope + log_likelihood;
}

