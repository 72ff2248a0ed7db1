"""Models of ordered scores: effects of items and raters, and a residual, cut into categories."""
