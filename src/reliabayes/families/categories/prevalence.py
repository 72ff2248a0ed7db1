"""The prevalence of true categories: a parameter, or fixed."""

from __future__ import annotations

from typing import NamedTuple

from reliabayes.arrays import Array
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanData

PREVALENCE = Parameter("prevalence", "simplex", ("true_category",))


class Prevalence(NamedTuple):
    """A prevalence that is a parameter which all items share, or fixed.

    Attributes
    ----------
    is_shared : bool
        Whether it is a parameter, of dims ("all", "true_category").
    mean : array of shape (K,)
        The fixed one, where it is not.
    """

    is_shared: bool
    mean: Array

    def stan_data(self) -> StanData:
        """What programs with such a prevalence read."""
        return StanData(values={"shared": int(self.is_shared), "mean_prevalence": self.mean})


def shared_prevalence(is_shared: bool) -> tuple[Parameter, ...]:
    """The parameter of a prevalence that may be fixed instead."""
    return (Parameter("prevalence", "simplex", ("all", "true_category")),) if is_shared else ()
