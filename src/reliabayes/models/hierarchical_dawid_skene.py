"""Hierarchical Dawid-Skene: each rater has a confusion matrix, and raters resemble one another."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax, xlogy

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.models.bases.annotation import REPORTED, AnnotationModel, by_rater
from reliabayes.models.bases.densities import half_t, log_half_t, log_normal
from reliabayes.models.bases.hidden_state import Data
from reliabayes.models.priors import Dirichlet, HalfNormal, HalfStudentT, Normal
from reliabayes.ratings import Ratings

GRID = np.linspace(-8, 4, 121)  # of the log of a spread
KNOWN = 0.75  # share of what true categories would tell, from which curvature is a good guide


@dataclass(frozen=True, kw_only=True)
class HierarchicalDawidSkene(AnnotationModel):
    r"""True categories of items, and confusion matrices of raters who resemble one another.

    .. math:: \log(\pi_{jhk} / \pi_{jhh}) = \mu_{hk} + \sigma_{hk}\, z_{jhk},
        \quad z_{jhk} \sim N(0, 1), \quad k \ne h

    with the confusion matrices pi of raters j, whose rows are true categories. Where Dawid-Skene
    estimates each matrix by itself, here what is known of the other raters is known of a rater with
    few ratings, too. An error is a true category h with a wrong one k.

    Quantities: ``prevalence`` (K,); ``typical_confusion`` (K, K), of a rater whose log odds are the
    mean ones, ``location``, and ``spread``, the standard deviation of log odds between raters, both
    by error (K (K - 1),); of each rater ``confusion`` (K, K), ``accuracy`` and ``random_share`` in
    [0, 1], ``informativeness`` in bits; ``log_likelihood`` in nats and ``bits_per_rating``, true
    categories summed out.

    Parameters
    ----------
    prior_prevalence : Dirichlet
    prior_location : Normal
        Of the mean log odds of a wrong rating against a right one, were there one wrong category;
        log(K - 1) is taken off, for the wrong ones share it. The default expects a typical rater to
        be right with probability 0.82 to 0.85 for any K. It is what tells true categories apart, so
        its sd must be finite.
    prior_spread : HalfNormal or HalfStudentT

    Notes
    -----
    The reference of the log odds is the right category, not the last one as published, so that the
    prior says the same of all categories. `em` climbs the posterior of location and spread whether
    priors are asked for or not, for raters resemble one another by these priors alone; effects of
    raters are taken at their mode, and their uncertainty into account (Laplace).

    References
    ----------
    Paun et al. (2018). https://doi.org/10.1162/tacl_a_00040
    """

    summary: ClassVar[str] = "true categories, and confusion matrices of raters who are alike"
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "typical_confusion",
        "location",
        "spread",
        *REPORTED,
    )

    prior_prevalence: Dirichlet = Dirichlet(3.0)
    prior_location: Normal = Normal(-2.0, 1.0)
    prior_spread: HalfNormal | HalfStudentT = HalfNormal(1.0)

    def __post_init__(self) -> None:
        if not math.isfinite(self.prior_location.sd):
            raise ValueError(
                "prior_location must have a finite sd, or nothing tells which true category is "
                f"which: found {self.prior_location!r}. Pass a wide one, such as Normal(-2, 2)."
            )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, what raters share, and their effects."""
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("location", "real", ("error",)),
            Parameter("spread", "positive", ("error",)),
            Parameter("effect", "real", ("error", "rater")),
        )

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors, that of the location for one of K - 1 wrong categories."""
        mean, sd = self.prior_location.stan
        return {
            "prior_prevalence": self.prior_prevalence.of(n_categories),
            "prior_location": [mean - math.log(n_categories - 1), sd],
            "prior_spread": self.prior_spread.stan,
        }

    def confusion(self, point: Point) -> Array:
        """Shares of ratings (..., R, K, K) by true category."""
        n_categories = point["prevalence"].shape[-1]
        return np.asarray(softmax(_matrices(_log_odds(point), n_categories), axis=-1))

    def table(self, point: Point, data: Data) -> Array:
        """Log-probabilities (K, V) of a rating, also where they are too small to tell from 0."""
        rows = log_softmax(_matrices(_log_odds(point), data["K"]), axis=-1)
        return np.asarray(rows.transpose(1, 2, 0).reshape(data["K"], -1))

    def more_quantities(self, point: Point, data: Data) -> dict[str, tuple[tuple[str, ...], Array]]:
        """The confusion matrix of a rater without effects."""
        typical = softmax(_matrices(point["location"], data["K"]), axis=-1)
        return {"typical_confusion": (("true_category", "category"), typical)}

    def draw_point(self, data: Data, rng: np.random.Generator, given: Point) -> dict[str, Array]:
        """Parameters drawn from their priors."""
        size = data["K"] * (data["K"] - 1)
        mean, sd = data["prior_location"]
        return {
            "prevalence": rng.dirichlet(data["prior_prevalence"]),
            "location": mean + sd * rng.standard_normal(size),
            "spread": np.array([half_t(data["prior_spread"], rng) for _ in range(size)]),
            "effect": rng.standard_normal((size, data["R"])),
        }

    # What the ratings of each rater tell.

    def data(self, ratings: Ratings) -> dict[str, Any]:
        """Distinct items by their cells, priors, and what the ratings of each rater tell."""
        data = super().data(ratings)
        nothing = np.zeros((data["K"] * (data["K"] - 1), data["R"]))
        blank = {**data, "own": nothing, "precision": nothing}
        point = self.climb(blank, None, most=30, tolerance=1e-2).point
        counts, _ = self._expected_by_rater(point, data)
        own, precision = _own_log_odds(_log_odds(point), counts)
        return {**data, "own": own.T, "precision": precision.T}

    def without_priors(self, data: Data) -> dict[str, Any]:
        """Data with a prior of the prevalence that adds nothing; the others make the model."""
        return {**data, "prior_prevalence": np.zeros(data["K"])}

    def _expected_by_rater(self, point: Point, data: Data) -> tuple[Array, Array]:
        """Expected ratings (R, K, K) of each rater, and how uncertain each is, summed alike."""
        mixture = ItemMixture.from_stan(data)
        _, state = mixture.posterior(*self.columns(point, data))
        expected, unsure = (mixture.expected(x)[0] for x in (state, state * (1 - state)))
        return by_rater(expected, data), by_rater(unsure, data)

    # Expectation maximisation.

    def log_prior(self, point: Point, data: Data) -> float:
        """Log density of the priors on the unconstrained scale, but for constants."""
        scaled = point["spread"][:, None] ** 2 * data["precision"]
        of_spread = (log_half_t(sd, data["prior_spread"]) for sd in point["spread"])
        return float(
            xlogy(data["prior_prevalence"], point["prevalence"]).sum()
            + log_normal(point["location"], *data["prior_location"]).sum()
            + sum(of_spread)
            + np.log(point["spread"]).sum()
            - 0.5 * (point["effect"] ** 2 + np.log1p(scaled)).sum()
        )

    def maximise(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Likelier log odds and locations by Newton's steps, then spreads given these."""
        items = items + data["prior_prevalence"]
        counts = by_rater(expected, data)
        shape = data["K"], data["K"] - 1
        location, log_odds = _climb_log_odds(
            _Errors(
                wrong=_errors(counts).reshape(-1, *shape),
                total=counts.sum(axis=-1),
                pull=point["spread"].reshape(shape) ** -2,
                prior=data["prior_location"],
            ),
            point["location"].reshape(shape),
            _log_odds(point).reshape(-1, *shape),
        )
        away = (log_odds - location).reshape(len(counts), -1).T
        spread = _climb_spread(point["spread"], (away**2).sum(axis=1), data)
        return {
            "prevalence": items / items.sum(),
            "location": location.ravel(),
            "spread": spread,
            "effect": away / spread[:, None],
        }

    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """As if the expected ratings were observed, and what they tell of log odds were normal."""
        own, told = (x.T for x in _own_log_odds(_log_odds(point), by_rater(expected, data)))
        spread, location = point["spread"][:, None], point["location"][:, None]
        unknown = 1 + spread**2 * told  # variance of a log odds over that given the ratings
        return {
            "prevalence": self.parameters()[0].spread(items + data["prior_prevalence"]),
            "location": (data["prior_location"][1] ** -2 + (told / unknown).sum(axis=1)) ** -0.5,
            "spread": _sd_of_log_spread((own - location) ** 2, told, data["prior_spread"]),
            "effect": np.sqrt((1 + spread**2 * data["precision"]) / unknown),
        }

    def warm_start(self, data: Data) -> WarmStart:
        """Mode of the posterior on the unconstrained scale, and its curvature, by EM.

        Where true categories stay uncertain, curvature at the mode is a poor guide.
        """
        start = super().warm_start(data)
        point = start.point
        centre, scale = _between(point, data)
        poor = self._share_known(point, data) < KNOWN
        return replace(
            start,
            mode={**start.mode, "effect": (point["effect"] - centre) / scale},
            constrain=partial(self._constrain_effects, data=data),
            adapt=poor,
            acceptance=0.95 if poor else 0.8,
        )

    def cold_start(self, data: Data) -> WarmStart:
        """Parameters around the middle of their ranges, a factor e of odds away or so."""
        return replace(
            super().cold_start(data), constrain=partial(self._constrain_effects, data=data)
        )

    def _constrain_effects(self, free: Any, data: Data) -> dict[str, Any]:
        point = self._constrain(free)
        centre, scale = _between(point, data)
        return {**point, "effect": (centre + scale * np.asarray(free["effect"])).tolist()}

    def _share_known(self, point: Point, data: Data) -> float:
        """How much ratings tell of log odds, over what they would if true categories were known.

        The least share of any error. What is missing is the variance of the score over the true
        categories given the ratings.

        References
        ----------
        Louis (1982), https://doi.org/10.1111/j.2517-6161.1982.tb01203.x
        """
        counts, unsure = self._expected_by_rater(point, data)
        share = self.confusion(point)
        told = counts.sum(axis=-1, keepdims=True) * share * (1 - share)
        missing = unsure * (1 - 2 * share) + unsure.sum(axis=-1, keepdims=True) * share**2
        return float((1 - _errors(missing).sum(axis=0) / _errors(told).sum(axis=0)).min())


