"""Simulated designs and ratings, and simulation studies of coefficients."""

from reliabayes.simulate.designs import crossed, crowd, incomplete, nested
from reliabayes.simulate.matrices import rating_matrix
from reliabayes.simulate.regression import AgreementRegression, agreement_regression
from reliabayes.simulate.study import COEFFICIENTS, reliability_study

__all__ = [
    "COEFFICIENTS",
    "AgreementRegression",
    "agreement_regression",
    "crossed",
    "crowd",
    "incomplete",
    "nested",
    "rating_matrix",
    "reliability_study",
]


def __dir__() -> list[str]:
    return __all__
