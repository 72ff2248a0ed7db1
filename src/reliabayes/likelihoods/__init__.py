"""NumPy twins of the densities in ``stan/cpp``: what ratings say of parameters."""