@dataclass(frozen=True)
class _Errors:
    """What makes log odds of errors likely: expected ratings, and the other raters.

    Attributes
    ----------
    wrong : (R, K, K - 1), expected ratings by true category and wrong one
    total : (R, K), expected ratings by true category
    pull : (K, K - 1), precision of the log odds given their location
    prior : mean and sd of the locations
    """

    wrong: Array
    total: Array
    pull: Array
    prior: Any

    def value(self, location: Array, log_odds: Array) -> Array:
        """Log density (K,) of each true category's part, but for constants."""
        normaliser = np.logaddexp(0, logsumexp(log_odds, axis=-1))
        likely = (self.wrong * log_odds).sum(axis=-1) - self.total * normaliser
        pulled = self.pull * (log_odds - location) ** 2
        alike = log_normal(location, *self.prior).sum(axis=-1)
        return np.asarray(likely.sum(axis=0) - 0.5 * pulled.sum(axis=(0, 2)) + alike)

    def step(self, location: Array, log_odds: Array) -> tuple[Array, Array]:
        """Newton's step; locations are solved for first, log odds then rater by rater.

        The Hessian of a rater's log odds is a diagonal matrix less a product of vectors, which the
        formula of Sherman and Morrison inverts.
        """
        mean, sd = self.prior
        normaliser = np.logaddexp(0, logsumexp(log_odds, axis=-1))[..., None]
        share, right = np.exp(log_odds - normaliser), np.exp(-normaliser[..., 0])
        expected = self.total[..., None] * share
        diagonal = expected + self.pull
        direction = share / diagonal
        weight = self.total / (right + (self.pull * direction).sum(axis=-1))

        def solve(x: Array) -> Array:
            along = weight * (direction * x).sum(axis=-1)
            return np.asarray(x / diagonal + direction * along[..., None])

        away = self.pull * (log_odds - location)
        alone = solve(self.wrong - expected - away)
        slope = away.sum(axis=0) - (location - mean) / sd**2 + (self.pull * alone).sum(axis=0)
        root = np.sqrt(weight)[..., None] * self.pull * direction
        hessian = -np.matmul(root.transpose(1, 2, 0), root.transpose(1, 0, 2))
        every = np.arange(location.shape[1])
        hessian[:, every, every] += (self.pull * expected / diagonal).sum(axis=0) + 1 / sd**2
        of_location = np.linalg.solve(hessian, slope[..., None])[..., 0]
        return of_location, alone + solve(np.broadcast_to(self.pull * of_location, alone.shape))


