"""The packaged programs have the densities of the plain programs in ``stan/reference``.

Stan drops constants, so densities are compared by their differences between random points. Where
the packaged program integrates effects out, so does the test: Gaussian effects by their conditional
distribution given the ratings, other effects of items on a grid, one item at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_expit, logsumexp
from scipy.stats import multivariate_normal

import reliabayes as rb
from hatch_build import Toolchain
from reliabayes.arrays import Array, Codes
from reliabayes.families.judges.centring import KINDS, PanelCentring
from reliabayes.families.judges.simulation import drawn_from_prior
from reliabayes.inference import stan
from reliabayes.inference.knowledge_centring import KnowledgeCentring
from reliabayes.inference.log_odds_centring import LogOddsCentring
from reliabayes.inference.problem import stan_data
from reliabayes.models import Covariates, RatingModel
from tests.conftest import REFERENCE
from tests.designs import log_densities
from tests.models.score_programs import sampled_at
from tests.models.test_judge_panel import PANEL, panel

Point = Mapping[str, Any]
Program = Callable[[str], Path]

POINTS = 2
ITEMS, RATERS = 5, 4
# Trapezoidal sums on this grid of standard scores have errors below 1e-8 for so few ratings.
NODES = np.linspace(-6, 6, 25)
SPACING = NODES[1] - NODES[0]


def test_every_model_has_a_reference_program() -> None:
    programs = {path.stem for path in REFERENCE}

    assert programs == {model().name().replace("-", "_") for model in rb.MODELS}


@pytest.mark.parametrize("program", REFERENCE, ids=lambda path: path.stem)
def test_reference_program_is_laid_out_by_stanc(program: Path) -> None:
    laid_out = Toolchain.find().stanc("--auto-format", "--max-line-length=100", program)

    # stanc leaves a space after the head of a loop without braces.
    assert program.read_text().splitlines() == [line.rstrip() for line in laid_out.splitlines()]


# Models whose true categories both programs marginalise.


def dawid_skene(rng: np.random.Generator) -> tuple[Point, Point]:
    """Points of both programs."""
    point = {"prevalence": simplex(rng), "confusion": simplex(rng, RATERS, 3)}
    return point, point


def mace(rng: np.random.Generator) -> tuple[Point, Point]:
    """Points of both programs: the packaged one may estimate the prevalence, too."""
    point = {"theta": rng.uniform(0.1, 0.9, RATERS), "xi": simplex(rng, RATERS)}
    return {**point, "prevalence": []}, point


def tap(rng: np.random.Generator) -> tuple[Point, Point]:
    """Points of both programs: the packaged one may have several accuracies and guesses."""
    point = {"prevalence": simplex(rng), "a": rng.uniform(0.1, 0.9), "p": simplex(rng)}
    return {**point, "a": [point["a"]], "p": [point["p"]]}, point


def groupthink(rng: np.random.Generator) -> tuple[Point, Point]:
    """Points of both programs."""
    point = {"prevalence": simplex(rng), "a": rng.uniform(0.1, 0.9)}
    return point, point


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "points"),
    [
        (rb.DawidSkene(), dawid_skene),
        (rb.MACE(prevalence="uniform"), mace),
        (rb.TAP(), tap),
        (rb.Groupthink(), groupthink),
    ],
    ids=["dawid-skene", "mace", "tap", "groupthink"],
)
def test_marginalising_true_categories_gives_the_reference_density(
    compiled: Program,
    model: RatingModel[Any],
    points: Callable[[np.random.Generator], tuple[Point, Point]],
) -> None:
    rng = np.random.default_rng(1)
    ratings = categorical(3, rng, scale="nominal")
    data = model.stan_data(ratings)
    pairs = [points(rng) for _ in range(POINTS)]

    packaged = [density(stan.folder() / name_of(model), data, point) for point, _ in pairs]
    plain = [
        density(compiled(name_of(model)), plain_data(ratings, data), point) for _, point in pairs
    ]

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-8)


def test_numbers_in_place_of_spreads_and_effects_have_the_reference_density(
    compiled: Program,
) -> None:
    rng, model = np.random.default_rng(1), rb.HierarchicalDawidSkene()
    ratings = categorical(3, rng, scale="nominal")
    problem = model.problem(ratings)
    centring = model.start(problem).centring
    assert isinstance(centring, LogOddsCentring)
    data, name = stan_data(problem, centring), name_of(model)

    packaged, plain = [], []
    for _ in range(POINTS):
        spread = rng.uniform(0.2, 2, 6)
        effects: dict[str, Any] = {"spread": spread, "effect": rng.normal(size=(6, RATERS))}
        effects |= {"ability_spread": rng.uniform(0.2, 2), "ability": rng.normal(size=RATERS)}
        point = {"prevalence": simplex(rng), "location": rng.normal(-1, 1, 6), **effects}
        sampled = model.for_program(point, centring)
        slopes = log_expit(sampled["free_spread"] / centring.spread_scale).sum()
        slopes += log_expit(sampled["free_ability_spread"] / centring.ability_scale)
        of_levels = effects["ability_spread"] ** 2 * centring.level_precision
        for ratio in (spread[:, None] ** 2 * centring.log_odds_precision, of_levels):
            slopes -= 0.5 * np.log1p(ratio).sum()
        packaged.append(density(stan.folder() / name, data, sampled) - slopes)
        plain.append(density(compiled(name), plain_data(ratings, data), point))

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-8)


@pytest.mark.slow
def test_sums_over_readings_of_judges_give_the_reference_density(compiled: Program) -> None:
    rng = np.random.default_rng(8)
    ratings = panel(3, gold=False)
    problem = PANEL.problem(ratings)
    centring = PANEL.start(problem).centring
    assert isinstance(centring, PanelCentring)
    data, raters = stan_data(problem, centring), list(ratings.raters)
    judges = [raters.index(name) for name in problem.coords["judge"]]
    plain_ = {
        **plain_data(ratings, {**data, "G": 0}),
        **{"G": 2, "F": 3, "group": problem.group + 1, "contrasts": problem.contrasts},
        "family": np.maximum(problem.roles.family + 1, 0),
        "has_own": placed(problem.answers.own_of >= 0, judges, len(raters)).astype(int),
        "has_slip": placed(problem.answers.slip_of >= 0, judges, len(raters)).astype(int),
    }

    packaged, plain = [], []
    for _ in range(POINTS):
        point = drawn_from_prior(problem, rng, {})
        sampled = PANEL.for_program(point, centring)
        spreads = {kind: point[f"{kind}_spread"] for kind in KINDS}
        spreads["misreading"] = spreads["misreading"][:, None]  # by family
        effects = {
            kind: (point[f"{kind}_log_odds"] - point[f"{kind}_location"]) / spread
            for kind, spread in spreads.items()
        }
        names = [*(f"{kind}_{what}" for kind in KINDS for what in ("location", "spread"))]
        at: dict[str, Any] = {name: point[name] for name in names}
        at |= {name: at[name][0] for name in ("prevalence_spread", "people_spread")}
        at |= {f"{kind}_effect": x for kind, x in effects.items()}
        at["misreading_effect"] = effects["misreading"].swapaxes(0, 1)
        places = {
            "people_effect": (effects["people"], "person"),
            "own": (point["own_log_odds"], "own_judge"),
            "slip": (point["slip_log_odds"], "run_judge"),
        }
        for name, (values, dim) in places.items():
            at[name] = placed(values, [raters.index(x) for x in problem.coords[dim]], len(raters))
        slopes = centring.log_slopes(point)
        packaged.append(density(stan.folder() / "judge_panel", data, sampled) - slopes)
        plain.append(density(compiled("judge_panel"), plain_, at))

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-8)


def placed(values: Any, places: list[int], size: int) -> Array:
    """Values in some rows of as many as the given size; zeros elsewhere."""
    found = np.zeros((size, *np.shape(values)[1:]))
    found[places] = values
    return found


# Models with a distribution of true categories for each item, or a difficulty.


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [rb.RaterTAP(prevalence="item"), rb.RaterGroupthink()], ids=lambda m: m.name()
)
def test_integrating_the_distributions_of_true_categories_gives_the_reference_density(
    compiled: Program, model: Any
) -> None:
    rng = np.random.default_rng(2)
    ratings = categorical(2, rng, scale="nominal")
    data = model.stan_data(ratings)
    plain_ = plain_data(ratings, data) | {"prior_t": model.prior_t.of(2)}
    # The density is a polynomial in t, which Gauss-Legendre quadrature integrates exactly.
    node, weight = np.polynomial.legendre.leggauss(8)
    t = (node + 1) / 2
    grid = np.log(t / (1 - t))[:, None]

    packaged, plain = [], []
    for _ in range(POINTS):
        point: dict[str, Any] = {"a": rng.uniform(0.1, 0.9, RATERS)}
        free = [logit(point["a"])]
        if isinstance(model, rb.RaterTAP):
            point["p"] = simplex(rng, RATERS, size=2)
            free.append(logit(point["p"][:, 0]))
        base = np.concatenate([np.zeros(ITEMS), *free])
        places = np.arange(ITEMS)[:, None]
        packaged.append(density(stan.folder() / name_of(model), data, {**point, "prevalence": []}))
        plain.append(
            integrated(compiled(name_of(model)), plain_, base, places, grid, np.log(weight / 2))
        )

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-8)


@pytest.mark.slow
def test_integrating_difficulties_gives_the_reference_density(compiled: Program) -> None:
    rng = np.random.default_rng(3)
    ratings = categorical(3, rng, scale="nominal")
    experience = Covariates(
        ("years",), tuple(ratings.raters), tuple((float(x),) for x in rng.normal(size=RATERS))
    )
    model = rb.LatentTAP(nodes=101, covariates=experience)
    problem = model.problem(ratings)
    centring = model.start(problem).centring
    assert isinstance(centring, KnowledgeCentring)
    data = stan_data(problem, centring)

    packaged, plain = [], []
    for _ in range(POINTS):
        mean, sd, eta, sd_delta = rng.normal(), rng.uniform(0.3, 1), rng.normal(size=1), 1.1
        alpha, concentration = rng.normal(mean, sd, RATERS), rng.uniform(1, 9)
        prevalence, mean_p, p = simplex(rng), simplex(rng), simplex(rng, RATERS)
        point = {
            "prevalence": prevalence,
            "mean_alpha": mean,
            "sd_alpha": sd,
            "alpha": alpha,
            "sd_delta": [sd_delta],
            "eta": eta,
            "mean_p": mean_p,
            "concentration": concentration,
            "p": p,
        }
        simplexes = [*stick(prevalence), *stick(mean_p)]
        before = [*simplexes, mean, *np.log([sd, sd_delta, concentration]), *alpha]
        after = [*eta, *np.ravel([stick(x) for x in p])]
        places = len(before) + np.arange(ITEMS)[:, None]
        # The packaged program samples standard scores in place of all parameters.
        slopes = centring.log_slope(point) + np.log([sd, sd_delta, concentration]).sum()
        slopes += sum(np.log(x).sum() for x in (prevalence, mean_p, p))
        sampled = model.for_program(point, centring)
        packaged.append(density(stan.folder() / "latent_tap", data, sampled) - slopes)
        plain.append(
            integrated(
                compiled("latent_tap"),
                plain_data(ratings, data),
                np.array([*before, *np.zeros(ITEMS), *after]),
                places,
                sd_delta * NODES[:, None],
                np.full(len(NODES), np.log(sd_delta * SPACING)),
            )
        )

    # The packaged nodes reach 4.5 standard deviations; 7e-6 of the difficulties lie beyond.
    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-4)


# Gaussian models.


@pytest.mark.parametrize(("items", "raters"), [(6, 4), (4, 6)], ids=["items", "raters"])
def test_integrating_all_effects_gives_the_density_of_the_gaussian_icc(
    compiled: Program, items: int, raters: int
) -> None:
    rng = np.random.default_rng(4)
    ratings = continuous(items, raters, rng)
    data = rb.GaussianICC().stan_data(ratings)
    design = np.hstack([np.ones((len(ratings), 1)), indicators(ratings.item, ratings.rater)])
    prior_mean, prior_sd = np.asarray(data["prior_mean"])

    packaged, plain = [], []
    for _ in range(POINTS):
        sd_item, sd_rater, sd_residual = rng.uniform(0.3, 2, 3)
        sds = {"sd_item": sd_item, "sd_rater": sd_rater, "sd_residual": sd_residual}
        effects = rng.normal(size=1 + items + raters)
        prior = np.concatenate([[prior_sd], np.full(items, sd_item), np.full(raters, sd_rater)])
        location = np.concatenate([[prior_mean], np.zeros(items + raters)])
        given = log_conditional(effects, design, ratings.values, location, prior, sd_residual)
        point = {
            **sds,
            "mean": effects[0],
            "item_effect": effects[1 : 1 + items],
            "rater_effect": effects[1 + items :],
        }
        packaged.append(density(stan.folder() / "gaussian_icc", data, sds))
        plain.append(density(compiled("gaussian_icc"), plain_data(ratings, data), point) - given)

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-7)


def test_integrating_all_effects_gives_the_density_of_a_g_study(compiled: Program) -> None:
    rng = np.random.default_rng(9)
    cells = pd.MultiIndex.from_product([range(4), range(3), range(2)]).to_frame(index=False)
    frame = cells.set_axis(["item", "rater", "day"], axis=1).sample(20, random_state=1)
    frame["rating"] = rng.normal(2, 1.5, len(frame))
    ratings = rb.Ratings.from_frame(frame, facets=["day"])
    model = rb.GStudy(design="item x (rater:day)")
    effects, data = model.study.effects(ratings), model.stan_data(ratings)
    sizes = np.array(effects.sizes)
    has = np.array(effects.level).T + (np.cumsum(sizes) - sizes)
    plain_data_ = {
        "N": len(ratings),
        "Q": sizes.sum(),
        "K": len(sizes) + 1,
        "source": np.repeat(np.arange(len(sizes)), sizes) + 1,
        "has": has + 1,
        "rating": ratings.values,
        "prior_mean": data["prior_mean"],
        "prior_sd": data["prior_sd"],
    }
    design = np.hstack([np.ones((len(ratings), 1)), np.eye(sizes.sum())[has].sum(axis=1)])
    prior_mean, prior_sd = np.asarray(data["prior_mean"])

    packaged, plain = [], []
    for _ in range(POINTS):
        sd, effects = rng.uniform(0.3, 2, len(sizes) + 1), rng.normal(size=1 + sizes.sum())
        prior = np.append(prior_sd, np.repeat(sd[:-1], sizes))
        location = np.append(prior_mean, np.zeros(sizes.sum()))
        given = log_conditional(effects, design, ratings.values, location, prior, sd[-1])
        point = {"mean": effects[0], "sd": sd, "effect": effects[1:]}
        packaged.append(density(stan.folder() / "gstudy_unbalanced", data, {"sd": sd}))
        plain.append(density(compiled("gstudy"), plain_data_, point) - given)

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("pools", [2, 3])
def test_integrating_all_effects_gives_the_density_of_the_gaussian_xcc(
    compiled: Program, pools: int
) -> None:
    rng = np.random.default_rng(5)
    items, raters = 6, 2 * pools
    ratings = continuous(items, raters, rng, pools)
    data = rb.GaussianXCC().stan_data(ratings)
    pool = rater_pool(ratings)
    by = pool[ratings.rater]
    prior = np.asarray(data["prior_mean"])

    packaged, plain = [], []
    for _ in range(POINTS):
        sd_item, sd_rater = rng.uniform(0.3, 2, (2, pools))
        sd_residual, factor = rng.uniform(0.3, 2), correlation_factor(pools, rng)
        mean, rater = rng.normal(size=pools), rng.normal(size=raters)
        score = rng.normal(size=(items, pools))
        root = sd_item[:, None] * factor
        design = np.hstack(
            [
                np.eye(pools)[by],
                # The score of an item in pool h enters its ratings by pool g times root[g, h].
                (np.eye(items)[ratings.item][:, :, None] * root[by][:, None, :]).reshape(
                    len(ratings), -1
                ),
                np.eye(raters)[ratings.rater],
            ]
        )
        effects = np.concatenate([mean, score.ravel(), rater])
        location = np.concatenate([prior[:, 0], np.zeros(items * pools + raters)])
        sd = np.concatenate([prior[:, 1], np.ones(items * pools), sd_rater[pool]])
        given = log_conditional(effects, design, ratings.values, location, sd, sd_residual)
        sds = {"sd_item": sd_item, "sd_rater": sd_rater, "factor_item": factor}
        packaged.append(
            density(stan.folder() / "gaussian_xcc", data, {**sds, "sd_residual": [sd_residual]})
        )
        point = {**sds, "sd_residual": sd_residual, "mean": mean, "item_score": score}
        plain_ = plain_data(ratings, data)
        plain.append(
            density(compiled("gaussian_xcc"), plain_, {**point, "rater_effect": rater}) - given
        )

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-7)


# Models of ordered categories.


@pytest.mark.parametrize(
    "model", [rb.LogitICC(nodes=101), rb.OrdinalICC(nodes=101)], ids=lambda m: m.name()
)
def test_integrating_item_effects_gives_the_density_of_the_icc_of_categories(
    compiled: Program, model: RatingModel[Any]
) -> None:
    rng = np.random.default_rng(6)
    K = 2 if isinstance(model, rb.LogitICC) else 3
    ratings = categorical(K, rng, scale="ordered")
    data = model.stan_data(ratings)

    packaged, plain = [], []
    for _ in range(POINTS):
        mean, (sd_item, sd_rater) = rng.normal(), rng.uniform(0.3, 1.5, 2)
        effect, step = rng.normal(0, sd_rater, RATERS), rng.uniform(0.5, 2, K - 2)
        point = {"sd_item": sd_item, "sd_rater": sd_rater, "step": step, "mean": mean}
        packaged.append(density_of_scores("ordinal_icc", data, {**point, "level": mean + effect}))
        location = [mean] if K == 2 else [-mean, *np.log(step)]
        sds = np.log([sd_item, sd_rater])
        plain.append(
            integrated(
                compiled(name_of(model)),
                plain_data(ratings, data),
                np.concatenate([location, sds, np.zeros(ITEMS), effect]),
                len(location) + 2 + np.arange(ITEMS)[:, None],
                sd_item * NODES[:, None],
                np.full(len(NODES), np.log(sd_item * SPACING)),
            )
        )

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [pytest.param(rb.LogitXCC(nodes=101), marks=pytest.mark.proof), rb.OrdinalXCC(nodes=101)],
    ids=lambda m: m.name(),
)
def test_integrating_item_effects_gives_the_density_of_the_xcc_of_two_pools(
    compiled: Program, model: RatingModel[Any]
) -> None:
    rng = np.random.default_rng(7)
    K = 2 if isinstance(model, rb.LogitXCC) else 3
    ratings = categorical(K, rng, scale="ordered", pools=2)
    data = model.stan_data(ratings)
    pair = np.stack(np.meshgrid(NODES, NODES, indexing="ij"), axis=-1).reshape(-1, 2)
    pair = pair[np.square(pair).sum(axis=1) <= NODES[-1] ** 2]  # what is beyond weighs as little

    packaged, plain = [], []
    for _ in range(POINTS):
        point, effect = point_of_pools(2, K, ratings, rng)
        packaged.append(density_of_scores("ordinal_xcc", data, point))
        mean, step = point["mean"], point["step"]
        location = mean if K == 2 else np.column_stack([-mean, np.log(step)]).ravel()
        sds = np.log(np.concatenate([point["sd_item"], point["sd_rater"]]))
        rho = [np.arctanh(point["factor_item"][1, 0])]
        start = len(location) + len(sds) + 1
        plain.append(
            integrated(
                compiled(name_of(model)),
                plain_data(ratings, data),
                np.concatenate([location, sds, rho, np.zeros(2 * ITEMS), effect]),
                start + np.arange(2 * ITEMS).reshape(2, ITEMS).T,  # column-major
                pair,
                np.full(len(pair), 2 * np.log(SPACING)),
            )
        )

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("model", [rb.LogitXCC(), rb.OrdinalXCC()], ids=lambda m: m.name())
def test_sampled_scores_have_the_reference_density_of_three_pools(
    compiled: Program, model: RatingModel[Any]
) -> None:
    rng = np.random.default_rng(8)
    K = 2 if isinstance(model, rb.LogitXCC) else 3
    ratings = categorical(K, rng, scale="ordered", pools=3, raters=6)
    data = model.stan_data(ratings)

    packaged, plain = [], []
    for _ in range(POINTS):
        point, effect = point_of_pools(3, K, ratings, rng)
        score = rng.normal(size=(3, ITEMS))
        program = stan.folder() / "ordinal_xcc_pools"
        packaged.append(density(program, data, {**point, "score": score}))
        standard, log_stretch = standard_scores(score, point, data, rater_pool(ratings))
        names = ("sd_item", "sd_rater", "factor_item")
        cut = np.cumsum(np.column_stack([-point["mean"], point["step"]]), axis=1)
        location = {"mean": point["mean"]} if K == 2 else {"cut": cut}
        at = {name: point[name] for name in names} | location
        at |= {"item_score": standard, "rater_effect": effect}
        plain.append(density(compiled(name_of(model)), plain_data(ratings, data), at) + log_stretch)

    assert np.diff(packaged) == pytest.approx(np.diff(plain), abs=1e-7)


def standard_scores(score: Array, point: Point, data: Point, pool: Array) -> tuple[Array, float]:
    """Standard scores (I, G) of sampled ones (G, I), and the log of the factor between them.

    A sampled score counts conditional standard deviations from a conditional mean; these are those
    of a standard score whose effect has a normal likelihood, given the scores in the pools before.
    """
    root = point["sd_item"][:, None] * point["factor_item"]
    from_first = [
        step[: k - 1].sum() for step, k in zip(point["step"], data["reference"], strict=True)
    ]
    shift = np.asarray(point["level"]) - data["level_mean"] - np.array(from_first)[pool]
    standard, log_stretch = np.zeros_like(score), 0.0
    for g in range(len(score)):
        precision = np.asarray(data["effect_precision"][g])
        effect = root[g, :g] @ standard[:g] + shift[pool == g].mean()
        variance = 1 / (1 + root[g, g] ** 2 * precision)
        mean = variance * root[g, g] * (data["effect_weighted_mean"][g] - precision * effect)
        standard[g] = mean + np.sqrt(variance) * score[g]
        log_stretch += 0.5 * np.log(variance).sum()
    return standard.T, log_stretch


def point_of_pools(
    pools: int, K: int, ratings: rb.Ratings, rng: np.random.Generator
) -> tuple[dict[str, Any], Array]:
    """Parameters that the packaged programs share, and the effects of the raters."""
    sd_item, sd_rater = rng.uniform(0.3, 1.5, (2, pools))
    mean, pool = rng.normal(size=pools), rater_pool(ratings)
    effect = rng.normal(0, sd_rater[pool])
    point = {
        "sd_item": sd_item,
        "sd_rater": sd_rater,
        "factor_item": correlation_factor(pools, rng),
        "step": rng.uniform(0.5, 2, (pools, K - 2)),
        "mean": mean,
        "level": mean[pool] + effect,
    }
    return point, effect


# Ratings.


def categorical(
    K: int, rng: np.random.Generator, *, scale: Any, pools: int = 1, raters: int = RATERS
) -> rb.Ratings:
    """A few ratings in all of K categories, some of the items' raters missing."""
    frame = table(ITEMS, raters, pools, rng)
    rating = rng.permutation(np.arange(len(frame)) % K)
    return rb.Ratings.from_frame(
        frame.assign(rating=rating), pool="pool", scale=scale, categories=range(K)
    )


