"""The family of models in which judges of one family err together, beside people."""
