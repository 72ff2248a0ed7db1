// The density of items whose state is hidden, its table and log-weights known, free, or shifted.
functions {
  #include functions/item_mixture.stanfunctions
}
data {
  int<lower=1> H; // states of an item
  #include data/ratings.standata
  
  matrix[H, V] known_table; // log-probabilities, which may be those of nothing
  matrix[H, W] known_weight; // log-weights, the same
  int<lower=0, upper=1> table_free; // 1: the table is the known one, shifted by the parameters
  int<lower=0, upper=1> weight_free; // 1: the same of the log-weights
}
parameters {
  matrix[H, V] table; // shift of the log-probabilities
  matrix[H, W] log_weight; // shift of the log-weights
}
model {
  if (table_free && weight_free) {
    target += item_mixture(known_table + table, known_weight + log_weight, items, kind, first,
                           cell, count);
  } else if (table_free) {
    target += item_mixture(known_table + table, known_weight, items, kind, first, cell, count);
  } else if (weight_free) {
    target += item_mixture(known_table, known_weight + log_weight, items, kind, first, cell, count);
  } else {
    target += item_mixture(known_table, known_weight, items, kind, first, cell, count);
  }
}
