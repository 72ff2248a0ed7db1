"""Models are compared by how well they predict the ratings of held-out items."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit, ndtr
from scipy.stats import multivariate_normal, norm

import reliabayes as rb
from reliabayes import datasets
from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.normal.gaussian import SEED
from reliabayes.finding_table import FindingTable
from reliabayes.models.category_model import CategoryModel
from reliabayes.partitions import in_memory
from reliabayes.results.comparison import stacking_weights
from reliabayes.results.leave_one_out import LeaveOneOut
from reliabayes.results.posterior import Posterior
from reliabayes.results.settings import Settings
from tests.monte_carlo import standard_error

# Names in arviz 0.x and in arviz 1.x.
ELPD, P, ELPD_BY_ITEM = (
    ("elpd_loo", "p_loo", "loo_i") if az.__version__.startswith("0.") else ("elpd", "p", "elpd_i")
)

# Whether a Pareto k is too high may differ from draws to draws; one test with given weights says
# when there is a warning.
pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")

NUMBERS = r"Weighted has Pareto k up to 1\.\d\d \(at most 0\.70\) in 1 of 8 items, worst in 3"

MODELS_WITH_EM = [model() for model in rb.MODELS if issubclass(model, CategoryModel)]
LEVEL = [0.9, -1.2, 0.1, 0.4, -0.6, 0.3]
BINARY: dict[str, Any] = {"mean": 0.3, "sd_item": 1.5, "sd_rater": 0.7, "level": LEVEL}
TWO_BINARY_POOLS: dict[str, Any] = {
    "mean": [0.3, -0.5],
    "sd_item": [1.5, 0.8],
    "sd_rater": [0.7, 1.1],
    "factor_item": [[1.0, 0.0], [0.8, 0.6]],
    "level": LEVEL,
}
LATENT_SCORE_CASES: list[tuple[Any, dict[str, Any]]] = [
    (rb.LogitICC, BINARY),
    (rb.OrdinalICC, BINARY | {"step": [1.2]}),
    (rb.LogitXCC, TWO_BINARY_POOLS),
    (rb.OrdinalXCC, TWO_BINARY_POOLS | {"step": [[1.2], [0.8]]}),
]
ONE_POOL: dict[str, Any] = {"mean": 3.0, "sd_item": 1.0, "sd_rater": 0.3, "sd_residual": 0.7}
TWO_POOLS: dict[str, Any] = {
    "mean": [3.0, 5.0],
    "sd_item": [1.0, 2.0],
    "sd_rater": [0.2, 0.4],
    "sd_residual": [0.7],
    "factor_item": [[1.0, 0.0], [0.8, 0.6]],
}
GAUSSIAN_CASES: dict[str, tuple[Any, dict[str, Any], tuple[int, int]]] = {
    "more items": (rb.GaussianICC(), ONE_POOL, (12, 6)),
    "more raters": (rb.GaussianICC(), ONE_POOL, (10, 12)),
    "shared residual sd": (rb.GaussianXCC(), TWO_POOLS, (12, 6)),
    "residual sd per pool": (
        rb.GaussianXCC(residual="per_pool"),
        TWO_POOLS | {"sd_residual": [0.7, 0.4]},
        (12, 6),
    ),
}
with_gaussian_models = pytest.mark.parametrize(
    ("model", "point", "shape"), GAUSSIAN_CASES.values(), ids=GAUSSIAN_CASES.keys()
)


@functools.cache
def fitted(model: Any, ratings: rb.Ratings, draws: int = 300) -> rb.Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ConvergenceWarning)
        fit: rb.Fit = model.fit(ratings, chains=2, draws=draws, seed=1)
    return fit


def complete(items: int, raters: int) -> pd.DataFrame:
    item, rater = np.mgrid[:items, :raters].reshape(2, -1)
    return pd.DataFrame({"item": item, "rater": rater})


@pytest.fixture(scope="module")
def ratings() -> rb.Ratings:
    return rb.Ratings.from_frame(datasets.load("dawid_skene_1979"), replicates="keep")


@pytest.fixture(scope="module")
def fits(ratings: rb.Ratings) -> dict[str, rb.Fit]:
    return {
        "MACE": fitted(rb.MACE(prevalence="uniform"), ratings),
        "t-a-p": fitted(rb.TAP(), ratings),
    }


@pytest.fixture(scope="module")
def simulated() -> rb.Ratings:
    """Ratings by raters of very different accuracy."""
    known = np.array([0.9, 0.8, 0.6, 0.3, 0.1])
    parameters = {"a": known, "p": np.full((5, 2), 0.5)}
    rng = np.random.default_rng(1)
    return rb.RaterTAP().simulate(complete(300, 5), rng, parameters=parameters)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Estimated shape parameter")  # of one item, by few draws
def test_leave_one_out_agrees_with_arviz(fits: dict[str, rb.Fit]) -> None:
    fit = fits["MACE"]

    ours = fit.loo()

    data = fit.to_arviz(log_likelihood=True)
    theirs: Any = az.loo(data, pointwise=True, reff=1.0)  # type: ignore[no-untyped-call]
    np.testing.assert_allclose(ours.elpd_by_item, getattr(theirs, ELPD_BY_ITEM), rtol=1e-9)
    np.testing.assert_allclose(ours.pareto_k, theirs.pareto_k, rtol=1e-9)
    assert ours.elpd == pytest.approx(getattr(theirs, ELPD))
    assert ours.p_loo == pytest.approx(getattr(theirs, P))
    assert ours.good_k == pytest.approx(theirs.good_k)


@pytest.mark.slow
def test_items_with_the_same_ratings_count_once_each(simulated: rb.Ratings) -> None:
    loo = fitted(rb.TAP(), simulated).loo()

    assert simulated.n_items == 300
    assert loo.elpd_by_item.nunique() == 6
    assert loo.elpd == pytest.approx(float(loo.elpd_by_item.sum()))


@pytest.mark.slow
def test_elpd_of_an_item_agrees_with_a_fit_without_it(ratings: rb.Ratings) -> None:
    hard = 2  # an item that the model predicts badly
    others = ratings.subset(items=ratings.items.drop([hard]))
    fit = fitted(rb.TAP(), ratings, draws=1000)
    without = dataclasses.replace(fitted(rb.TAP(), others, draws=1000), ratings=ratings)

    left_out = fit.loo().elpd_by_item[hard]

    seen, exact = (np.exp(x.log_likelihood().sel(item=hard).values) for x in (fit, without))
    # Leaving out weights draws by 1 / seen. Each is the logarithm of a mean over draws, whose
    # Monte Carlo error is that of the mean, relative to it.
    error = np.hypot(relative_error(exact), relative_error(1 / seen))
    assert left_out == pytest.approx(np.log(exact.mean()), abs=5 * error)
    assert np.log(seen.mean()) > left_out + 5 * error


def test_log_likelihoods_of_items_sum_to_the_total(fits: dict[str, rb.Fit]) -> None:
    by_item = fits["MACE"].log_likelihood()

    total = fits["MACE"].quantities["log_likelihood"]

    assert by_item.dims == ("chain", "draw", "item")
    assert by_item["item"].to_index().equals(fits["MACE"].ratings.items)
    np.testing.assert_allclose(by_item.sum("item"), total, rtol=1e-6)  # Stan writes 8 digits


@pytest.mark.parametrize("model", MODELS_WITH_EM, ids=repr)
def test_pointwise_log_likelihood_sums_to_that_of_em(model: Any, simulated: rb.Ratings) -> None:
    estimate = model.em(simulated)
    one_draw = estimate.parameters.expand_dims(("chain", "draw"))
    posterior = Posterior(one_draw, simulated, model.problem(simulated))

    distinct, member = model.pointwise(posterior)

    assert distinct[0, member].sum() == pytest.approx(estimate.log_likelihood)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize(("model", "point"), LATENT_SCORE_CASES)
def test_log_likelihood_of_an_item_integrates_over_its_score(
    model: Any, point: dict[str, Any], link: Any
) -> None:
    at = {name: np.array(values) for name, values in point.items()}
    categories = range(3 if "step" in point else 2)
    rng = np.random.default_rng(1)
    ratings = model().simulate(pooled(8, 6), rng, categories=categories, parameters=at)
    fine = model(link=link, nodes=61)
    problem = fine.problem(ratings)
    one_draw = fine.labelled({name: x[None, None] for name, x in at.items()}, problem)

    distinct, member = fine.pointwise(Posterior(one_draw, ratings, problem))

    # A normal distribution has 2e-9 of its mass beyond the nodes; unlikely ratings have more.
    expected = integrated(at, ratings, {"logit": expit, "probit": ndtr}[link])
    np.testing.assert_allclose(distinct[0, member], expected, rtol=0, atol=1e-6)


@with_gaussian_models
def test_density_of_an_item_is_that_of_the_dense_covariance(
    model: Any, point: dict[str, Any], shape: tuple[int, int]
) -> None:
    fit = drawn_at(model, point, shape, draws=2)
    rating, rater, item = fit.ratings.values, fit.ratings.rater, fit.ratings.item

    found = fit.log_likelihood().values[0]

    posterior = Posterior(fit.posterior, fit.ratings, model.problem(fit.ratings))
    levels = list(model.normal_family.levels(posterior, np.random.default_rng(SEED)))
    given_levels = dense(point | {"sd_rater": [0.0]}, posterior.ratings_in_memory)
    assert np.abs(levels[0] - levels[1]).max() > 0.1
    for densities, level in zip(found, levels, strict=True):
        for code, density in enumerate(densities):
            own = np.flatnonzero(item == code)
            expected = multivariate_normal(level[rater[own]], given_levels[np.ix_(own, own)])
            assert density == pytest.approx(expected.logpdf(rating[own]), abs=1e-9)


@pytest.mark.slow
@with_gaussian_models
def test_elpd_of_numbers_is_the_exact_conditional_density(
    model: Any, point: dict[str, Any], shape: tuple[int, int]
) -> None:
    fit = drawn_at(model, point, shape, draws=1000)
    ratings = in_memory(fit.ratings, "loo")
    rating, item = ratings.values, ratings.item

    loo = fit.loo(warn=False)

    mean = np.resize(point["mean"], 2)[pools_of(ratings)]
    covariance = dense(point, ratings)
    of_all = multivariate_normal(mean, covariance).logpdf(rating)
    for code, found in enumerate(loo.elpd_by_item):
        rest = np.flatnonzero(item != code)
        of_rest = multivariate_normal(mean[rest], covariance[np.ix_(rest, rest)])
        assert found == pytest.approx(of_all - of_rest.logpdf(rating[rest]), abs=0.1)


@pytest.mark.slow
def test_fewer_draws_give_similar_estimates(fits: dict[str, rb.Fit]) -> None:
    all_draws, some = fits["t-a-p"].loo(), fits["t-a-p"].loo(draws=200)

    by_item = fits["t-a-p"].log_likelihood(draws=200)
    assert by_item.sizes["draw"] == 100
    assert some.good_k < all_draws.good_k
    # elpd is the sum of -log(mean(weight)) over items: to first order the Monte Carlo error of the
    # mean of all weights, each relative to the mean of its item.
    weight = np.exp(-by_item.values)
    error = standard_error((weight / weight.mean(axis=(0, 1))).sum(axis=-1))
    assert some.elpd == pytest.approx(all_draws.elpd, abs=5 * error)


def test_bits_of_held_out_items_are_counted_per_rating(fits: dict[str, rb.Fit]) -> None:
    loo = fits["MACE"].loo()

    assert loo.bits_per_rating == pytest.approx(-loo.elpd / np.log(2) / 315)
    assert loo.bits_per_rating_se == pytest.approx(loo.elpd_se / np.log(2) / 315)
    assert loo.elpd_se == pytest.approx(np.sqrt(45) * np.std(loo.elpd_by_item, ddof=1))
    assert loo.bits_per_rating > float(fits["MACE"].quantities["bits_per_rating"].mean())


def test_leave_one_out_shows_its_numbers() -> None:
    items = pd.Index(["a", "b", "c"], name="item")
    elpd, pareto_k = pd.Series([-2.0, -1.0, -3.0], items), pd.Series([0.1, 0.95, np.nan], items)

    loo = LeaveOneOut(elpd, pareto_k, good_k=0.7, p_loo=1.25, n_ratings=9)

    assert repr(loo) == (
        "LeaveOneOut(0.9618 bits per rating (se 0.2776), elpd -6.0 (se 1.7), p_loo 1.2, "
        "2 of 3 items with Pareto k above 0.70)"
    )
    assert loo.problem == "Pareto k up to nan (at most 0.70) in 2 of 3 items, worst in 'c', 'b'"


def test_undefined_elpd_of_an_item_makes_the_sum_undefined() -> None:
    elpd = pd.Series([-2.0, np.nan])

    loo = LeaveOneOut(elpd, elpd, good_k=0.7, p_loo=1.0, n_ratings=9)

    assert np.isnan([loo.elpd, loo.elpd_se, loo.bits_per_rating]).all()


def test_high_pareto_k_brings_one_warning_with_the_numbers() -> None:
    fits = {"Weighted": weighted(tail=1.5), "light": weighted(tail=0.2)}

    with pytest.warns(rb.ConvergenceWarning, match=NUMBERS) as by_fit:
        fits["Weighted"].loo()
    with pytest.warns(rb.ConvergenceWarning, match=NUMBERS) as by_comparison:
        rb.compare(fits)

    assert [len(by_fit), len(by_comparison)] == [1, 1]
    assert by_fit[0].filename == by_comparison[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fits["light"].loo()


@pytest.mark.slow
def test_model_that_generated_the_ratings_ranks_first(simulated: rb.Ratings) -> None:
    table = rb.compare(
        {"shared": fitted(rb.TAP(), simulated), "by rater": fitted(rb.RaterTAP(), simulated)}
    )

    best, worse = table.loc["by rater"], table.loc["shared"]
    assert table.index.tolist() == ["by rater", "shared"]
    assert best["difference"] == best["se_difference"] == 0
    assert worse["difference"] > 4 * worse["se_difference"] > 0
    assert best["weight"] > 0.9


@pytest.mark.slow
def test_standard_error_of_a_difference_pairs_items(fits: dict[str, rb.Fit]) -> None:
    table = rb.compare(fits, draws=300)

    elpd = {name: fit.loo(300).elpd_by_item for name, fit in fits.items()}
    paired = (elpd["t-a-p"] - elpd["MACE"]) / np.log(2) / 315
    assert table.index.tolist() == ["t-a-p", "MACE"]
    assert table["difference"]["MACE"] == pytest.approx(paired.sum())
    assert table["se_difference"]["MACE"] == pytest.approx(np.sqrt(45) * paired.std())


@pytest.mark.slow
def test_notebooks_show_above_the_table_which_model_predicts_best(
    fits: dict[str, rb.Fit],
) -> None:
    table = rb.compare(fits)

    bits, more = table["bits_per_rating"].iloc[0], table["difference"].iloc[1]
    is_clear = more > 2 * table["se_difference"].iloc[1]
    finding = (
        f"t-a-p predicts held-out items best, with {bits:.3f} bits per rating; MACE needs "
        f"{more:.3f} more{'' if is_clear else ', which may be due to chance'}"
    )
    assert isinstance(table, FindingTable)
    assert table._repr_html_().startswith(f"<p>{finding}</p><table")


@pytest.mark.slow
def test_order_of_fits_does_not_matter(fits: dict[str, rb.Fit]) -> None:
    one, other = rb.compare(fits), rb.compare(dict(reversed(fits.items())))

    pd.testing.assert_frame_equal(one, other)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # arviz uses deprecated features of pandas
def test_stacking_weights_agree_with_arviz(fits: dict[str, rb.Fit]) -> None:
    ours = rb.compare(fits)

    data = {name: fit.to_arviz(log_likelihood=True) for name, fit in fits.items()}
    theirs: Any = az.compare(data, method="stacking")
    assert theirs.index.tolist() == ours.index.tolist()
    np.testing.assert_allclose(ours["weight"], theirs["weight"], atol=0.01)


def test_stacking_weights_maximise_the_predictive_density() -> None:
    rng = np.random.default_rng(1)
    elpd = rng.normal(size=(50, 3)) - 1000  # exp underflows

    weight = stacking_weights(elpd)

    # At the optimum the gradient is 1 for models with weight above 0, and at most 1 for others.
    density = np.exp(elpd + 1000)
    gain = (density / (density @ weight)[:, None]).mean(axis=0)
    assert weight.sum() == pytest.approx(1)
    np.testing.assert_allclose(gain[weight > 1e-6], 1, atol=1e-4)
    assert (gain <= 1 + 1e-4).all()


def test_model_that_alone_explains_an_item_gets_weight() -> None:
    elpd = np.array([[-2000.0, 0.0]] + [[0.0, -500.0]] * 99)

    weight = stacking_weights(elpd)

    assert weight.tolist() == pytest.approx([0.99, 0.01])


def test_compare_refuses_single_fits_and_other_objects(fits: dict[str, rb.Fit]) -> None:
    one: Any = {"MACE": fits["MACE"]}

    with pytest.raises(ValueError, match="fits must contain at least two fits by name, not 1"):
        rb.compare(one)
    with pytest.raises(TypeError, match="fits must be a dict such as"):
        rb.compare(list(fits.values()))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="fits: 'model' must be a Fit, not TAP"):
        rb.compare({**one, "model": rb.TAP()})  # type: ignore[dict-item]


@pytest.mark.slow
def test_models_that_condition_on_votes_are_refused(
    fits: dict[str, rb.Fit], simulated: rb.Ratings
) -> None:
    conditional = rb.Groupthink().fit(simulated, seed=1, chains=1, draws=4)

    with pytest.raises(
        ValueError, match="Groupthink conditions on the proportions of an item's own"
    ):
        rb.compare({**fits, "groupthink": conditional})


@pytest.mark.slow
def test_densities_and_probabilities_are_refused() -> None:
    ratings = rb.Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    models = {"scores": rb.GaussianICC(), "votes": rb.TAP()}
    fits = {name: fitted(model, ratings, draws=20) for name, model in models.items()}

    with pytest.raises(ValueError, match="scores models numbers and votes models categories"):
        rb.compare(fits)


def test_fits_of_different_ratings_are_refused(fits: dict[str, rb.Fit]) -> None:
    flipped = fits["MACE"].ratings.to_frame()
    flipped.loc[0, "rating"] = 4
    changed = rb.Ratings.from_frame(flipped, replicates="keep")
    other = dataclasses.replace(fits["MACE"], ratings=changed)

    with pytest.raises(
        rb.RatingsError, match=r"in 'MACE' and .* in 'other', which differ in rating\."
    ):
        rb.compare({**fits, "other": other})


def pooled(items: int, raters: int) -> pd.DataFrame:
    """Design with most pairs of items and raters; two pools, some items rated by only one."""
    design = complete(items, raters)
    design = design.assign(pool=np.where(design["rater"] % 2, "b", "a"))
    return design.query("(item + rater) % 5 and (item > 1 or pool == 'a')")


def relative_error(draws: Array) -> float:
    """Monte Carlo standard error of a mean of draws (chain, draw), relative to the mean."""
    return standard_error(draws) / float(draws.mean())


class Weighted(rb.TAP):
    """A model whose draws are the log-likelihoods of the items."""

    def pointwise(self, posterior: Posterior[CategoricalProblem]) -> tuple[Array, Codes]:
        every = np.arange(posterior.ratings.n_items, dtype=np.int32)
        return posterior.draws["log_likelihood"].values[0], every


def weighted(tail: float) -> rb.Fit:
    """A fit whose importance weights without item 3 are quantiles of a Pareto distribution.

    Its shape is the Pareto k that is to be found; the weights without another item hardly vary.
    """
    draws = 2500
    place = np.arange(draws)
    log_likelihood = -1 + 0.1 * np.sin(np.outer(place, 1 + np.arange(8)))
    log_likelihood[:, 3] = tail * np.log1p(-(place + 0.5) / draws)
    ratings = rb.Ratings.from_frame(complete(8, 3).assign(rating=lambda x: x["rater"] % 2))
    posterior = xr.Dataset(
        {"log_likelihood": (("chain", "draw", "item"), log_likelihood[None])},
        {"chain": [0], "draw": place},
    )
    return rb.Fit(Weighted(), ratings, posterior, posterior, Settings(1, 0, draws, seed=1))


def drawn_at(model: Any, point: dict[str, Any], shape: tuple[int, int], draws: int) -> rb.Fit:
    """Fit with all draws at one point, to ratings simulated at that point."""
    ratings = model.simulate(pooled(*shape), np.random.default_rng(1), parameters=point)
    same = {name: np.tile(x, (1, draws, *[1] * np.ndim(x))) for name, x in point.items()}
    posterior = model.labelled(same, model.problem(ratings))
    return rb.Fit(model, ratings, posterior, posterior, Settings(1, 0, draws, seed=1))


def pools_of(ratings: rb.Ratings) -> Codes:
    """Pool of each rating, shape (N,)."""
    assert ratings.rater_pool is not None
    return ratings.rater_pool[ratings.rater]


def dense(point: dict[str, Any], ratings: rb.Ratings) -> Array:
    """Covariance of all ratings given the means, shape (N, N)."""
    pool, rater, item = pools_of(ratings), ratings.rater, ratings.item
    factor = np.array(point.get("factor_item", [[1, 0], [1, 0]]))
    root = np.resize(point["sd_item"], (2, 1)) * factor
    severity, residual = (np.resize(point[name], 2)[pool] for name in ("sd_rater", "sd_residual"))
    of_item = (item[:, None] == item) * (root @ root.T)[np.ix_(pool, pool)]
    of_rater = (rater[:, None] == rater) * severity**2
    return np.asarray(of_item + of_rater + np.diag(residual**2))


def integrated(point: dict[str, Any], ratings: rb.Ratings, cdf: Any) -> Array:
    """Log-probability of the ratings of each item by quadrature on a fine grid, shape (I,)."""
    root = np.atleast_1d(point["sd_item"])[:, None] * point.get("factor_item", 1.0)
    pools, steps = len(root), len(ratings.categories) - 2
    pool = pools_of(ratings) if pools > 1 else np.zeros_like(ratings.rater)
    axes = np.meshgrid(*[np.linspace(-8, 8, 161)] * pools)
    scores = np.stack([axis.ravel() for axis in axes], axis=1)
    weight = norm.pdf(scores).prod(axis=1)
    step = np.reshape(point.get("step", []), (pools, steps))
    ends = np.full((pools, 1), np.inf)
    cut = np.hstack([-ends, np.zeros((pools, 1)), step.cumsum(axis=1), ends])
    location = (scores @ root.T)[:, pool] + point["level"][ratings.rater]
    lower, upper = (cut[pool, ratings.category + place] for place in (0, 1))
    probability = np.maximum(cdf(location - lower) - cdf(location - upper), 1e-300)
    by_item = np.log(probability) @ np.eye(ratings.n_items)[ratings.item]
    return np.asarray(np.log(weight @ np.exp(by_item) / weight.sum()))
