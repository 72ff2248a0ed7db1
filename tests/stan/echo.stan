// Returns its data, and has no parameters.
data {
  int count; // any integer
  real number; // any number
  array[2, 3] int table; // integers
  array[2] matrix[3, 2] boxes; // numbers, 2 x 3 x 2
  matrix[2, 0] none; // no numbers
}
generated quantities {
  int count_again = count; // as given
  real number_again = number; // as given
  array[2, 3] int table_again = table; // as given
  array[2] matrix[3, 2] boxes_again = boxes; // as given
}