def _climb_log_odds(
    errors: _Errors, location: Array, log_odds: Array, steps: int = 3, halvings: int = 20
) -> tuple[Array, Array]:
    """Likelier locations (K, K - 1) and log odds (R, K, K - 1), by Newton's steps."""
    here = errors.value(location, log_odds)
    for _ in range(steps):
        of_location, of_log_odds = errors.step(location, log_odds)
        size = np.ones((len(here), 1))
        for _ in range(halvings):
            there = errors.value(location + size * of_location, log_odds + size * of_log_odds)
            worse = ~(there >= here)
            size[worse] /= 2
            if not worse.any():
                location, log_odds = location + size * of_location, log_odds + size * of_log_odds
                here = there
                break
    return location, log_odds


def _climb_spread(spread: Array, squares: Array, data: Data, steps: int = 3) -> Array:
    """Likelier spreads (E,), given the sums of squares of log odds around their locations.

    Of the terms in the variance, those that bend upwards are replaced by their tangents, which
    touch them from below; what is left has its largest value in closed form.
    """
    df, scale = data["prior_spread"]
    variance = spread**2
    for _ in range(steps):
        of_effects = (data["precision"] / (1 + variance[:, None] * data["precision"])).sum(axis=1)
        falling = of_effects + (1 + 1 / df) / (scale**2 + variance / df)
        variance = (1 + np.sqrt(1 + 4 * squares * falling)) / (2 * falling)
    return np.asarray(np.sqrt(variance))


