"""Designs of several facets: their notation, the sources of variance, and decisions on them."""

from reliabayes.facets.decisions import COEFFICIENTS, Decision, numbers_of_levels
from reliabayes.facets.design import MeasurementDesign, Source, as_names
from reliabayes.facets.effects import Effects, EffectSources

__all__ = [
    "COEFFICIENTS",
    "Decision",
    "EffectSources",
    "Effects",
    "MeasurementDesign",
    "Source",
    "as_names",
    "numbers_of_levels",
]
