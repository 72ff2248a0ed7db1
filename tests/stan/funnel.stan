// Neal's funnel: a scale that no step size suits, with normal numbers of that scale.
parameters {
  real log_scale; // of the numbers
  vector[9] number; // normal around 0
}
model {
  log_scale ~ normal(0, 3);
  number ~ normal(0, exp(log_scale / 2));
}
