// Fails at a given place.
data {
  int<lower=0, upper=4> place; // 1 data, 2 start, 3 step size, 4 a draw, 0 nowhere
  int N; // rows and columns of a matrix, which may exceed any memory
}
transformed data {
  matrix[N, N] square = rep_matrix(0, N, N); // zeros
  if (place == 1) {
    reject("the data were rejected");
  }
}
parameters {
  real x; // anything
}
model {
  if (place == 2) {
    reject("no start is good enough");
  }
  if (place != 3) {
    x ~ normal(0, 1);
  }
}
generated quantities {
  if (place == 4) {
    fatal_error("a draw went wrong");
  }
}

