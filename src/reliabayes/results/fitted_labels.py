"""True categories of a fit: who is right, how sure labels are, and how many ratings they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.partitions import WRITE_ITEMS
from reliabayes.ratings import Ratings
from reliabayes.results import known_answers, quantities, rating_probabilities
from reliabayes.results.fitted_quantities import LEAST_DRAWS, FittedQuantities
from reliabayes.results.model import no_true_categories
from reliabayes.results.rater_quality import agreeing_pairs, by_pool, known_pools
from reliabayes.results.rating_probabilities import RatingProbabilities
from reliabayes.results.summaries import interval_bounds

SIMULATIONS = 100  # draws for which ratings of new items are simulated


@dataclass(frozen=True, eq=False, repr=False)
class FittedLabels(FittedQuantities):
    """True categories of a fit, and the number of ratings an item needs: a base of `Fit`."""

    def category_probabilities(self, draws: int | None = None) -> pd.DataFrame:
        """Probability of each true category of each item.

        Parameters
        ----------
        draws : int, optional
            Posterior draws to use, spread evenly over the chains; by default as for `items`.

        Returns
        -------
        DataFrame of shape (I, K)
            The user's ids of the items by categories; each row sums to 1. ``attrs["draws"]`` says
            how many draws were used, ``attrs["caution"]`` as of `summary`.

        Raises
        ------
        AttributeError
            The model has no true categories.
        RatingsError
            The ratings are in parts.
        """
        if self.model.has_true_categories:
            self._items_in_memory("category_probabilities")
        posterior = self._draws(self._affordable(draws))
        found = self.model.category_probabilities(posterior)
        if found is None:
            raise self._no_true_categories()
        found.attrs |= {"draws": posterior.n_draws, "caution": self._caution}
        return found

    def _items_in_memory(self, purpose: str) -> Ratings:
        """The ratings, for results that have a row for each item."""
        return self._in_memory(purpose, WRITE_ITEMS.format("fit"))

    def correct_share(
        self, by: Literal["all", "pool", "rater"] = "all", draws: int | None = None
    ) -> xr.DataArray:
        """Draws of the proportion of the ratings at hand that equal the item's true category.

        The quantity ``accuracy`` is the probability of a correct rating of an item drawn at random.
        This is the proportion among the items that were rated, with true categories drawn given
        their ratings. It depends less on the priors of raters.

        Parameters
        ----------
        by : {"all", "pool", "rater"}
            Of all ratings together, of those of each pool, or of those of each rater.
        draws : int, optional
            Posterior draws to use, spread evenly over the chains; by default as for `items`.

        Returns
        -------
        DataArray (chain, draw), (chain, draw, pool) or (chain, draw, rater), in [0, 1]

        Raises
        ------
        AttributeError
            The model has no true categories.
        ValueError
            ``by`` is unknown, or it is "pool" and the ratings have no pools.
        """
        ratings = self.ratings
        if by not in ("all", "pool", "rater"):
            raise ValueError(f"by must be 'all', 'pool' or 'rater', not {by!r}.")
        of_rater = ratings.rater_pool
        if by == "pool" and of_rater is None:
            raise ValueError("by='pool' needs ratings with pools: pass pool=... with the ratings.")
        posterior = self._draws(self._affordable(draws))
        rng = np.random.default_rng(self.settings.seed)
        correct = self.model.correct_ratings(posterior, rng)
        if correct is None:
            raise self._no_true_categories()
        coords = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
        by_rater = xr.DataArray(
            correct.reshape(*posterior.shape, -1), coords, (*coords, "rater"), "correct_share"
        )
        rated = xr.DataArray(ratings.ratings_per_rater, dims="rater")
        if by == "all":
            return by_rater.sum("rater") / rated.sum()
        if by == "pool" and of_rater is not None:
            pool = xr.DataArray(ratings.pools[of_rater], dims="rater", name="pool")
            return by_rater.groupby(pool).sum() / rated.groupby(pool).sum()
        return (by_rater / rated).assign_coords(rater=ratings.raters)

    def raters_needed(
        self,
        reliability: float | None = None,
        *,
        accuracy: float | None = None,
        adaptive: bool = False,
        pool: Any = None,
    ) -> xr.DataArray:
        """Draws of the number of ratings that an item needs.

        Models with an ICC: the number of ratings by different raters whose mean reaches a
        ``reliability``. For binary and ordinal ratings it is the reliability of the observed
        ratings, from ``icc_observed``.

        Models of true categories: the number of ratings after which the most probable category of
        an item is correct with a probability of ``accuracy``, on average over items. For 100 draws,
        a thousand new items each are rated by these raters, drawn in proportion to their ratings.
        That raters are known only from these ratings is in the spread of the draws.

        Parameters
        ----------
        reliability : float, optional
            Wanted reliability, strictly between 0 and 1.
        accuracy : float, optional
            Wanted proportion of correct categories, strictly between 0 and 1.
        adaptive : bool, default False
            With ``accuracy``: an item gets no more ratings as soon as its most probable category is
            as probable as that; the draws are then mean numbers of ratings per item.
        pool : object, optional
            With ``accuracy``: the pool whose raters rate; by default all.

        Returns
        -------
        DataArray (chain, draw), from 1; infinite where the ICC is 0, or where 50 ratings are not
            enough for the accuracy; (chain, draw, pool) for ICCs of several pools

        Raises
        ------
        ValueError
            Not exactly one of ``reliability`` and ``accuracy`` is given, it is not strictly between
            0 and 1, or there is no such pool.
        AttributeError
            The model has no ICC, or no true categories.
        """
        if accuracy is None:
            if reliability is None or adaptive or pool is not None:
                raise ValueError(
                    "pass either reliability, for models with an ICC, or accuracy, for models of "
                    "true categories; adaptive and pool go with accuracy."
                )
            return quantities.raters_needed(self._icc(), reliability).rename("raters_needed")
        if reliability is not None:
            raise ValueError("pass either reliability or accuracy, not both.")
        if not 0 < accuracy < 1:
            raise ValueError(f"accuracy must lie strictly between 0 and 1, not {accuracy}.")
        draws, coords = self._rating_probabilities(SIMULATIONS)
        rng = np.random.default_rng(self.settings.seed)
        share = self._share_of_ratings(pool)
        found = rating_probabilities.ratings_needed(
            draws, share, accuracy, adaptive=adaptive, rng=rng
        )
        shape = [len(values) for values in coords.values()]
        return xr.DataArray(found.reshape(shape), coords, list(coords), "raters_needed")

    def against_gold(self, prob: float = 0.9) -> pd.DataFrame:
        """How often labels and raters equal the known true categories, with intervals.

        The model's label of an item is the most probable category that it would have had if its
        true category had not been known, by importance weights of the draws. Ties of majority votes
        count in proportion.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed intervals, in (0, 1): Jeffreys intervals for
            independent items.

        Returns
        -------
        DataFrame
            Rows ("labels", "model"), ("labels", "majority vote"), a row for each pool if there are
            pools, and one for each rater, the worst first. Columns ratings (how many of items with
            a known category), correct, accuracy, lower_90 and upper_90.

        Raises
        ------
        AttributeError
            The model has no true categories.
        ValueError
            No true category is known.
        """
        ratings = self._in_memory("against_gold")
        if not len(known_answers.known_items(ratings)):
            raise ValueError("no true category is known: pass gold=... with the ratings.")
        draws, _ = self._rating_probabilities(LEAST_DRAWS)
        return known_answers.accuracy_table(ratings, draws, prob)

    def pools(self, prob: float = 0.9) -> pd.DataFrame:
        """Accuracy, information and agreement of each pool of raters, the worst first.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        DataFrame
            A row for each pool. Columns raters and ratings (how many); accuracy, the median
            probability that a rating of the pool is correct, with lower_90 and upper_90; pr_lowest,
            the probability that no other pool has a lower accuracy; informativeness, the median
            information of a rating in bits; agreement, the proportion of pairs of ratings of an
            item, one of them of the pool, that are equal.

        Raises
        ------
        AttributeError
            The model has no accuracy of raters.
        ValueError
            The ratings have no pools.
        """
        ratings = self.ratings
        pool = known_pools(ratings)
        found = by_pool(self.quantities, ratings)
        if "accuracy" not in found:
            raise self._no_true_categories()
        names = [name for name in ("accuracy", "informativeness") if name in found]
        draws = {name: found[name].values.reshape(-1, len(ratings.pools)) for name in names}
        accuracy = draws["accuracy"]
        lower, upper = interval_bounds(accuracy, prob)
        of_pool = pool == np.arange(len(ratings.pools))[:, None]
        equal, others = agreeing_pairs(ratings)
        table = pd.DataFrame(
            {
                "raters": np.bincount(pool),
                "ratings": of_pool @ ratings.ratings_per_rater,
                "accuracy": np.median(accuracy, axis=0),
                f"lower_{100 * prob:g}": lower,
                f"upper_{100 * prob:g}": upper,
                "pr_lowest": (accuracy == accuracy.min(axis=1, keepdims=True)).mean(axis=0),
                "informativeness": np.median(draws["informativeness"], axis=0),
                "agreement": np.divide(equal, others, where=others > 0, out=equal * np.nan),
            },
            index=ratings.pools.rename("pool"),
        )
        return table.sort_values("accuracy", kind="stable")

    def _share_of_ratings(self, pool: Any) -> Array:
        """Proportion (R,) of the ratings that are by each rater, of all or of one pool."""
        ratings = self.ratings
        weight = ratings.ratings_per_rater.astype(float)
        if pool is not None:
            if ratings.rater_pool is None or pool not in ratings.pools:
                names = ", ".join(map(str, ratings.pools)) or "none"
                raise ValueError(f"{pool!r} is not a pool. Choose from: {names}.")
            weight = weight * (ratings.pools[ratings.rater_pool] == pool)
        return np.asarray(weight / weight.sum())

    def _rating_probabilities(
        self, wanted: int | None
    ) -> tuple[Iterator[RatingProbabilities], dict[str, Any]]:
        """How raters rate at some of the draws, and the coordinates of these draws."""
        posterior = self._draws(self._affordable(wanted))
        found = None
        if self.model.has_true_categories:
            found = self.model.rating_probabilities(posterior)
        if found is None:
            raise self._no_true_categories()
        return found, {dim: posterior.draws.coords[dim].values for dim in ("chain", "draw")}

    def _no_true_categories(self) -> AttributeError:
        return no_true_categories(self.model)
