"""How probable it is that a study will have a narrow posterior."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.errors import RatingsError
from reliabayes.models import RatingModel
from reliabayes.partitions import in_memory
from reliabayes.ratings import Ratings
from reliabayes.results.fit import Fit
from reliabayes.results.settings import whole_number
from reliabayes.results.summaries import scalars
from reliabayes.wording import listed

CHAINS, DRAWS = 2, 500  # of each fit: their error of a width is small beside that of the studies


@dataclass(frozen=True, eq=False, repr=False)
class StudyPrecision:
    """Share of simulated studies whose posterior is narrow enough.

    Attributes
    ----------
    share : float
        The share, from 0 to 1.
    error : float
        Its Monte Carlo standard error.
    widths : array of float, shape (replicates,)
        Width of the interval of each study; nan if all its ratings were alike.
    """

    share: float
    error: float
    widths: Array

    def __repr__(self) -> str:
        return f"StudyPrecision({self.share:.3g}, Monte Carlo error {self.error:.2g})"

    def __float__(self) -> float:
        return self.share


def assurance(
    model: RatingModel[Any] | Fit,
    design: Callable[[int], pd.DataFrame],
    quantity: str,
    *,
    width: float,
    items: int,
    replicates: int = 200,
    seed: int,
    prob: float = 0.9,
    categories: Any = None,
    parameters: Mapping[str, Any] | None = None,
) -> StudyPrecision:
    """Return the share of simulated studies whose posterior interval is narrower than a width.

    Each study has parameters of its own, drawn from the priors of a model or from the posterior of
    a pilot study. So the share is the probability that the planned study will be precise enough,
    given what is known now, while the power of a test supposes one value.

    Parameters
    ----------
    model : RatingModel or Fit
        A model whose priors are all set; or the fit of a pilot, by whose model the studies are
        fitted, too. Raters of a study are then drawn from those of the pilot, with replacement, if
        the model has parameters of single raters.
    design : callable
        Of a number of items: who rates what, as `RatingModel.simulate` takes it, such as
        ``lambda items: rb.simulate.crossed(items, raters=5)``.
    quantity : str
        One of ``fit.summary()``, such as "icc" or "normalized_xcc[a, b]".
    width : float
        Width of the interval, above 0.
    items : int
        Number of items of each study, from 2.
    replicates : int, default 200
        Number of studies, from 2.
    seed : int
        The same seed gives the same studies.
    prob : float, default 0.9
        Probability of the interval, in (0, 1).
    categories : iterable, optional
        Values that a rating can have, for models of categories; by default 0 and 1, or those of the
        pilot.
    parameters : mapping of str to float or array, optional
        Parameters that are not drawn.

    Returns
    -------
    StudyPrecision

    Raises
    ------
    ValueError
        An argument is out of range, a prior is not set, or there is no such quantity.

    See Also
    --------
    items_needed : Numbers of items by formulas, for one value of a coefficient.

    References
    ----------
    O'Hagan, Stevens & Campbell (2005), https://doi.org/10.1002/pst.175

    Examples
    --------
    >>> import reliabayes as rb
    >>> pilot = rb.GaussianICC().fit(
    ...     rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979")), seed=1
    ... )
    >>> def eight_raters(items):
    ...     return rb.simulate.crossed(items, raters=8)
    >>> found = rb.design.assurance(
    ...     pilot, eight_raters, "icc", width=0.5, items=40, replicates=10, seed=1
    ... )
    >>> 0.5 < found.share <= 1
    True
    """
    whole_number("items", items, least=2)
    whole_number("replicates", replicates, least=2)
    if not width > 0:
        raise ValueError(f"width must be above 0; found {width!r}.")
    table, rng = design(items), np.random.default_rng(seed)
    pilot, settings = (model, model.model) if isinstance(model, Fit) else (None, model)
    assert isinstance(settings, RatingModel)
    if pilot is not None and categories is None:
        rated = in_memory(pilot.ratings, "the ratings of the pilot")
        categories = None if rated.scale == "numeric" else rated.categories
    names = [] if pilot is None else [each.name for each in settings.declared(pilot.problem)]
    n_raters = table["rater"].nunique()
    widths = np.full(replicates, np.nan)
    for number in range(replicates):
        drawn = {} if pilot is None else _parameters(pilot, names, n_raters, rng)
        try:
            ratings = settings.simulate(
                table, rng, categories=categories, parameters={**drawn, **(parameters or {})}
            )
        except RatingsError:  # all ratings are alike
            continue
        widths[number] = _width(settings, ratings, quantity, prob, number)
    is_narrow = widths < width
    likely = (is_narrow.sum() + 1) / (replicates + 2)  # so that 0 and 1 have an error, too
    error = math.sqrt(likely * (1 - likely) / replicates)
    return StudyPrecision(float(is_narrow.mean()), error, widths)


def _parameters(
    pilot: Fit, names: Iterable[str], n_raters: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Parameters of one draw of a pilot; raters are drawn from its raters, items are new."""
    posterior = pilot.posterior
    place = {dim: int(rng.integers(posterior.sizes[dim])) for dim in ("chain", "draw")}
    rater = rng.integers(pilot.ratings.n_raters, size=n_raters)
    drawn = {}
    for name in names:
        values = posterior.get(name)
        if values is not None and "item" not in values.dims:
            one = values[place]
            drawn[name] = (one.isel(rater=rater) if "rater" in one.dims else one).values
    return drawn


def _width(
    model: RatingModel[Any], ratings: Ratings, quantity: str, prob: float, seed: int
) -> float:
    """Width of the posterior interval of a quantity."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit(ratings, chains=CHAINS, draws=DRAWS, seed=seed, progress=False)
    name = quantity.partition("[")[0]
    by_label = dict(scalars(name, fit.quantities[name])) if name in fit.quantities else {}
    if quantity not in by_label:
        known = by_label or fit.summary().index
        raise ValueError(f"quantity must be one of {listed(known)}, not {quantity!r}.")
    lower, upper = np.quantile(by_label[quantity], [(1 - prob) / 2, (1 + prob) / 2])
    return float(upper - lower)
