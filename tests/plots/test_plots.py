"""Plots draw the right numbers, state them in title and labels, and keep their layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from matplotlib.text import Annotation, Text

import reliabayes as rb
from reliabayes import plots
from reliabayes.plots.chains import _finding
from reliabayes.plots.densities import density
from reliabayes.plots.labels import short, shortened
from reliabayes.plots.layout import separated
from reliabayes.plots.palette import category_colours
from reliabayes.results.settings import Settings

GOLDEN = Path(__file__).parent / "golden"
TOLERANCE = 2.0  # RMS on a scale of 0 to 255, for differences between versions of matplotlib
COMPARED = ("icc", "raters_in_pools", "confusion", "check_categories")  # with a golden image

LONG = "contractor-{:03d}$@labelling-vendor.example.com"  # id of a rater

PLOTS: Mapping[str, Callable[[Any], Any]] = {
    "icc": lambda of: plots.icc(of.pools),
    "variance_shares": lambda of: plots.variance_shares(of.numbers),
    "variance_by_source": lambda of: plots.variance_shares(of.facets),
    "d_study": lambda of: plots.d_study(of.facets.d_study({"rater": [1, 2, 4], "day": [1, 2]})),
    "d_study_target": lambda of: plots.d_study(
        of.facets.d_study({"rater": range(1, 13), "day": 2}), "g", target=0.8
    ),
    "d_study_surface": lambda of: plots.d_study_surface(
        of.facets.d_study({"rater": range(1, 13), "day": range(1, 10)}), target=0.6
    ),
    "d_study_error": lambda of: plots.d_study(
        of.facets.d_study({"day": [1, 2], "rater": range(1, 6)}), "mdc", target=3.0
    ),
    "icc_k": lambda of: plots.icc_k(of.pools),
    "krr_curve": lambda of: plots.krr_curve(of.curve),
    "xcc": lambda of: plots.xcc(of.pools, guideline="landis_koch"),
    "contrast": lambda of: plots.contrast(of.pools.contrast("icc", "crowd", "expert")),
    "contrast_long": lambda of: plots.contrast(
        long_names(of.pools.contrast("icc", "crowd", "expert"))
    ),
    "raters": lambda of: plots.raters(of.categories),
    "raters_in_pools": lambda of: plots.raters(of.pools),
    "pools": lambda of: plots.pools(of_vendors(of)),
    "rates": lambda of: plots.rates(by_vendors(of), "rude"),
    "items_many": lambda of: plots.items(of.uneven),
    "raters_many": lambda of: plots.raters(of.crowd),
    "items": lambda of: plots.items(of.categories),
    "icc_long": lambda of: plots.icc(of.long_pools),
    "entropies": lambda of: plots.entropies(of.categories),
    "confusion": lambda of: plots.confusion(of.categories),
    "bland_altman": lambda of: plots.bland_altman(limits(of)),
    "bland_altman_ratios": lambda of: plots.bland_altman(limits(of, log=True)),
    "bland_altman_trend": lambda of: plots.bland_altman(limits(of, trend=True)),
    "agreement": lambda of: plots.agreement(of.numbers.ratings),
    "agreement_long": lambda of: plots.agreement(rb.Ratings.from_frame(rated(20, 6, 5, LONG))),
    "dependence": lambda of: plots.dependence(of.categories),
    "design": lambda of: plots.design(of.categories.ratings),
    "design_many": lambda of: plots.design(of.crowd.ratings),
    "compare": lambda of: plots.compare(of.comparison),
    "check_categories": lambda of: plots.check(of.categories.check(50)),
    "check_numbers": lambda of: plots.check(of.numbers.check(50)),
    "trace": lambda of: plots.trace(of.numbers),
    "rank": lambda of: plots.rank(of.numbers),
}


def made_of(model: rb.RatingModel, ratings: rb.Ratings, **parameters: Any) -> rb.Fit:
    """A fit whose draws do not come from Stan, so that they are the same on all machines."""
    stacked = {
        name: values.reshape(2, 200, *values.shape[1:]) for name, values in parameters.items()
    }
    settings = Settings.checked(chains=2, warmup=0, draws=200, seed=1)
    posterior = model.labelled(stacked, model.problem(ratings))
    return rb.Fit(model, ratings, posterior, xr.Dataset(), settings)


def around(middle: float, *shape: int) -> Any:
    """400 log-normal draws with a median of ``middle`` and an sd of 0.25 on the log scale."""
    return middle * np.random.default_rng(int(100 * middle)).lognormal(0, 0.25, (400, *shape))


def rated(items: int, raters: int, per_item: int, form: str) -> pd.DataFrame:
    """Normal ratings of each item by ``per_item`` of the raters."""
    rng = np.random.default_rng(1)
    rater = np.argsort(rng.random((items, raters)), axis=1)[:, :per_item].ravel()
    item = np.repeat(np.arange(items), per_item)
    effects = rng.normal(size=items)[item] + rng.normal(0, 0.5, raters)[rater]
    score = (5 + effects + rng.normal(0, 0.8, len(item))).round(1)
    names = [form.format(number) for number in rater]
    return pd.DataFrame({"item": item, "rater": names, "rating": score})


def of_numbers(frame: pd.DataFrame) -> rb.Fit:
    sds = {"sd_item": around(1.0), "sd_rater": around(0.5), "sd_residual": around(0.8)}
    return made_of(rb.GaussianICC(), rb.Ratings.from_frame(frame), **sds, mean=around(5.0))


def of_facets() -> rb.Fit:
    cells = pd.MultiIndex.from_product([range(20), range(4), range(2)]).to_frame(index=False)
    frame = cells.set_axis(["item", "rater", "day"], axis=1)
    frame["rating"] = np.random.default_rng(1).normal(size=len(frame)).round(2)
    middle = np.array([1, 0.4, 0.1, 0.3, 0.9, 0.05, 0.5])
    return made_of(
        rb.GStudy(design="item x rater x day"),
        rb.Ratings.from_frame(frame, facets=["day"]),
        sd=around(1.0, 7) * middle,
        mean=around(5.0),
    )


def long_names(contrast: rb.Contrast) -> rb.Contrast:
    one, other = (
        "residents in their first year at the hospital",
        "radiologists with ten years of it",
    )
    return rb.Contrast(one, other, contrast.draws, contrast.prob)


def of_pools(one: str = "expert", other: str = "crowd") -> rb.Fit:
    frame = rated(30, 7, 5, "r{}").assign(pool=lambda x: np.where(x["rater"] < "r3", one, other))
    factor = np.zeros((400, 2, 2))
    factor[:, 0, 0], angle = 1, around(0.6)
    factor[:, 1] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    sds = {
        "sd_item": around(1.0, 2) * [1, 0.6],
        "sd_rater": around(0.5, 2),
        "sd_residual": around(0.8, 1),
    }
    ratings = rb.Ratings.from_frame(frame, pool="pool")
    return made_of(rb.GaussianXCC(), ratings, **sds, factor_item=factor, mean=around(5.0, 2))


def of_categories() -> rb.Fit:
    frame = rated(40, 6, 5, "{}")
    words = pd.cut(frame["rating"], [-9, 5, 7, 99], labels=["fine", "rude", "threat"])
    rng, strength = np.random.default_rng(1), np.linspace(3, 30, 6)[:, None, None]
    weight = rng.gamma(1 + strength * np.eye(3), size=(400, 6, 3, 3))
    return made_of(
        rb.DawidSkene(),
        rb.Ratings.from_frame(frame.assign(rating=words), scale="nominal"),
        prevalence=rng.dirichlet([20, 15, 5], 400),
        confusion=weight / weight.sum(axis=-1, keepdims=True),
    )


def of_two_categories(confusion: list[list[float]]) -> rb.Fit:
    """A fit of six raters with the same confusion matrix in all draws."""
    frame = rated(40, 6, 5, "{}")
    words = pd.cut(frame["rating"], [-9, 5, 99], labels=["no", "yes"])
    return made_of(
        rb.DawidSkene(),
        rb.Ratings.from_frame(frame.assign(rating=words), scale="nominal"),
        prevalence=np.full((400, 2), 0.5),
        confusion=np.broadcast_to(confusion, (400, 6, 2, 2)),
    )


PANEL = {"0": "north", "1": "south", "2": "north", "3": "south", "4": "south", "5": "north"}


def limits(of: Any, **options: Any) -> Any:
    """Limits of agreement of the first two raters of the numbers, all of which are above 0."""
    frame = of.numbers.ratings.to_frame()
    frame["rating"] -= frame["rating"].min() - 1
    raters = of.numbers.ratings.raters[:2]
    ratings = rb.Ratings.from_frame(frame, scale="numeric").subset(raters=raters)
    return rb.agreement.limits_of_agreement(ratings, **options)


def by_vendors(of: Any) -> rb.Ratings:
    """The ratings in categories, with two vendors as the pools of their raters."""
    frame = of.categories.ratings.to_frame()
    pools = frame.assign(pool=frame["rater"].map(PANEL))
    return rb.Ratings.from_frame(pools, pool="pool", scale="nominal")


def of_vendors(of: Any) -> rb.Fit:
    """The fit of categories, with two vendors as the pools of its raters."""
    posterior = of.categories.posterior
    return made_of(
        rb.DawidSkene(),
        by_vendors(of),
        prevalence=posterior["prevalence"].values.reshape(400, 3),
        confusion=posterior["confusion"].values.reshape(400, 6, 3, 3),
    )


@pytest.fixture(scope="module")
def of() -> SimpleNamespace:
    """Results of simulated ratings: small ones, and one with a hundred raters with long ids."""
    return SimpleNamespace(
        numbers=of_numbers(rated(20, 5, 4, "J{}")),
        crowd=of_numbers(rated(300, 100, 4, LONG)),
        uneven=of_numbers(rated(400, 40, 4, "{}").query("item % 20 or rater < '20'")),
        pools=of_pools(),
        facets=of_facets(),
        categories=of_categories(),
        long_pools=of_pools(
            "radiologists with at least ten years of practice in hospitals", "residents"
        ),
        curve=pd.DataFrame(
            {
                "empirical": [0.5, 0.7, 0.8],
                "bootstrap": [0.45, 0.66, 0.77],
                "icc_k": [0.4, 0.6, 0.7],
            },
            index=[1, 2, 3],
        ),
        comparison=pd.DataFrame(
            {
                "bits_per_rating": [0.5, 0.52, 0.7],
                "difference": [0.0, 0.02, 0.2],
                "se_difference": [0.0, 0.015, 0.03],
                "weight": [0.8, 0.2, 0.0],
                "n_high_k": [0, 2, 0],
            },
            index=["DS", "MACE", "TAP"],
        ),
    )


@pytest.fixture(autouse=True)
def _clean_pyplot() -> Iterator[None]:
    """No display, the default style of matplotlib, and no figure left open."""
    plt.switch_backend("agg")
    with mpl.style.context(["default", {"text.hinting": "none"}]):
        yield
    plt.close("all")


def fresh() -> Axes:
    return Figure(figsize=(6.4, 4)).subplots()


def shown_texts(figure: Any) -> list[Text]:
    """Texts that are visible; of tick labels, those in view."""
    out_of_view = {
        label
        for axes in figure.findobj(Axes)
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if not axis.get_visible() or not axes.axison or not is_in_view(axis, tick)
    }
    texts = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_text().strip())
    return [text for text in texts if text.get_visible() and text not in out_of_view]


def is_in_view(axis: Any, tick: Any) -> bool:
    low, high = sorted(axis.get_view_interval())
    return bool(low - 1e-9 <= tick.get_loc() <= high + 1e-9)


def finding(ax: Axes) -> str:
    return ax.get_title(loc="left").replace("\n", " ")


def texts(ax: Axes) -> list[str]:
    return [text.get_text().replace("\n", " ") for text in ax.texts]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_layout_matches_the_golden_image(name: str, of: Any, tmp_path: Path) -> None:
    """Images are compared without their texts, whose fonts differ between versions."""
    golden, drawn = GOLDEN / f"{name}.png", tmp_path / f"{name}.png"
    figure = PLOTS[name](of).figure
    figure.set(layout_engine="none", size_inches=(6, 5))
    for text in figure.findobj(Text):
        text.set_visible(False)

    figure.savefig(drawn, dpi=60)

    difference = compare_images(str(golden), str(drawn), TOLERANCE)
    assert difference is None, f"{difference} If the new image is right: cp {drawn} {golden}"


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
def test_texts_neither_overlap_nor_exceed_the_figure(name: str, of: Any) -> None:
    figure = PLOTS[name](of).figure

    figure.draw_without_rendering()

    boxes = [text.get_window_extent() for text in shown_texts(figure)]
    overlaps = [(a, b) for a, b in combinations(boxes, 2) if a.padded(-1).overlaps(b.padded(-1))]
    assert overlaps == []
    edges = np.array([box.extents for box in boxes])
    width, height = figure.bbox.size
    assert edges[:, :2].min() >= -1
    assert (edges[:, 2:] <= [width + 1, height + 1]).all()


def test_plots_draw_on_the_given_axes_and_open_no_figure(of: Any) -> None:
    ax = fresh()

    assert plots.icc(of.numbers, ax=ax) is ax
    assert plots.trace(of.numbers, ax=ax) is ax
    assert plt.get_fignums() == []


def test_new_figures_are_as_wide_as_the_style_in_use(of: Any) -> None:
    with mpl.rc_context({"figure.figsize": (9.0, 2.0)}):
        drawn: list[Any] = [plots.icc(of.numbers), plots.confusion(of.categories)]

    drawn.append(plots.icc(of.numbers))
    assert [ax.figure.get_figwidth() for ax in drawn] == [9, 9, 6.4]
    plt.close("all")


def test_icc_draws_and_states_the_median_and_interval(of: Any) -> None:
    row = of.numbers.summary(0.8).loc["icc"]

    ax: Any = plots.icc(of.numbers, prob=0.8, ax=fresh())

    interval, median = ax.lines
    assert interval.get_xdata() == pytest.approx([row["lower_80"], row["upper_80"]])
    assert median.get_xdata() == pytest.approx([row["median"]])
    assert finding(ax) == (
        f"A single rating is {row['median']:.0%} signal (80% interval {row['lower_80']:.0%} to "
        f"{row['upper_80']:.0%})"
    )


def test_effects_that_may_all_be_zero_have_no_highest_and_lowest() -> None:
    fit = of_numbers(rated(3, 2, 2, "J{}"))

    found = [finding(plot(fit, ax=fresh())) for plot in (plots.raters, plots.items)]

    assert (fit.raters()["lower_90"] < 0).all()
    assert (fit.raters()["upper_90"] > 0).all()
    assert found[0] == "No rater rates clearly higher or lower than the average"
    assert found[1] == "No item is rated clearly higher or lower than the average"


@pytest.mark.slow
def test_long_categories_and_ids_leave_the_bars_of_items_their_room() -> None:
    names = [f"{letter} is the name of a category {letter}" for letter in "ABCD"]
    frame = rated(40, 6, 5, "{}")
    frame["item"] = "https://example.com/items/" + frame["item"].astype(str)
    frame["rating"] = pd.qcut(frame["rating"], 4, labels=names)
    confusion = np.full((400, 6, 4, 4), 0.1) + 0.6 * np.eye(4)
    fit = made_of(
        rb.DawidSkene(),
        rb.Ratings.from_frame(frame, scale="nominal"),
        prevalence=np.full((400, 4), 0.25),
        confusion=confusion,
    )

    ax: Any = plots.items(fit)
    ax.figure.draw_without_rendering()

    assert ax.get_position().width > 0.4
    plt.close("all")


def test_bands_are_the_ranges_of_the_guideline(of: Any) -> None:
    ax: Any = plots.icc(of.numbers, guideline="koo_li", ax=fresh())

    shaded = [patch.get_extents().transformed(ax.transData.inverted()) for patch in ax.patches]
    assert [(box.x0, box.x1) for box in shaded] == [
        (pytest.approx(0.5), pytest.approx(0.75)),
        (pytest.approx(0.9), pytest.approx(1.0)),
    ]
    assert {"poor", "moderate", "good", "excellent"} < set(texts(ax))
    assert any("proposed for intraclass correlations" in text for text in texts(ax))


def test_icc_title_names_the_pools_with_the_lowest_and_highest_median(of: Any) -> None:
    median = of.pools.quantities["icc"].median(("chain", "draw")).to_series()

    title = finding(plots.icc(of.pools, ax=fresh()))

    low, high = median.idxmin(), median.idxmax()
    assert title == (
        f"A single rating is {median[low]:.0%} ({low}) to {median[high]:.0%} ({high}) signal"
    )


def test_plots_reject_models_without_the_quantity(of: Any) -> None:
    with pytest.raises(ValueError, match="DawidSkene reports prevalence"):
        plots.icc(of.categories, ax=fresh())
    with pytest.raises(ValueError, match="a model that reports normalized_xcc"):
        plots.xcc(of.numbers, ax=fresh())
    with pytest.raises(ValueError, match="Did you mean 'koo_li'"):
        plots.icc(of.numbers, guideline="koo_lie", ax=fresh())
    with pytest.raises(ValueError, match="Choose from accuracy, informativeness, random_share"):
        plots.raters(of.categories, "severity", ax=fresh())
    with pytest.raises(ValueError, match="must have 3 common items"):
        plots.agreement(rb.Ratings.from_wide(np.array([[1, 2], [3, 5]])), ax=fresh())


def test_bars_of_rates_are_the_proportions_of_ratings_with_intervals(of: Any) -> None:
    ratings = by_vendors(of)
    rude = (ratings.to_frame().set_index("pool")["rating"] == "rude").groupby("pool", observed=True)

    ax: Any = plots.rates(ratings, "rude", ax=fresh())

    rate = rude.mean()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(rate.tolist())
    assert finding(ax) == (
        f"Pool {rate.idxmax()} gives rude most often ({rate.max():.0%} of ratings), "
        f"pool {rate.idxmin()} least ({rate.min():.0%})"
    )
    # Items and raters only add variance to that of independent ratings.
    least = 1.96 * np.sqrt(rate * (1 - rate) / rude.size())
    half = [np.diff(line.get_xdata()).item() / 2 for line in ax.lines]
    assert (half > 0.8 * least).all()
    assert (half < 5 * least).all()


def test_the_rate_of_a_category_that_a_pool_never_gives_has_an_interval_from_0() -> None:
    wide = np.array([["no", "no", "no", "yes"], ["no", "no", "no", "no"], ["no", "no", "no", "no"]])
    ratings = rb.Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "a", 3: "b"})

    ax: Any = plots.rates(ratings, ax=fresh())

    lower, upper = ax.lines[0].get_xdata()
    assert ax.patches[0].get_width() == lower == 0
    assert 0 < upper < 1


def test_rates_are_of_a_category_and_pools_that_exist(of: Any) -> None:
    ratings = by_vendors(of)

    with pytest.raises(ValueError, match="it must be one of 'fine', 'rude', 'threat'; found none"):
        plots.rates(ratings)
    with pytest.raises(ValueError, match="found 'kind'"):
        plots.rates(ratings, "kind")
    with pytest.raises(ValueError, match="the ratings have no pools"):
        plots.rates(of.categories.ratings, "rude")


def test_bars_of_variance_shares_are_the_medians_beside_them(of: Any) -> None:
    median = of.numbers.summary()["median"]
    quantities = of.numbers.quantities
    residual = float((1 - quantities["icc"] - quantities["labeler_icc"]).median())

    ax: Any = plots.variance_shares(of.numbers, ax=fresh())

    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([median["icc"], median["labeler_icc"], residual])
    assert [bar.get_x() for bar in ax.patches] == [0, 0, 0]
    lower, upper = np.quantile(quantities["icc"], [0.05, 0.95])
    assert list(ax.lines[0].get_xdata()) == pytest.approx([lower, upper])
    assert finding(ax) == (
        f"Items account for {median['icc']:.0%} of the variance, rater severity for "
        f"{median['labeler_icc']:.0%} and the residual for {residual:.0%}"
    )
    assert any(text.startswith(f"{median['icc']:.0%} (") for text in texts(ax))


def test_variance_by_source_tells_signal_and_the_largest_error(of: Any) -> None:
    median = of.facets.quantities["proportion"].median(("chain", "draw"))

    ax: Any = plots.variance_shares(of.facets, ax=fresh())

    assert [bar.get_width() for bar in ax.patches] == pytest.approx(median.values.tolist())
    assert [label.get_text() for label in ax.get_yticklabels()][-2:] == ["rater x day", "residual"]
    assert finding(ax) == (
        f"Signal (item) accounts for {float(median.sel(source='item')):.0%} of the variance; the "
        f"largest part of the error is item x day ({float(median.sel(source='item x day')):.0%})"
    )


def test_what_differs_between_levels_of_a_fixed_facet_is_neither_signal_nor_error(of: Any) -> None:
    fit = replace(of.facets, model=rb.GStudy(design="item x rater x day", fixed=("day",)))
    draws = fit.quantities["proportion"]
    signal = float(draws.sel(source=["item", "item x day"]).sum("source").median())

    ax: Any = plots.variance_shares(fit, ax=fresh())

    assert finding(ax).startswith(f"Signal (item and item x day) accounts for {signal:.0%} of")
    item, _, day, *_, residual = (bar.get_facecolor() for bar in ax.patches)
    assert day == residual != item
    assert "day is fixed, and neither signal nor error." in texts(ax)[-1]


def test_d_study_draws_a_line_for_each_number_of_the_second_facet(of: Any) -> None:
    study = of.facets.d_study({"rater": [1, 2, 4], "day": [1, 2]})
    table = study.table("g")

    ax: Any = plots.d_study(study, "g", ax=fresh())

    lines = [list(line.get_ydata()) for line in ax.lines]
    assert lines[1] == pytest.approx(table["median"].xs(2, level="day").tolist())
    assert len(ax.collections) == len(lines) == 2
    best = table.loc[4, 2]
    assert finding(ax) == (
        f"Means over 4 raters and 2 days have a G of {best['median']:.2f} (90% interval "
        f"{best['lower_90']:.2f} to {best['upper_90']:.2f})"
    )


def test_d_study_names_the_fewest_levels_that_reach_the_target(of: Any) -> None:
    study = of.facets.d_study({"day": range(1, 20), "rater": 3})
    table = study.table()["median"].droplevel("rater")

    reached: Any = plots.d_study(study, target=0.7, ax=fresh())
    missed: Any = plots.d_study(study, target=0.99, ax=fresh())
    error: Any = plots.d_study(study, "sem_absolute", target=9.0, ax=fresh())

    assert finding(reached) == f"{(table >= 0.7).idxmax()} days reach a Phi of 0.7"
    assert "; 3 raters." in texts(reached)[-1]
    table = of.facets.d_study({"day": range(1, 9), "rater": [4, 1]}).table()["median"]
    fewest = [(table.xs(n, level="rater") >= 0.65).idxmax() for n in (1, 4)]
    both: Any = plots.d_study(
        of.facets.d_study({"day": range(1, 9), "rater": [4, 1]}), target=0.65, ax=fresh()
    )
    assert fewest[0] > fewest[1]
    assert finding(both) == (
        f"{fewest[0]} days and 1 rater, or {fewest[1]} days and 4 raters, reach a Phi of 0.65"
    )
    assert finding(missed) == "None of these numbers of levels reaches a Phi of 0.99"
    assert finding(error) == "1 day reaches a standard error of measurement of 9"


@pytest.mark.parametrize(("quantity", "target"), [("phi", 0.7), ("sem_absolute", 0.5)])
def test_a_d_study_surface_shows_where_the_target_is_reached(
    of: Any, quantity: str, target: float
) -> None:
    study = of.facets.d_study({"rater": range(1, 13), "day": [6, 4, 1, 2, 9, 3, 8, 7, 5]})
    values = study.draws[quantity].sel(rater=8, day=range(1, 10))
    sign = 1 if quantity == "phi" else -1
    reach = (sign * values >= sign * target).mean(("chain", "draw"))

    ax: Any = plots.d_study_surface(study, quantity, target=target, prob=0.8, ax=fresh())

    _, _, even, sure = ax.collections
    for line, probability in ((even, 0.5), (sure, 0.8)):
        points = np.concatenate([path.vertices for path in line.get_paths()])
        (day,) = {y for x, y in points if x == 8}
        assert reach.sel(day=int(day)) < probability <= reach.sel(day=int(day) + 1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("raters", "days")
    assert f" of {target}" in finding(ax)


def test_labels_of_contours_are_within_a_d_study_surface(of: Any) -> None:
    study = of.facets.d_study({"rater": range(1, 13), "day": range(1, 10)})

    ax: Any = plots.d_study_surface(study, ax=fresh())

    ax.figure.draw_without_rendering()
    inside = ax.get_window_extent()
    labels = [text.get_window_extent() for text in ax.texts if text.get_text().startswith("0.")]
    assert len(labels) > 3
    for label in labels:
        assert inside.x0 < label.x0 < label.x1 < inside.x1
        assert inside.y0 < label.y0 < label.y1 < inside.y1


@pytest.mark.parametrize(
    ("levels", "options", "message"),
    [
        ({"rater": 2}, {}, "found 1 for raters. Ask fit.d_study"),
        ({"rater": [1, 2], "day": range(1, 10)}, {}, "found 2 for raters and 9 for days"),
        ({"rater": [1, 2]}, {"quantity": "psi"}, "quantity must be one of g, phi"),
        ({"rater": [1, 2]}, {"target": 1.2}, "target must lie strictly between 0 and 1, not 1.2"),
        (
            {"rater": [1, 2]},
            {"target": 0, "quantity": "mdc"},
            "target must lie above 0, not 0",
        ),
    ],
)
def test_d_studies_that_cannot_be_drawn_are_refused(
    of: Any, levels: Any, options: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        plots.d_study(of.facets.d_study(levels), **options, ax=fresh())


def test_icc_k_draws_its_median_and_marks_the_k_that_reaches_the_target(of: Any) -> None:
    needed = of.numbers.raters_needed(0.7).quantile([0.05, 0.5, 0.95], method="higher").values

    ax: Any = plots.icc_k(of.numbers, reliability=0.7, ax=fresh())

    _, curve, interval, _, mark = ax.lines
    assert curve.get_ydata()[2] == pytest.approx(float(of.numbers.icc_k(3).median()))
    assert interval.get_xdata() == pytest.approx(needed[[0, 2]])
    assert (mark.get_xdata(), mark.get_ydata()) == ([needed[1]], [0.7])
    low, median, high = needed
    assert finding(ax) == (
        f"{median:.0f} ratings per item reach a reliability of 0.7 (90% interval {low:.0f} to "
        f"{high:.0f})"
    )


def test_bland_altman_says_what_its_lines_mean(of: Any) -> None:
    found = limits(of)

    ax: Any = plots.bland_altman(found, ax=fresh())

    lines = [line.get_ydata()[0] for line in ax.lines[:3]]
    assert lines == [found.upper.value, found.bias.value, found.lower.value]
    assert np.array(ax.lines[3].get_data()) == pytest.approx(np.array(found.points))
    assert texts(ax)[:3] == [
        f"2.5% of differences are below {found.lower.value:.4g}",
        f"mean difference {found.bias.value:.4g}",
        f"2.5% of differences are above {found.upper.value:.4g}",
    ]
    assert finding(ax).startswith("95% of differences lie between")


def test_bland_altman_of_a_trend_has_curves(of: Any) -> None:
    found = limits(of, trend=True)

    ax: Any = plots.bland_altman(found, ax=fresh())

    x, y = ax.lines[0].get_data()
    assert y == pytest.approx([found.at(place).upper.value for place in x])


def test_bland_altman_takes_limits_only(of: Any) -> None:
    with pytest.raises(TypeError, match=r"limits_of_agreement\(ratings\); found Ratings"):
        plots.bland_altman(of.numbers.ratings)


def test_krr_curve_has_a_line_per_method(of: Any) -> None:
    ax: Any = plots.krr_curve(of.curve, ax=fresh())

    assert [list(line.get_ydata()) for line in ax.lines] == of.curve.T.to_numpy().tolist()
    assert texts(ax)[:3] == [
        "two replications",
        "replications drawn from these ratings",
        "from the ICC of all ratings",
    ]


def test_krr_curve_takes_methods_that_end_early(of: Any) -> None:
    early = of.curve.copy()
    early.iloc[-1, 0] = np.nan

    ax: Any = plots.krr_curve(early, ax=fresh())

    k, reliability = early.index[-2], early.iloc[-2, 0]
    assert finding(ax) == (
        f"Aggregates of {k} ratings per item reach a reliability of {reliability:.2f}"
    )
    assert all(np.isfinite(text.xy[1]) for text in ax.texts if hasattr(text, "xy"))


def test_xcc_has_a_row_per_kind_and_states_the_normalized_one(of: Any) -> None:
    rows = of.pools.summary().loc[
        ["normalized_xcc[crowd, expert]", "unnormalized_xcc[crowd, expert]"]
    ]

    ax: Any = plots.xcc(of.pools, ax=fresh())

    assert [label.get_text() for label in ax.get_yticklabels()] == ["normalized", "unnormalized"]
    intervals, medians = ax.lines[::2], ax.lines[1::2]
    assert [list(line.get_xdata()) for line in intervals] == pytest.approx(
        rows[["lower_90", "upper_90"]].to_numpy()
    )
    assert [line.get_xdata()[0] for line in medians] == pytest.approx(rows["median"].to_list())
    median, lower, upper = rows[["median", "lower_90", "upper_90"]].iloc[0]
    assert finding(ax) == (
        f"The true scores of pools crowd and expert correlate {median:.2f} (90% interval "
        f"{lower:.2f} to {upper:.2f})"
    )


def test_contrast_states_the_probability_above_zero(of: Any) -> None:
    contrast = of.pools.contrast("xcc", ("crowd", "expert"), ("expert", "crowd"))
    shifted = rb.Contrast("one", "other", contrast.draws + 0.1, 0.9)

    ax: Any = plots.contrast(shifted, ax=fresh())

    assert (
        finding(ax) == "normalized_xcc is higher in one than in other with probability above 0.999"
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "normalized_xcc\nPr(> 0) = 1.000",
        "unnormalized_xcc\nPr(> 0) = 1.000",
    ]


@pytest.mark.slow
def test_no_uncertainty_about_known_categories_is_said_as_such(of: Any) -> None:
    frame = of.categories.ratings.to_frame()
    known = frame.assign(gold=frame.groupby("item")["rating"].transform("first"))
    fit = replace(of.categories, ratings=rb.Ratings.from_frame(known, gold="gold"))

    ax = plots.entropies(fit, ax=fresh())

    assert finding(ax) == "No uncertainty remains about the true categories of 40 items"


def test_pairs_of_codes_agree_and_do_not_correlate() -> None:
    answers = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])

    codes, amounts = (rb.Ratings.from_wide(answers, scale=x) for x in (None, "numeric"))

    by_agreement, by_correlation = (
        finding(plots.agreement(each, ax=fresh())) for each in (codes, amounts)
    )

    assert by_agreement.startswith("Pairs of raters agree on 67% of their common items on average")
    assert "correlate" in by_correlation


@pytest.mark.parametrize(
    ("quantity", "ends"),
    [("accuracy", ("lowest", "highest")), ("random_share", ("highest", "lowest"))],
)
def test_the_worst_raters_come_first(of: Any, quantity: str, ends: tuple[str, str]) -> None:
    medians = of.categories.quantities[quantity].median(("chain", "draw")).to_series()
    expected = medians.sort_values(ascending=ends[0] == "lowest")

    ax: Any = plots.raters(of.categories, quantity, ax=fresh())

    assert list(ax.lines[0].get_xdata()) == pytest.approx(expected.to_list())
    assert list(ax.lines[0].get_ydata()) == sorted(ax.lines[0].get_ydata())
    assert ax.yaxis_inverted()
    assert [label.get_text() for label in ax.get_yticklabels()] == expected.index.to_list()
    first, last = expected.index[[0, -1]]
    assert finding(ax) == (
        f"Rater {first} ({expected[first]:.2f}) has the {ends[0]} {quantity.replace('_', ' ')}, "
        f"rater {last} ({expected[last]:.2f}) the {ends[1]}"
    )


@pytest.mark.slow
def test_rater_effects_are_ordered_by_pool_with_their_intervals(of: Any) -> None:
    table = of.pools.raters().sort_values(["pool", "median"], ascending=[True, False])

    ax: Any = plots.raters(of.pools, ax=fresh())

    ends = np.concatenate([lines.get_segments() for lines in ax.collections])[..., 0]
    assert ends == pytest.approx(table[["lower_90", "upper_90"]].to_numpy())
    assert texts(ax)[:2] == ["crowd", "expert"]


def test_of_a_hundred_raters_all_are_drawn_and_six_labelled(of: Any) -> None:
    ax: Any = plots.raters(of.crowd, ax=fresh())

    assert len(ax.lines[0].get_xdata()) == 100
    assert list(ax.get_yticks()) == []
    assert [text.count("$@labelling-vendor") for text in texts(ax)] == [
        0,
        3,
        3,
        0,
    ]
    assert "all 100 in order" in texts(ax)[-1]


@pytest.mark.slow
def test_of_500_items_those_with_few_ratings_are_named_beside_their_intervals() -> None:
    frame = rated(500, 10, 4, "{}").assign(item=lambda x: "essay " + x["item"].astype(str))
    once = ["essay 7", "essay 120", "essay 431"]
    fit = of_numbers(frame[~(frame["item"].isin(once) & frame["item"].duplicated())])
    table = fit.items().sort_values("median", ascending=False)

    ax: Any = plots.items(fit, ax=fresh())

    intervals, doubtful = ax.collections
    ends = np.array(intervals.get_segments())[..., 0]
    assert ends == pytest.approx(table[["lower_90", "upper_90"]].to_numpy())
    expected = [name for name in table.index if name in once]
    assert [label.get_text() for label in ax.get_yticklabels()] == expected
    assert list(ax.get_yticks()) == sorted(ax.get_yticks())
    found = np.array(doubtful.get_segments())[..., 0]
    assert found == pytest.approx(table.loc[expected, ["lower_90", "upper_90"]].to_numpy())
    assert "all 500 in order; the 3 widest are named, over 1.5 times as wide" in texts(ax)[-1]


def test_no_item_is_named_as_doubtful_if_all_are_known_equally_well() -> None:
    ax: Any = plots.items(of_numbers(rated(500, 10, 4, "{}")), ax=fresh())

    assert list(ax.get_yticks()) == []
    assert "no interval is over 1.5 times as wide as the median one" in texts(ax)[-1]


def test_labels_of_doubtful_rows_at_the_top_stay_within_the_axes() -> None:
    frame = rated(500, 10, 4, "{}")
    best = frame.groupby("item")["rating"].mean().nlargest(12).index
    fit = of_numbers(frame[~(frame["item"].isin(best) & frame["item"].duplicated())])

    ax: Any = plots.items(fit, ax=fresh())

    bottom, top = ax.get_ylim()
    assert len(ax.get_yticks()) == 12
    assert top <= min(ax.get_yticks()) < max(ax.get_yticks()) <= bottom == 499.8


def test_pools_are_in_order_of_their_accuracy_above_that_of_their_raters(of: Any) -> None:
    fit = of_vendors(of)
    table = fit.pools()

    ax: Any = plots.pools(fit, ax=fresh())

    assert [label.get_text() for label in ax.get_yticklabels()] == table.index.to_list()
    ends = np.array(ax.collections[0].get_segments())[..., 0]
    assert ends == pytest.approx(table[["lower_90", "upper_90"]].to_numpy())
    medians, raters = ax.lines
    assert list(medians.get_xdata()) == pytest.approx(table["accuracy"].to_list())
    accuracy = fit.quantities["accuracy"].median(("chain", "draw"))
    assert list(raters.get_xdata()) == pytest.approx(accuracy.values.tolist())
    rows = dict(zip(table.index, medians.get_ydata(), strict=True))
    assert list(raters.get_ydata()) == [rows[pool] for pool in PANEL.values()]
    first, second = table["accuracy"]
    assert finding(ax) == (
        f"Pool {table.index[0]} ({first:.2f}) has the lowest accuracy, "
        f"pool {table.index[1]} ({second:.2f}) the highest"
    )


def test_pools_of_ratings_without_pools_are_refused(of: Any) -> None:
    with pytest.raises(ValueError, match="the ratings have no pools"):
        plots.pools(of.categories, ax=fresh())


def test_accuracy_of_raters_is_drawn_pool_by_pool(of: Any) -> None:
    fit = of_vendors(of)
    accuracy = fit.quantities["accuracy"].median(("chain", "draw")).to_series()

    ax: Any = plots.raters(fit, ax=fresh())

    of_one, of_other = (
        accuracy[[rater for rater, own in PANEL.items() if own == pool]].sort_values()
        for pool in ("north", "south")
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == [*of_one.index, *of_other.index]
    assert texts(ax)[:2] == ["north", "south"]


def test_items_have_bars_of_their_probabilities_in_order_of_entropy(of: Any) -> None:
    probability = of.categories.category_probabilities()
    entropy = of.categories.items()["entropy"].sort_values(ascending=False)

    ax: Any = plots.items(of.categories, ax=fresh())

    shown = entropy.index[:30]
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(3, -1)
    assert pytest.approx(probability.loc[shown[: widths.shape[1]]].to_numpy()) == widths.T
    assert texts(ax)[0] == f"{entropy.iloc[0]:.2f} bits"


def test_entropies_name_the_items_that_are_most_in_doubt(of: Any) -> None:
    entropy = of.categories.items()["entropy"].nlargest(5)

    ax: Any = plots.entropies(of.categories, ax=fresh())

    named = [text for text in ax.texts if "  " in text.get_text()]
    lines = named[0].get_text().split("\n")
    assert lines[0] == "items of highest entropy"
    assert lines[1:] == [f"{item}  {bits:.2f}" for item, bits in entropy.items()]


def test_entropies_add_up_to_the_bits_in_the_title(of: Any) -> None:
    entropy = of.categories.items()["entropy"]

    ax: Any = plots.entropies(of.categories, ax=fresh())

    steps = ax.patches[0].get_data()
    assert steps.values @ np.diff(steps.edges) == pytest.approx(entropy.sum())
    assert finding(ax).startswith(f"{entropy.sum():.1f} bits of uncertainty remain")


def test_confusion_matrices_are_posterior_means_ordered_by_informativeness(of: Any) -> None:
    mean = of.categories.quantities.mean(("chain", "draw"))
    order = np.argsort(-mean["informativeness"].values)

    ax: Any = plots.confusion(of.categories, ax=fresh())

    shown = [mesh.get_array().reshape(3, 3) for mesh in ax.collections]
    assert np.array(shown) == pytest.approx(mean["confusion"].values[order])
    assert mean["rater"].values[order][0] in texts(ax)


def test_confusion_names_the_categories_that_are_recognised_best_and_worst() -> None:
    fit = of_two_categories([[0.9, 0.1], [0.3, 0.7]])

    title = finding(plots.confusion(fit, ax=fresh()))

    assert title == ("On average, raters recognise no best (90% correct) and yes worst (70%)")


def test_confusion_ranks_no_categories_whose_difference_is_within_its_uncertainty() -> None:
    fit = of_two_categories([[0.85, 0.15], [0.8, 0.2]])
    sure = np.random.default_rng(1).normal([0.82, 0.8], 0.05, (400, 2)).clip(0, 1)
    confusion = np.stack([sure, 1 - sure], axis=-1)
    confusion[:, 1] = confusion[:, 1, ::-1]
    every = np.repeat(confusion[:, None], 6, axis=1)
    assert isinstance(fit.ratings, rb.Ratings)

    title = finding(
        plots.confusion(
            made_of(
                rb.DawidSkene(), fit.ratings, prevalence=np.full((400, 2), 0.5), confusion=every
            ),
            ax=fresh(),
        )
    )

    low, high = sorted(f"{x:.0%}" for x in sure.mean(axis=0))
    assert title == (
        "On average, raters recognise no category clearly better than others "
        f"({low} to {high} correct)"
    )


def test_confusion_does_not_rank_categories_that_the_model_takes_for_equally_well_known() -> None:
    fit = of_two_categories([[0.9, 0.1], [0.3, 0.7]])
    theta = xr.DataArray(np.full((2, 200, 6), 0.7), dims=("chain", "draw", "rater"))
    vars(fit)["quantities"] = fit.quantities.assign(theta=theta)

    title = finding(plots.confusion(fit, ax=fresh()))

    assert title == (
        "On average, raters know the true category in 70% of cases, which DawidSkene assumes to "
        "be the same for all categories"
    )


def test_confusion_names_categories_that_are_not_equally_well_known() -> None:
    ratings = of_two_categories([[0.9, 0.1], [0.3, 0.7]]).ratings
    assert isinstance(ratings, rb.Ratings)
    model, half = rb.TAP(accuracy="by_category"), np.full((400, 2), 0.5)
    a = np.broadcast_to([0.8, 0.4], (400, 2))

    title = finding(
        plots.confusion(made_of(model, ratings, prevalence=half, a=a, p=half[:, None]), ax=fresh())
    )

    assert title == ("On average, raters recognise no best (90% correct) and yes worst (70%)")


def test_chains_disagree_only_beyond_what_chance_allows() -> None:
    table = pd.DataFrame({"r_hat": [1.02], "ess_bulk": [500.0]})

    assert _finding(table, 4, 1.03).startswith("The 4 chains agree: R-hat is at most 1.020")
    assert _finding(table, 4, 1.01).startswith("The 4 chains disagree: R-hat is up to 1.020")


def test_agreement_of_categories_is_the_proportion_of_equal_ratings() -> None:
    table = [["a", "a", "b"], ["b", "b", "b"], ["a", "b", None], ["b", "b", "b"]]
    ratings = rb.Ratings.from_wide(pd.DataFrame(table, columns=["x", "y", "z"]))

    ax: Any = plots.agreement(ratings, ax=fresh())

    assert shaded(ax) == {("y", "x"): "75%", ("z", "x"): "67%", ("z", "y"): "67%"}


def test_agreement_of_numbers_is_the_correlation_over_common_items(of: Any) -> None:
    wide = of.numbers.ratings.to_frame().pivot(index="item", columns="rater", values="rating")
    expected = wide.corr()

    ax: Any = plots.agreement(of.numbers.ratings, ax=fresh())

    found = shaded(ax)
    assert len(found) == 10
    assert found == {(row, column): f"{expected.loc[row, column]:.2f}" for row, column in found}


def shaded(ax: Axes) -> dict[tuple[str, str], str]:
    """Texts in the cells, by the labels of their rows and columns; these stand on the diagonal."""
    rows = dict(zip(ax.get_yticks(), (x.get_text() for x in ax.get_yticklabels()), strict=True))
    labels = [text for text in ax.texts if isinstance(text, Annotation)]
    columns = {text.xy[0] + 0.5: text.get_text() for text in labels if text.xycoords == "data"}
    return {
        (rows[text.get_position()[1]], columns[text.get_position()[0]]): text.get_text()
        for text in ax.texts
        if text not in labels
    }


def test_shades_of_agreement_go_from_none_to_full(of: Any) -> None:
    ax: Any = plots.agreement(of.numbers.ratings, ax=fresh())

    assert ax.collections[0].get_clim() == (0, 1)


def test_raters_who_agree_alike_are_told_as_tied() -> None:
    table = [["a", "a", "b"], ["b", "b", "a"], ["a", "b", "a"], ["b", "a", "b"]]

    title = finding(plots.agreement(rb.Ratings.from_wide(np.array(table)), ax=fresh()))

    # of the pairs of raters 0 and 1, 0 and 2, 1 and 2, these agree on 2, 2 and 0 of 4 items
    assert title == (
        "Pairs of raters agree on 33% of their common items on average; raters 1 and 2 agree least "
        "(25%)"
    )


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("raters", "All 6 raters have the same accuracy (0.80)"),
        ("confusion", "On average, raters recognise all categories equally well (80% correct)"),
    ],
)
def test_raters_and_categories_with_equal_estimates_are_told_as_tied(name: str, title: str) -> None:
    fit = of_two_categories([[0.8, 0.2], [0.2, 0.8]])

    assert finding(getattr(plots, name)(fit, ax=fresh())) == title


def test_models_that_predict_alike_are_told_as_tied(of: Any) -> None:
    table = of.comparison.assign(bits_per_rating=0.5, difference=0.0)

    title = finding(plots.compare(table, ax=fresh()))

    assert title == "DS and MACE predict held-out items equally well, with 0.500 bits per rating"


def test_a_complete_design_is_a_sentence() -> None:
    ratings = rb.Ratings.from_wide(np.array([[1, 2], [3, 5]]))

    ax = plots.design(ratings, ax=fresh())

    assert finding(ax) == "Every rater rated every item"
    assert not ax.collections
    assert not ax.axison


@pytest.mark.parametrize(("length", "expected"), [(1, list("abcdefghij")), (9, [])])
def test_labels_of_columns_are_never_turned_and_left_out_without_room(
    length: int, expected: list[str]
) -> None:
    items = [length * letter for letter in "abcdefghij"]
    wide = pd.DataFrame({"x": range(3, 13), "y": [None, *range(9)]}, items)

    labels = plots.design(rb.Ratings.from_wide(wide), ax=fresh()).get_xticklabels()

    assert sorted(label.get_text() for label in labels) == expected
    assert {label.get_rotation() for label in labels} <= {0.0}


def test_nominal_categories_have_inks_and_ordered_ones_shades_of_one_scale() -> None:
    inks = np.array(category_colours(8, is_ordered=False))
    shades = np.array(category_colours(8, is_ordered=True))

    apart = np.linalg.norm(inks[:, None] - inks, axis=-1)[np.triu_indices(8, 1)]
    lightness = shades @ [0.2126, 0.7152, 0.0722]
    assert apart.min() > 0.25
    assert (np.diff(lightness) > 0).all()


@pytest.mark.slow
def test_thousands_of_items_are_a_band_of_intervals() -> None:
    fit = of_numbers(rated(1000, 10, 3, "{}"))
    expected = np.sort(fit.items()["median"])[::-1]

    ax: Any = plots.items(fit, ax=fresh())

    assert list(ax.lines[0].get_xdata()) == pytest.approx(expected)
    (band,) = ax.collections
    assert len(band.get_paths()) == 1
    assert "1,000 medians in order; 90% intervals, averaged over neighbours" in texts(ax)[-1]


def test_variance_of_several_pools_is_told_as_the_range_of_all(of: Any) -> None:
    items = of.pools.quantities["icc"].median(("chain", "draw")).values

    ax: Any = plots.variance_shares(of.pools, ax=fresh())

    assert len(ax.patches) == 6
    assert finding(ax).startswith(
        f"Items account for {items.min():.0%} to {items.max():.0%} of the variance in 2 pools"
    )


def test_correlations_of_pools_have_no_words_of_a_guideline_unless_asked(of: Any) -> None:
    ax: Any = plots.xcc(of.pools, ax=fresh())

    assert not {"poor", "moderate", "good", "excellent"} & set(texts(ax))


def test_categories_are_labelled_below_the_last_matrix_of_each_column(of: Any) -> None:
    fit = of.categories
    ax: Any = plots.confusion(fit, ax=fresh())

    lowest = {
        name: [text.get_position() for text in ax.texts if text.get_text() == name]
        for name in ("fine", "rude")
    }
    ends = [mesh.get_coordinates()[-1, 0] for mesh in ax.collections]
    for x, y in lowest["fine"]:
        assert max(end for start, end in ends if start <= x < start + 3) == pytest.approx(y - 0.12)


def test_design_is_filled_where_there_is_a_rating() -> None:
    ratings = rb.Ratings.from_wide(np.array([[1, 2, np.nan], [3, np.nan, np.nan], [4, 5, 6]]))

    ax: Any = plots.design(ratings, ax=fresh())

    filled = ax.collections[0].get_array().reshape(3, 3)
    rows, columns = ([x.get_text() for x in axis.get_ticklabels()] for axis in (ax.yaxis, ax.xaxis))
    assert rows == ["0", "1", "2"]
    assert columns == ["1", "0", "2"]
    assert filled.tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]


def test_a_large_design_shows_proportions_in_cells(of: Any) -> None:
    many = rb.Ratings.from_frame(rated(1000, 400, 4, "{}"))

    ax: Any = plots.design(many, ax=fresh())

    filled = ax.collections[0].get_array()
    assert filled.size == 160 * 480
    assert filled.mean() == pytest.approx(4 / 400, rel=0.05)


def test_compare_states_which_differences_may_be_due_to_chance(of: Any) -> None:
    ax: Any = plots.compare(of.comparison, ax=fresh())

    ends = np.array(ax.collections[0].get_segments())[..., 0]
    assert ends == pytest.approx(np.array([[0.5, 0.5], [0.49, 0.55], [0.64, 0.76]]))
    assert finding(ax).endswith("MACE needs 0.020 more, which may be due to chance")
    assert texts(ax)[1:3] == ["+0.020 ± 0.030; 0.20", "+0.200 ± 0.060; 0.00"]
    assert "up to 2 items" in texts(ax)[3]


def test_checks_mark_values_outside_their_intervals_with_crosses(of: Any) -> None:
    checks = of.categories.check(50)
    table = checks.pairs
    outside = ~table["observed"].between(table["lower_90"], table["upper_90"])

    ax: Any = plots.check(checks, ax=fresh())

    *_, within, crosses = ax.child_axes[-1].lines
    assert list(within.get_ydata()) == table["observed"][~outside].to_list()
    assert list(crosses.get_ydata()) == table["observed"][outside].to_list()
    assert f"p = {checks.p_values['pairs']:.3f}" in ax.child_axes[-1].get_title(loc="left")


def test_trace_and_rank_draw_all_draws_of_all_chains(of: Any) -> None:
    draws = of.numbers.quantities["icc"].values

    trace = plots.trace(of.numbers, ["icc"], ax=fresh()).child_axes[0]
    rank = plots.rank(of.numbers, ["icc"], ax=fresh()).child_axes[0]

    assert np.array([line.get_ydata() for line in trace.lines]) == pytest.approx(draws)
    counts = np.array(
        [stairs.get_data().values for stairs in rank.patches if hasattr(stairs, "get_data")]
    )
    assert counts.sum(axis=1).tolist() == [200, 200]
    assert counts.sum(axis=0).tolist() == 20 * [20]


def test_densities_stay_within_their_limits() -> None:
    draws = np.random.default_rng(1).random(100_000)

    place, height = density(draws, (0, 1))

    assert place[[0, -1]] == pytest.approx([0, 1], abs=0.01)
    assert height == pytest.approx(np.ones(400), abs=0.1)  # six standard errors of 250 draws a bin


def test_shortened_ids_stay_distinct() -> None:
    ids = [f"contractor-{n:03d}@labelling-vendor.example.com" for n in range(300)]

    names = shortened(ids, 20)

    assert len(set(names)) == 300
    assert max(map(len, names)) <= 20
    assert shortened(["a", "b\nc"]) == ["a", "b c"]


@pytest.mark.parametrize(
    ("name", "limit", "expected"),
    [
        ("radiologists with ten years of practice", 24, "radiologists…of practice"),
        ("not helpful", 8, "not …"),
        ("https://example.com/items/12345", 24, "https://…com/items/12345"),
        ("contradictions", 11, "contr…tions"),
    ],
)
def test_ids_are_cut_between_words_unless_a_word_is_too_long(
    name: str, limit: int, expected: str
) -> None:
    assert short(name, limit) == expected


def test_ids_with_a_common_beginning_keep_whole_words() -> None:
    ids = [f"https://example.com/items/{number}/answers" for number in (1, 20, 300)]

    assert shortened(ids, 16) == ["…/1/answers", "…/20/answers", "…/300/answers"]


def test_ids_that_differ_in_the_middle_of_a_sentence_stay_distinct() -> None:
    ids = [f"the answer to a question {x} in the examination" for x in ("ab" * 9, "cd" * 9)]

    assert len(set(shortened(ids, 20))) == 2


def test_categories_of_a_confusion_matrix_are_on_two_lines_rather_than_cut() -> None:
    frame = rated(40, 6, 5, "{}")
    words = pd.cut(frame["rating"], [-9, 5, 99], labels=["not offensive", "contradiction"])
    fit = made_of(
        rb.DawidSkene(),
        rb.Ratings.from_frame(frame.assign(rating=words), scale="nominal"),
        prevalence=np.full((400, 2), 0.5),
        confusion=np.broadcast_to([[0.9, 0.1], [0.2, 0.8]], (400, 6, 2, 2)),
    )

    ax = plots.confusion(fit, ax=fresh())

    shown = {label.get_text() for label in ax.get_yticklabels()}
    assert shown == {"not\noffensive", "contradiction"}


def test_separated_labels_keep_their_order() -> None:
    heights = separated([0.5, 0.9, 0.52, 0.51], 0.1)

    assert np.argsort(heights).tolist() == [0, 3, 2, 1]
    assert np.diff(np.sort(heights)).min() >= 0.1 - 1e-12


def test_colours_follow_a_dark_style(of: Any) -> None:
    with mpl.style.context("dark_background"):
        ax = plots.icc(of.numbers, ax=fresh())

    assert np.mean([to_rgb(text.get_color()) for text in ax.texts], axis=1).min() > 0.6
