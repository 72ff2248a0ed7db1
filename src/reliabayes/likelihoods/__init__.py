"""Likelihoods in NumPy: the twins of the densities in ``stan/cpp``."""
