"""Centring of sampled effects: the program samples them relative to an approximate posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.inference.problem import StanData


@dataclass(frozen=True, eq=False)
class EffectCentring:
    """Normal approximation of the likelihood of effects and a location.

    The core are the effects of sources with few levels and the location, which comes last: they
    depend on each other. Other effects depend on the core.

    Attributes
    ----------
    core_information : array of shape (G + 1, G + 1)
        Information of the ratings on the core, with other effects integrated out.
    core_moment : array of shape (G + 1,)
        Information times mean.
    core_mean : array of shape (G + 1,)
        The core at the mode of the posterior.
    own_information, own_moment : array of shape (L,)
        Information on each other effect, given the core at its mode, and information times mean.
    shared, shared_column, shared_start : array of shapes (F,), (F,) and (L + 1,)
        Information that other effects share with the core, as a sparse matrix by rows.
    """

    not_data: ClassVar[frozenset[str]] = frozenset({"shared_column", "shared_start"})

    core_information: Array
    core_moment: Array
    core_mean: Array
    own_information: Array
    own_moment: Array
    shared: Array
    shared_column: Codes
    shared_start: Codes

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        values = {name: value for name, value in vars(self).items() if name not in self.not_data}
        return StanData(
            sizes={"F": len(self.shared)},
            positions={name: getattr(self, name) for name in sorted(self.not_data)},
            values=values,
        )

    def core(self, score: Array, sd: Array) -> Array:
        """The core (G + 1,) that has standard scores, where its effects have sds (G,)."""
        precision = self.core_information + np.diag(np.append(sd**-2, 0.0))
        factor = np.linalg.cholesky(precision)
        return np.asarray(np.linalg.solve(precision, self.core_moment + factor @ score))

    def others(self, score: Array, sd: Array, core: Array) -> Array:
        """The other effects (L,) that have standard scores, with sds (L,), given the core."""
        entries = (self.shared, self.shared_column, self.shared_start)
        shared = sp.csr_array(entries, (len(sd), len(core)))
        precision = self.own_information + sd**-2
        mean = (self.own_moment - shared @ (core - self.core_mean)) / precision
        return np.asarray(mean + score / np.sqrt(precision))
