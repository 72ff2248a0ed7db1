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
  // Normal approximation of the likelihood of each rater's level. It centres and scales the parameters
  // for the sampler and does not enter the density.
  vector[R] level_mean; // by rater, relative to the reference cut point
  vector<lower=0>[R] level_variance; // by rater
  array[1] int<lower=1, upper=K - 1> reference; // cut point that levels are centred on
  vector<lower=0>[1] known_sd_item; // that the approximation was found with
  real<lower=0> widening; // of the residuals' distribution by normal effects
}
transformed data {
  array[R] int one_pool = ones_int_array(R);
  vector[1] average_mean = [mean(level_mean)]';
  vector[1] average_variance = [mean(level_variance)]';
}
parameters {
  real<lower=0> sd_item; // between items, in log odds
  real<lower=0> sd_rater; // between raters
  vector<lower=0>[K - 2] step; // from one cut point to the next
  real<offset=expected_means(average_mean, stretches([sd_item]', known_sd_item, widening),
                             reference_cuts({step}, reference))[1],
       multiplier=sd_means([sd_rater]', average_variance,
                           stretches([sd_item]', known_sd_item, widening), [
                           R]')[1]> mean; // log odds
  
  vector<offset=expected_levels([mean]', [sd_rater]',
                                stretches([sd_item]', known_sd_item, widening),
                                reference_cuts({step}, reference), one_pool, level_mean,
                                level_variance),
         multiplier=sd_levels([sd_rater]', stretches([sd_item]', known_sd_item, widening),
                              one_pool, level_variance)>[R] level; // mean plus rater effect
}
transformed parameters {
  vector[K - 1] cut = append_row(0, cumulative_sum(step)) - mean;
  // of all ratings, item effects integrated out
  real log_likelihood = ordinal_mixture(level, sd_item * node, cut + mean, probit, node_weight,
                                        multiplicity, kind, first, cell, count);
}
model {
  cut ~ normal(prior_cut[1], prior_cut[2]);
  sd_item ~ half_student_t(prior_sd_item);
  sd_rater ~ half_student_t(prior_sd_rater);
  level ~ normal(mean, sd_rater);
  target += log_likelihood;
}

