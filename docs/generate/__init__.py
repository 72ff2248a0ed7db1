"""Pages of the documentation that follow from the code, so that they cannot fall behind it."""
