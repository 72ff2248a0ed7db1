// A bivariate normal vector and an exponential scale, whose density and gradient are known.
data {
  vector[2] location; // mean of the vector
  cov_matrix[2] covariance; // of the vector
  real<lower=0> rate; // of the scale
}
parameters {
  vector[2] effect; // a correlated pair
  real<lower=0> scale; // needs a Jacobian
}
model {
  effect ~ multi_normal(location, covariance);
  scale ~ exponential(rate);
}

