"""The design and the priors of a G study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.facets import EffectLevels, Effects, MeasurementDesign, Source
from reliabayes.models.priors import Normal, SdPrior
from reliabayes.ratings import Ratings


@dataclass(frozen=True)
class Study:
    """Design and priors as they were set.

    Attributes
    ----------
    design : MeasurementDesign
        Which facets are crossed or nested.
    drop : tuple of str
        Names of sources to leave out.
    fixed : frozenset of str
        Facets with the same levels in every measurement.
    prior_mean : Normal or None
        Prior of the mean, or of the log odds of ratings above each cut point.
    prior_sd : HalfNormal, HalfStudentT, tuple of pairs or None
        Prior of all standard deviations, or of those of the sources named.
    """

    design: MeasurementDesign
    drop: tuple[str, ...]
    fixed: frozenset[str]
    prior_mean: Normal | None
    prior_sd: SdPrior | tuple[tuple[str, SdPrior], ...] | None

    def effects(self, ratings: Ratings) -> Effects:
        """Sources of variance that ratings have."""
        return Effects.of(ratings, self.design, self.drop)

    def prior_of(self, source: Source) -> SdPrior | None:
        """The prior that was set for the sd of a source."""
        if isinstance(self.prior_sd, tuple):
            return dict(self.prior_sd).get(source.name)
        return self.prior_sd

    def blank(self, design: pd.DataFrame | Ratings) -> Ratings:
        """Ratings of a design, with arbitrary numbers."""
        table = design.to_frame() if isinstance(design, Ratings) else design
        facets = [x for x in self.design.facets if x not in ("item", "rater")]
        kept = table[["item", "rater", *facets]].assign(rating=np.arange(float(len(table))))
        return Ratings.from_frame(kept, facets=facets, replicates="keep")


def source_index(effects: EffectLevels) -> pd.Index[Any]:
    """Names of the sources, as an index."""
    return pd.Index(effects.names, name="source")