def continuous(items: int, raters: int, rng: np.random.Generator, pools: int = 1) -> rb.Ratings:
    """A few ratings on a continuous scale, some of the items' raters missing."""
    frame = table(items, raters, pools, rng)
    return rb.Ratings.from_frame(frame.assign(rating=rng.normal(2, 1.5, len(frame))), pool="pool")


def table(items: int, raters: int, pools: int, rng: np.random.Generator) -> pd.DataFrame:
    """All pairs of items and raters but four, which keep every item and rater."""
    pairs = pd.MultiIndex.from_product([range(items), range(raters)], names=["item", "rater"])
    frame = pairs.to_frame(index=False).assign(pool=lambda x: x["rater"] % pools)
    missing = [(place, place) for place in range(min(items, raters, 4))]
    return frame[~pairs.isin(missing)].sample(frac=1, random_state=int(rng.integers(9)))


def rater_pool(ratings: rb.Ratings) -> Array:
    """Pool of each rater, from 0; all are in the first if the ratings have no pools."""
    assert ratings.rater_pool is not None
    return np.asarray(ratings.rater_pool)


def plain_data(ratings: rb.Ratings, data: Point) -> dict[str, Any]:
    """Data of a reference program: every rating on its own, half normal priors by their scale."""
    priors = {name: value for name, value in data.items() if name.startswith("prior_")}
    half_normal = {name: value[1] for name, value in priors.items() if np.ravel(value)[0] == np.inf}
    plain: dict[str, Any] = {
        "N": len(ratings),
        "I": ratings.n_items,
        "R": ratings.n_raters,
        "item": ratings.item + 1,
        "rater": ratings.rater + 1,
        "rating": ratings.category + 1 if "K" in data else ratings.values,
        **{name: data[name] for name in ("K", "G", "X", "covariate") if name in data},
    }
    if data.get("G"):
        plain["pool"] = rater_pool(ratings) + 1
    if "prior_cut" in data and data["K"] == 2:  # logit models: a mean, and ratings 0 or 1
        priors["prior_mean"] = priors["prior_cut"] * [-1, 1]
        plain["rating"] = ratings.category
    return {**plain, **priors, **half_normal}