def _sd_of_log_spread(squares: Array, told: Array, prior: Any) -> Array:
    """Posterior sd (E,) of the log of each spread, the effects of raters integrated out.

    By a sum over a grid: where raters are nearly alike the left tail is long, and curvature at the
    mode says nothing of it.

    Parameters
    ----------
    squares : (E, R), of what raters' own log odds are away from the location
    told : (E, R), precision of the raters' own log odds
    """
    log_density = np.empty((len(GRID), len(told)))
    for row, log_spread in zip(log_density, GRID, strict=True):
        spread = math.exp(log_spread)
        variance = 1 + spread**2 * told
        row[:] = -0.5 * (np.log(variance) + told * squares / variance).sum(axis=1)
        row += log_half_t(spread, prior) + log_spread
    weight = softmax(log_density, axis=0)
    return np.asarray(np.sqrt(GRID**2 @ weight - (GRID @ weight) ** 2))


def _log_odds(point: Point) -> Array:
    """Log odds (..., R, E) of the errors of each rater."""
    by_error = point["location"][..., None] + point["spread"][..., None] * point["effect"]
    return np.asarray(np.moveaxis(by_error, -1, -2))


def _own_log_odds(log_odds: Array, counts: Array) -> tuple[Array, Array]:
    """Log odds (R, E) of the normal likelihood that is closest to the ratings', and precision.

    It has the slope and the curvature of that of the ratings ``counts`` (R, K, K) at ``log_odds``.
    """
    share = softmax(_matrices(log_odds, counts.shape[-1]), axis=-1)
    total = counts.sum(axis=-1, keepdims=True)
    slope, precision = _errors(counts - total * share), _errors(total * share * (1 - share))
    step = np.divide(slope, precision, out=np.zeros_like(slope), where=precision > 0)
    return log_odds + step, precision


def _between(point: Point, data: Data) -> tuple[Array, Array]:
    """Where effects (E, R) stand if unconstrained they are 0, and how far off if they are 1."""
    location, spread = (np.asarray(point[name])[:, None] for name in ("location", "spread"))
    precision = np.asarray(data["precision"])
    variance = 1 / (1 + spread**2 * precision)
    return variance * spread * precision * (data["own"] - location), np.sqrt(variance)


def _matrices(by_error: Array, n_categories: int) -> Array:
    """Numbers of errors (..., E) in their places in matrices (..., K, K), 0 on the diagonals."""
    matrices = np.zeros((*by_error.shape[:-1], n_categories, n_categories))
    matrices[..., ~np.eye(n_categories, dtype=bool)] = by_error
    return matrices


def _errors(matrices: Array) -> Array:
    """Numbers of errors (..., E): those off the diagonals of matrices (..., K, K)."""
    return np.asarray(matrices[..., ~np.eye(matrices.shape[-1], dtype=bool)])
