// One parameter of each kind, and a density that is linear in their values.
data {
  int<lower=1> K; // size of the simplex
  vector[K + 2] direction; // of the density's slope
}
parameters {
  real<lower=0> scale; // above 0
  real<lower=0, upper=1> chance; // between 0 and 1
  simplex[K] shares; // above 0, of sum 1
}
model {
  target += dot_product(direction, append_row([scale, chance]', shares));
}

