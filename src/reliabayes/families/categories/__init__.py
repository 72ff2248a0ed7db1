"""Models of true categories: given the hidden state of an item its ratings are independent."""
