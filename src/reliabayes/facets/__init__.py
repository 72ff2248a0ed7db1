"""Designs of several facets: their notation, the sources of variance, and decisions on them."""

from reliabayes.facets.decisions import Decision
from reliabayes.facets.design import MeasurementDesign, Source
from reliabayes.facets.effects import Effects

__all__ = ["Decision", "Effects", "MeasurementDesign", "Source"]
