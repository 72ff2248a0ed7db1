"""Pages of the documentation that are generated from the code, so that they stay up to date."""
