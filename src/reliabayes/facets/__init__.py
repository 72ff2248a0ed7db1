"""Designs of several facets: their notation, the sources of variance, and decisions on them."""

from reliabayes.facets.design import MeasurementDesign, Source

__all__ = ["MeasurementDesign", "Source"]
