// The density of items with latent states; table and log-weights are data, parameters, or data plus
// parameters.
functions {
  #include functions/item_mixture.stanfunctions
}
data {
  int<lower=1> H; // states of an item
  #include data/ratings.standata
  
  matrix[H, V] known_table; // log-probabilities, possibly -infinity
  matrix[H, W] known_weight; // log-weights, the same
  int<lower=0, upper=1> table_free; // 1: the parameters are added to the table
  int<lower=0, upper=1> weight_free; // 1: the same for the log-weights
}
parameters {
  matrix[H, V] table; // added to the log-probabilities
  matrix[H, W] log_weight; // added to the log-weights
}
model {
  if (table_free && weight_free) {
    target += item_mixture(known_table + table, known_weight + log_weight, multiplicity, kind,
                           first, cell, count);
  } else if (table_free) {
    target += item_mixture(known_table + table, known_weight, multiplicity, kind, first, cell,
                           count);
  } else if (weight_free) {
    target += item_mixture(known_table, known_weight + log_weight, multiplicity, kind, first, cell,
                           count);
  } else {
    target += item_mixture(known_table, known_weight, multiplicity, kind, first, cell, count);
  }
}