# Points.


def name_of(model: RatingModel[Any]) -> str:
    return model.name().replace("-", "_")


def simplex(rng: np.random.Generator, *shape: int, size: int = 3) -> Array:
    return np.asarray(rng.dirichlet(np.full(size, 2.0), shape))


def correlation_factor(pools: int, rng: np.random.Generator) -> Array:
    """Cholesky factor of a random correlation matrix."""
    rows = np.tril(rng.normal(size=(pools, pools)))
    np.fill_diagonal(rows, np.abs(rows.diagonal()) + 0.5)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def logit(probability: Array) -> Array:
    return np.asarray(np.log(probability / (1 - probability)))


def stick(probability: Array) -> Array:
    """Unconstrained values that Stan's stick-breaking turns into a simplex."""
    left = np.cumsum(probability[::-1])[::-1][:-1]
    return logit(probability[:-1] / left) + np.log(np.arange(len(left), 0, -1))


def indicators(item: Codes, rater: Codes) -> Array:
    """Design of the effects of items and raters."""
    return np.hstack([np.eye(item.max() + 1)[item], np.eye(rater.max() + 1)[rater]])


# Densities.


def log_conditional(
    effects: Array, design: Array, ratings: Array, mean: Array, sd: Array, sd_residual: float
) -> float:
    """Log density of normal effects given the ratings."""
    precision = design.T @ design / sd_residual**2 + np.diag(sd**-2)
    weighted_sum = design.T @ ratings / sd_residual**2 + mean * sd**-2
    covariance = np.linalg.inv(precision)
    covariance = (covariance + covariance.T) / 2
    return float(multivariate_normal(covariance @ weighted_sum, covariance).logpdf(effects))


