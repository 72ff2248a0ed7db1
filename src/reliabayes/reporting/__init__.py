"""What goes into a paper: a sentence of methods, its references, and guidelines for reporting."""
