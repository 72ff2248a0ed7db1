"""Normal effects: of items and raters, in one pool or several, and of all facets of a design."""
