"""Designs of several facets: their notation, the sources of variance, and decisions on them."""

from reliabayes.facets.decisions import COEFFICIENTS, Decision, numbers_of_levels
from reliabayes.facets.design import MeasurementDesign, Source, as_names
from reliabayes.facets.effects import EffectLevels, Effects, EffectsOfParts

__all__ = [
    "COEFFICIENTS",
    "Decision",
    "EffectLevels",
    "Effects",
    "EffectsOfParts",
    "MeasurementDesign",
    "Source",
    "as_names",
    "numbers_of_levels",
]
