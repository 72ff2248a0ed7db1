"""Planning a study: how many items it needs, its power, and the width of its intervals."""

from reliabayes.design.assurance import StudyPrecision, assurance
from reliabayes.design.planning import items_needed, limits, power, width
from reliabayes.design.simulation import Estimate, Simulation
from reliabayes.design.study_size import StudySize

__all__ = [
    "Estimate",
    "Simulation",
    "StudyPrecision",
    "StudySize",
    "assurance",
    "items_needed",
    "limits",
    "power",
    "width",
]


def __dir__() -> list[str]:
    return __all__
