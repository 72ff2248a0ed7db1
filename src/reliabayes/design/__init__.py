"""Planning a study: how many items it needs, its power, and the width of its intervals."""

from reliabayes.design.planning import StudySize, items_needed, limits, power, width

__all__ = [
    "StudySize",
    "items_needed",
    "limits",
    "power",
    "width",
]


def __dir__() -> list[str]:
    return __all__