def density(program: Path, data: Point, point: Point) -> float:
    """Log density, up to a constant, at values of the program's parameters."""
    return float(evaluated(program, data, constrained_params=dict(point))[0])


def density_of_scores(program: str, data: Point, point: Point) -> float:
    """The same of a packaged program that samples standard scores of these parameters."""
    scores, log_slope = sampled_at(data, point)
    return density(stan.folder() / program, data, scores) - log_slope


def integrated(
    program: Path, data: Point, base: Array, places: Codes, nodes: Array, log_weight: Array
) -> float:
    """Log density with the effects of each item integrated out.

    Given the other parameters items are independent, so that the integral of their product is the
    product of their integrals, each relative to the density at ``base``.

    Parameters
    ----------
    base : (P,) unconstrained values
    places : (I, d) which of them are effects of an item
    nodes, log_weight : (n, d) values of an item's effects, and (n,) log weights of the quadrature
    """
    points = np.tile(base, (len(places), len(nodes), 1))
    for item, place in enumerate(places):
        points[item][:, place] = nodes
    params_r = np.vstack([base, points.reshape(-1, len(base))])
    found = evaluated(program, data, unconstrained_params={"params_r": params_r})
    by_item = logsumexp(found[1:].reshape(len(places), -1) - found[0] + log_weight, axis=1)
    return float(found[0] + by_item.sum())


def evaluated(program: Path, data: Point, **points: Any) -> Array:
    """Log densities without the Jacobian of the transform to the unconstrained scale."""
    return log_densities(program, data, jacobian=False, **points)["lp__"].to_numpy()
