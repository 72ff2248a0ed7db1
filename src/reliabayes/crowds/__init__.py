"""Raters who err together: how far errors of pairs are dependent, and what their votes weigh."""
