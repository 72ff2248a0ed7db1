"""Rows of "Coming from Python" and "Coming from R": both sides of each.

The other side is computed by the peer, or by its formula if it needs R. krippendorff and
scikit-learn come with the development extra; pingouin and statsmodels with that of the
documentation, and `make docs` installs crowd-kit and irrCAC. Numbers of R packages were computed by
the versions that are named beside them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, entropy, f, norm

import reliabayes as rb
from reliabayes.arrays import Array

ag = rb.agreement

COUNTS = np.array([[3, 0, 0], [0, 2, 1], [0, 0, 3], [1, 2, 0]])
# Two raters whose categories have gaps: none is 3 or 4.
ONE, OTHER = np.array([1, 2, 5, 5, 1, 2, 2, 5]), np.array([1, 5, 5, 5, 1, 2, 1, 2])
WORDS = np.array(["", "low", "medium", "", "", "high"])


def table(*, missing: bool) -> Array:
    """Ratings 1 to 4 of twelve items by three raters."""
    rng = np.random.default_rng(6)
    near = rng.integers(1, 5, (12, 1)) + rng.integers(-1, 2, (12, 3))
    ratings = np.asarray(np.clip(near, 1, 4), np.float64)
    if missing:
        ratings[[2, 5, 9], [0, 1, 2]] = np.nan
    return ratings


def judges() -> pd.DataFrame:
    return rb.datasets.load("shrout_fleiss_1979")


def pair(**options: Any) -> rb.Ratings:
    return rb.Ratings.from_wide(np.column_stack([ONE, OTHER]), **options)


def crowd() -> Array:
    """Categories of items by five raters, right in 55% to 85% of 200; no ties, broken at random."""
    rng = np.random.default_rng(1)
    truth, right = rng.integers(0, 3, (200, 1)), rng.random((200, 5)) < [0.85, 0.7, 0.6, 0.55, 0.75]
    x = np.where(right, truth, (truth + rng.integers(1, 3, (200, 5))) % 3)
    least, most = np.sort((x[:, :, None] == np.arange(3)).sum(axis=1), axis=1)[:, 1:].T
    return np.asarray(x[most > least])


@pytest.mark.parametrize(
    ("metric", "scale"), [("nominal", "nominal"), ("ordinal", "ordered"), ("interval", "numeric")]
)
def test_krippendorff_of_raters_in_rows(metric: Any, scale: Any) -> None:
    peer = pytest.importorskip("krippendorff")
    x = table(missing=True)

    theirs = peer.alpha(reliability_data=x.T, level_of_measurement=metric)

    ours = ag.krippendorff_alpha(rb.Ratings.from_wide(x, scale=scale), metric)
    assert float(ours) == pytest.approx(theirs)


def test_krippendorff_takes_functions_of_more_arrays() -> None:
    """Values, their positions and frequencies, and a dtype, where ours has values only."""
    peer = pytest.importorskip("krippendorff")
    x = table(missing=True)

    def distance(one: Array, other: Array, *_: Array, **__: Any) -> Array:
        return np.abs(one - other)

    theirs = peer.alpha(reliability_data=x.T, level_of_measurement=distance)

    ours = ag.krippendorff_alpha(rb.Ratings.from_wide(x, scale="numeric"), distance)
    assert float(ours) == pytest.approx(theirs)


def test_krippendorff_of_counts_is_of_the_interval_metric() -> None:
    peer = pytest.importorskip("krippendorff")

    theirs = peer.alpha(value_counts=COUNTS, value_domain=[1, 2, 3])

    numeric = rb.Ratings.from_counts(COUNTS, categories=[1, 2, 3], scale="numeric")
    nominal = rb.Ratings.from_counts(COUNTS, categories=[1, 2, 3])
    assert float(ag.krippendorff_alpha(numeric)) == pytest.approx(theirs)
    assert float(ag.krippendorff_alpha(nominal)) == pytest.approx(
        peer.alpha(value_counts=COUNTS, value_domain=[1, 2, 3], level_of_measurement="nominal")
    )


def test_alpha_of_irr_of_complete_data_has_more_disagreement() -> None:
    """It counts each pair of ratings fully, where each is to count as 1 / (raters - 1)."""
    x = table(missing=False)
    items, raters = x.shape
    one_hot = (x[:, :, None] == np.unique(x)).astype(float)
    pairs = np.einsum("ira,isb->ab", one_hot, one_hot) - np.einsum("ira,irb->ab", one_hot, one_hot)
    total, differ = pairs.sum(axis=1), ~np.eye(len(pairs), dtype=bool)

    theirs = (total.sum() - 1) * pairs[differ].sum() / np.outer(total, total)[differ].sum()

    ours = 1 - float(ag.krippendorff_alpha(rb.Ratings.from_wide(x, scale="nominal")))
    n = items * raters
    assert theirs == pytest.approx(ours * (n - 1 / (raters - 1)) / (n - 1))
    assert theirs > ours


def test_limits_of_mean_iccs_of_irr_have_other_degrees_of_freedom() -> None:
    """McGraw & Wong (1996), table 7: of the ICC of a single rating, or there of the mean."""
    wide = judges().pivot(index="item", columns="rater", values="rating").to_numpy()
    n, k = wide.shape
    rows, columns = wide.mean(axis=1), wide.mean(axis=0)
    rest = wide - rows[:, None] - columns + wide.mean()
    of_rows, of_columns = k * rows.var(ddof=1), n * columns.var(ddof=1)
    error = (rest**2).sum() / ((n - 1) * (k - 1))

    def limits(icc: float, times: int) -> list[float]:
        a = times * icc / (n * (1 - icc))
        b = 1 + (n - 1) * a
        parts = (a * of_columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
        v = (a * of_columns + b * error) ** 2 / parts
        low = of_rows / f.ppf(0.975, n - 1, v), error
        high = of_rows * f.ppf(0.975, v, n - 1), error
        return [n * (x - e) / (of_columns - e + n * x) for x, e in (low, high)]

    own = ag.icc_table(rb.Ratings.from_frame(judges()))
    single, mean = (float(own["value"][name]) for name in ("ICC(2,1)", "ICC(2,k)"))
    published = own[["lower_95", "upper_95"]].to_numpy()[own.index.get_loc("ICC(2,k)")]
    assert published == pytest.approx(limits(single, k))
    assert published == pytest.approx(limits(mean, 1))  # as in the table
    lower, upper = limits(mean, k)
    assert lower < published[0] < published[1] < upper


def test_icc_of_irr_against_a_value_has_degrees_of_freedom_of_the_estimate() -> None:
    """irr 0.84.1: icc(x, "twoway", "agreement", "single", r0 = 0.2), with df 4.785, p .3274."""
    wide = judges().pivot(index="item", columns="rater", values="rating").to_numpy()
    n, k = wide.shape
    rows, columns = wide.mean(axis=1), wide.mean(axis=0)
    error = ((wide - rows[:, None] - columns + wide.mean()) ** 2).sum() / ((n - 1) * (k - 1))
    of_rows, of_columns = k * rows.var(ddof=1), n * columns.var(ddof=1)

    def f_and_freedom(null: float, at: float) -> tuple[float, float]:
        a, c = (k * icc / (n * (1 - icc)) for icc in (null, at))
        f = of_rows / (a * of_columns + (1 + (n - 1) * a) * error)
        parts = np.array([c * of_columns, (1 + (n - 1) * c) * error])
        return f, parts.sum() ** 2 / (parts**2 / [k - 1, (n - 1) * (k - 1)]).sum()

    own = ag.icc_table(rb.Ratings.from_frame(judges()), null=0.2).T["ICC(2,1)"]
    published, theirs = f_and_freedom(0.2, 0.2), f_and_freedom(0.2, own["value"])
    assert list(own[["F", "df2"]]) == pytest.approx(published)
    assert own["p"] == pytest.approx(f.sf(published[0], n - 1, published[1]))
    assert theirs[1] == pytest.approx(4.785, abs=5e-4)
    assert f.sf(theirs[0], n - 1, theirs[1]) == pytest.approx(0.3274, abs=5e-5)


def test_coefficients_under_other_names() -> None:
    """irr: finn(x, 10, "oneway"), maxwell(x), robinson(x); psych 2.2.9: alpha.ci()."""
    wide = judges().pivot(index="item", columns="rater", values="rating").to_numpy()
    k = wide.shape[1]
    ratings = rb.Ratings.from_wide(wide, scale="numeric", categories=range(1, 11))
    consistency = float(ag.icc(ratings, "ICC(3,1)"))
    binary = rb.Ratings.from_table(np.array([[19, 10], [6, 256]]))

    finn = 1 - wide.var(axis=1, ddof=1).mean() / ((10**2 - 1) / 12)
    centred = wide - wide.mean(axis=0)
    robinson = k * (centred.mean(axis=1) ** 2).sum() / (centred**2).sum()

    assert finn == pytest.approx(0.2407407407407408)
    assert float(ag.brennan_prediger(ratings, "quadratic")) == pytest.approx(finn)
    assert (1 + (k - 1) * consistency) / k == pytest.approx(robinson)
    assert float(ag.brennan_prediger(binary)) == pytest.approx(2 * 275 / 291 - 1)
    feldt = ag.icc(ratings, "ICC(3,k)").interval()
    assert [feldt.lower, feldt.upper] == pytest.approx([0.675674713816305, 0.985891678169062])
    weir = ag.measurement_error(ratings, "consistency").sem.value
    assert ag.g_study(ratings).sem_relative == pytest.approx(weir)


def test_nested_limits_of_simplyagree_lack_the_variance_within_items() -> None:
    """SimplyAgree 0.3.0, with data_type = "nest", by its formula; ours has that of Zou (2013)."""
    rng = np.random.default_rng(1)
    n, m = 12, 3
    x = rng.normal(0, 2, (n, 2, 1)) + rng.normal(0, 2, (n, 2, m))
    item, rater, day = np.indices(x.shape).reshape(3, -1)
    columns = {"item": item, "rater": rater, "day": day, "rating": x[item, rater, day]}
    d = x[:, 0] - x[:, 1]
    means, within = d.mean(axis=1).var(ddof=1), d.var(axis=1, ddof=1).mean()

    def gap(between: float) -> float:
        total = means + (1 - 1 / m) * within
        squares = np.array([between, (1 - 1 / m) * within])
        df = np.array([n - 1, n * (m - 1)])
        upper = total + np.sqrt(((squares * (df / chi2.ppf(0.025, df) - 1)) ** 2).sum())
        return float(
            norm.ppf(0.975) * np.sqrt(between / n + (np.sqrt(upper) - np.sqrt(total)) ** 2)
        )

    ratings = rb.Ratings.from_frame(pd.DataFrame(columns), facets=["day"])
    found = ag.limits_of_agreement(ratings, replicates="linked").upper
    assert found.upper - found.value == pytest.approx(gap(means), rel=1e-6)
    assert gap(means - within / m) < 0.95 * gap(means)


def error_in_psych(both: Array, weight: Array, items: int) -> float:
    """Of version 2.2.9: the sums of weights of a column lack the frequencies of rows."""
    row, column = both.sum(axis=1), both.sum(axis=0)
    mean = (weight @ column)[:, None] + row * weight.sum(axis=1)
    of, by = (both * weight).sum(), row @ weight @ column
    spread = (both * (weight * (1 - by) - mean * (1 - of)) ** 2).sum()
    variance = (spread - (of * by - 2 * by + of) ** 2) / items / (1 - by) ** 4
    return float(np.sqrt(max(variance, 0)))


def shares(x: Array) -> Array:
    """Of pairs of the levels 0 to 3 among the pairs of ratings, items x 2."""
    both = np.zeros((4, 4))
    np.add.at(both, tuple(x.T), 1 / len(x))
    return both


DISTANCE = np.subtract.outer(range(4), range(4)) ** 2.0


def test_error_of_psych_has_no_frequencies_in_the_sums_of_columns() -> None:
    """psych 2.2.9 has 0.008103403911, and 0.2078032781 if the weights are distances."""
    one = [1, 1, 2, 2, 3, 3, 4, 4, 1, 2, 3, 4, 2, 3, 1, 4, 2, 2, 3, 3]
    other = [1, 2, 2, 2, 3, 4, 4, 4, 1, 1, 3, 3, 2, 2, 1, 4, 3, 2, 3, 2]
    x = np.column_stack([one, other]) - 1

    by_default = error_in_psych(shares(x), 1 - DISTANCE / 9, 20)
    of_distances = error_in_psych(shares(x), DISTANCE, 20)

    ours = ag.cohen_kappa(rb.Ratings.from_wide(x, scale="ordered"), "quadratic")
    assert by_default == pytest.approx(0.008103403911)
    assert of_distances == pytest.approx(0.2078032781)
    assert ours.standard_error(method="analytic") > 7 * by_default


@pytest.mark.slow
def test_errors_of_psych_are_wrong_and_more_so_if_weights_are_distances() -> None:
    rng = np.random.default_rng(2)
    values, ours, by_default, of_distances = np.empty((4, 100))
    for i in range(100):
        score = rng.normal(1.5, 1, (100, 1)) + 0.6 * rng.normal(size=(100, 2))
        x = np.clip(np.round(score), 0, 3).astype(int)
        ratings = rb.Ratings.from_wide(x, scale="ordered", categories=range(4))
        kappa = ag.cohen_kappa(ratings, "quadratic")
        values[i], ours[i] = kappa.value, kappa.standard_error(method="analytic")
        by_default[i] = error_in_psych(shares(x), 1 - DISTANCE / 9, 100)
        of_distances[i] = error_in_psych(shares(x), DISTANCE, 100)

    sd = values.std()  # known to 7%
    assert ours.mean() / sd == pytest.approx(1, abs=0.17)
    assert np.abs(ours / sd - 1).mean() < 0.6 * np.abs(by_default / sd - 1).mean()
    assert of_distances.mean() / sd > 1.5


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappas_of_scikit_learn_count_categories_that_occur(weights: Any) -> None:
    metrics = pytest.importorskip("sklearn.metrics")

    ranked = metrics.cohen_kappa_score(ONE, OTHER, weights=weights)
    spaced = metrics.cohen_kappa_score(ONE, OTHER, weights=weights, labels=range(1, 6))

    assert float(ag.cohen_kappa(pair(scale="ordered"), weights)) == pytest.approx(ranked)
    assert float(ag.cohen_kappa(pair(), weights)) == pytest.approx(spaced)
    assert ranked != pytest.approx(spaced, abs=0.05)


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
@pytest.mark.parametrize("words", [False, True])
def test_weighted_kappas_of_irr_and_psych_have_ranks_of_sorted_levels(
    weights: Any, power: int, words: bool
) -> None:
    """psych 2.2.9 has 0.7272727273 of the numbers and 0.1818181818 of the words, if quadratic."""
    one, other = (WORDS[ONE], WORDS[OTHER]) if words else (ONE, OTHER)
    levels = sorted({*one, *other})
    both = pd.crosstab(one, other, normalize=True).loc[levels, levels].to_numpy()
    weight = 1 - (np.abs(np.subtract.outer(range(3), range(3))) / 2) ** power
    by_chance = (weight * np.outer(both.sum(axis=1), both.sum(axis=0))).sum()

    theirs = ((weight * both).sum() - by_chance) / (1 - by_chance)

    pairs = np.column_stack([one, other])
    sorted_levels = rb.Ratings.from_wide(pairs, scale="ordered", categories=levels)
    assert float(ag.cohen_kappa(sorted_levels, weights)) == pytest.approx(theirs)
    if power == 2:
        assert theirs == pytest.approx(0.1818181818 if words else 0.7272727273)


def test_words_keep_the_order_in_which_they_are_declared() -> None:
    """psych 2.2.9 with ``levels`` has the same 0.7272727273; without, the order of the alphabet."""
    metrics = pytest.importorskip("sklearn.metrics")
    order = ["low", "medium", "high"]
    words = WORDS[ONE], WORDS[OTHER]

    sorted_words = metrics.cohen_kappa_score(*words, weights="quadratic")
    declared = metrics.cohen_kappa_score(*words, weights="quadratic", labels=order)

    ours = rb.Ratings.from_wide(np.column_stack(words), scale="ordered", categories=order)
    assert float(ag.cohen_kappa(ours, "quadratic")) == pytest.approx(declared)
    assert declared == pytest.approx(0.7272727273)
    assert sorted_words == pytest.approx(0.1818181818)


def test_kappa_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")

    theirs = metrics.cohen_kappa_score(ONE, OTHER)

    assert float(ag.cohen_kappa(pair(scale="nominal"))) == pytest.approx(theirs)


@pytest.mark.docs
def test_kappas_of_statsmodels() -> None:
    peer = pytest.importorskip("statsmodels.stats.inter_rater")
    contingency = pd.crosstab(ONE, OTHER).to_numpy()

    found = peer.cohens_kappa(contingency)

    kappa = ag.cohen_kappa(rb.Ratings.from_table(contingency))
    fleiss = rb.Ratings.from_counts(COUNTS, categories=[1, 2, 3])
    assert float(kappa) == pytest.approx(found.kappa)
    limits, test = (
        kappa.interval(method="analytic", distribution="normal"),
        kappa.test(error="null"),
    )
    assert kappa.standard_error(method="analytic") == pytest.approx(found.std_kappa)
    assert [limits.lower, limits.upper] == pytest.approx([found.kappa_low, found.kappa_upp])
    assert test.statistic == pytest.approx(found.z_value)
    assert test.p == pytest.approx(found.pvalue_two_sided)
    assert float(ag.fleiss_kappa(fleiss)) == pytest.approx(peer.fleiss_kappa(COUNTS))
    randolph = peer.fleiss_kappa(COUNTS, method="randolph")
    assert float(ag.brennan_prediger(fleiss)) == pytest.approx(randolph)


@pytest.mark.docs
def test_square_table_of_statsmodels() -> None:
    peer = pytest.importorskip("statsmodels.stats.contingency_tables")

    frame = pd.DataFrame({"one": ONE, "other": OTHER})
    ours = pair(scale="nominal").table().to_numpy()

    theirs = peer.SquareTable.from_data(frame, shift_zeros=False).table

    assert ours.tolist() == theirs.tolist()
    shifted = peer.SquareTable.from_data(frame).table
    assert np.where(ours == 0, 0.5, ours).tolist() == shifted.tolist()


@pytest.mark.docs
def test_margins_of_statsmodels() -> None:
    peer = pytest.importorskip("statsmodels.stats.contingency_tables")
    counts, small = np.array([[20, 10, 5], [3, 30, 15], [1, 5, 40]]), np.array([[9, 4], [7, 5]])
    binary = (table(missing=False) > 2).astype(int)
    ratings, two = rb.Ratings.from_table(counts), rb.Ratings.from_table(small)
    several = rb.Ratings.from_wide(binary, scale="nominal")

    theirs = peer.SquareTable(counts, shift_zeros=False)

    ours = ag.marginal_homogeneity(ratings)
    assert ours.statistic == pytest.approx(theirs.homogeneity().statistic)
    assert ag.marginal_homogeneity(ratings, "bhapkar").statistic == pytest.approx(
        theirs.homogeneity("bhapkar").statistic
    )
    symmetry = ag.marginal_homogeneity(ratings, "bowker")
    assert (symmetry.statistic, symmetry.p) == pytest.approx(
        (theirs.symmetry().statistic, theirs.symmetry().pvalue)
    )
    exact = ag.marginal_homogeneity(two, "mcnemar-exact")
    assert (exact.statistic, exact.p) == pytest.approx(
        (peer.mcnemar(small).statistic, peer.mcnemar(small).pvalue)
    )
    asymptotic = peer.mcnemar(small, exact=False, correction=False)
    assert ag.marginal_homogeneity(two, "mcnemar").p == pytest.approx(asymptotic.pvalue)
    cochran = ag.marginal_homogeneity(several, "cochran")
    assert cochran.statistic == pytest.approx(peer.cochrans_q(binary).statistic)


def test_stuart_maxwell_of_irr_leaves_out_categories_of_equal_margins() -> None:
    """irr 0.84.1, stuart.maxwell.mh(table): 1.923 with 1 degree of freedom."""
    counts = np.array([[20, 5, 3], [5, 30, 9], [3, 4, 25]])
    difference = counts.sum(axis=1) - counts.sum(axis=0)
    covariance = np.diag(counts.sum(axis=0) + counts.sum(axis=1)) - counts - counts.T
    kept = counts[1:, 1:]  # of the categories with other margins

    theirs = (kept[0].sum() - kept[:, 0].sum()) ** 2 / (kept[0, 1] + kept[1, 0])

    ours = ag.marginal_homogeneity(rb.Ratings.from_table(counts))
    inverse = np.linalg.pinv(covariance)
    assert difference.tolist() == [0, 5, -5]
    assert ours.statistic == pytest.approx(difference @ inverse @ difference)
    assert (theirs, ours.statistic) == pytest.approx((1.923, 1.4925), rel=1e-4)


@pytest.mark.docs
def test_variances_of_statsmodels_and_lme4() -> None:
    """lme4 1.1-31: VarCorr(lmer(rating ~ (1|item) + (1|rater)))."""
    peer = pytest.importorskip("statsmodels.formula.api")
    frame = judges().assign(everything=1)
    effects = {"item": "0 + C(item)", "rater": "0 + C(rater)"}

    found = peer.mixedlm(
        "rating ~ 1", frame, groups="everything", vc_formula=effects, re_formula="0"
    ).fit()

    ratings = rb.Ratings.from_frame(judges())
    ours = ag.g_study(ratings, "item x rater", drop="item x rater", method="reml").components[
        "variance"
    ]
    assert [*found.vcomp, found.scale] == pytest.approx(ours.to_numpy(), rel=1e-3)
    assert ours.to_numpy() == pytest.approx([2.555562838, 5.244450767, 1.019443365], rel=1e-5)
    of_model = rb.GStudy().em(ratings, reml=True).quantities["variance"]
    assert of_model.to_numpy() == pytest.approx(ours.to_numpy(), rel=1e-5)


def test_iccs_and_kappa_of_psych() -> None:
    """psych 2.2.9: ICC(x, lmer = FALSE), alpha(x) and cohen.kappa(cbind(one, other))."""
    ratings = rb.Ratings.from_frame(judges())
    table = ag.icc_table(ratings)
    kappa = ag.cohen_kappa(pair(scale="nominal"))

    value = [0.1657417684, 0.2897637795, 0.7148407148, 0.4427971337, 0.6200505476, 0.9093155424]
    lower = [-0.1329323249, 0.0187865134, 0.342464765, -0.8844421552, 0.0711368131, 0.6756747138]
    upper = [0.7225600623, 0.7610843696, 0.94585826, 0.9124154203, 0.927232042, 0.9858916782]
    assert table["value"].to_numpy() == pytest.approx(value)
    assert table["lower_95"].to_numpy() == pytest.approx(lower)
    assert table["upper_95"].to_numpy() == pytest.approx(upper)
    assert float(ag.icc(ratings, "ICC(3,k)")) == pytest.approx(0.9093155424)
    assert float(kappa) == pytest.approx(0.44186046512)
    assert kappa.standard_error(method="analytic") ** 2 == pytest.approx(0.06186730377)


@pytest.mark.docs
def test_iccs_and_cronbachs_alpha_of_pingouin() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = pytest.importorskip("pingouin")
        theirs = peer.intraclass_corr(judges(), targets="item", raters="rater", ratings="rating")
        wide = judges().pivot(index="item", columns="rater", values="rating")
        alpha = peer.cronbach_alpha(wide)[0]

    ratings = rb.Ratings.from_frame(judges())
    own = ag.icc_table(ratings)
    assert own["value"].to_numpy() == pytest.approx(theirs["ICC"].to_numpy())
    limits = np.array(theirs.filter(like="CI").iloc[:, 0].tolist())
    assert own[["lower_95", "upper_95"]].to_numpy() == pytest.approx(limits, abs=0.006)
    assert float(ag.icc(ratings, "ICC(3,k)")) == pytest.approx(alpha)
    feldt = ag.icc(ratings, "ICC(3,k)").interval()
    assert [feldt.lower, feldt.upper] == pytest.approx(peer.cronbach_alpha(wide)[1], abs=6e-4)


@pytest.mark.docs
def test_limits_of_alpha_of_pingouin_count_deleted_rows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = pytest.importorskip("pingouin")
        wide = judges().pivot(index="item", columns="rater", values="rating").astype(float)
        holes = pd.concat([wide, wide.iloc[:4] * np.nan])

        alpha, limits = peer.cronbach_alpha(holes, nan_policy="listwise")

    feldt = ag.icc(rb.Ratings.from_wide(wide), "ICC(3,k)").interval()
    assert alpha == pytest.approx(float(ag.icc(rb.Ratings.from_wide(wide), "ICC(3,k)")))
    assert limits[0] > feldt.lower + 0.01


@pytest.mark.docs
def test_pingouin_drops_items_with_a_missing_rating() -> None:
    frame = judges().drop(index=3)
    complete = frame[frame.groupby("item")["rating"].transform("size") == 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = pytest.importorskip("pingouin")
        theirs = peer.intraclass_corr(
            frame, targets="item", raters="rater", ratings="rating", nan_policy="omit"
        )["ICC"].to_numpy()

    with_all, without = (
        ag.icc_table(rb.Ratings.from_frame(each))["value"].to_numpy() for each in (frame, complete)
    )
    assert without == pytest.approx(theirs)
    assert np.abs(with_all - theirs).max() > 0.02


def binary() -> rb.Ratings:
    """60 items by 6 raters; ratings of 0 and 1 with logistic residuals."""
    rng = np.random.default_rng(5)
    effects = 0.4 + 1.6 * rng.normal(size=(60, 1)) + 0.8 * rng.normal(size=(1, 6))
    return rb.Ratings.from_wide(
        (effects + rng.logistic(size=(60, 6)) > 0).astype(int), scale="nominal"
    )


def graded() -> rb.Ratings:
    """50 items by 6 raters; four ordered categories, logistic residuals."""
    rng = np.random.default_rng(6)
    effects = 1.5 * rng.normal(size=(50, 1)) + 0.8 * rng.normal(size=(1, 6))
    latent = effects + rng.logistic(size=(50, 6))
    return rb.Ratings.from_wide(np.digitize(latent, [-1.5, 0.2, 1.8]), scale="ordered")


def pooled() -> rb.Ratings:
    """40 items by 4 raters of pool a and 5 of pool b."""
    rng = np.random.default_rng(7)
    shared = rng.normal(size=(40, 1))
    of_b = 0.8 * (0.7 * shared + 0.7 * rng.normal(size=(40, 1)))
    effects = np.hstack([np.repeat(1.2 * shared, 4, axis=1), np.repeat(of_b, 5, axis=1)])
    x = 5 + effects + 0.5 * rng.normal(size=(1, 9)) + rng.normal(size=(40, 9))
    long = {
        "item": np.repeat(range(40), 9),
        "rater": np.tile(range(9), 40),
        "rating": x.ravel().round(3),
        "pool": np.tile(["a"] * 4 + ["b"] * 5, 40),
    }
    return rb.Ratings.from_frame(pd.DataFrame(long), pool="pool")


# brms 2.18.0, brm(y ~ 1 + (1 | item) + (1 | rater)) with the priors of our defaults written out:
# mean and sd of the draws, and the Monte Carlo error of the mean.
BRMS_GAUSSIAN = {
    "mean": (5.2772, 1.5486, 0.0138),
    "sd_item": (1.9133, 0.7743, 0.0074),
    "sd_rater": (2.4660, 1.2835, 0.0118),
    "sd_residual": (1.1120, 0.2318, 0.0020),
    "icc": (0.3535, 0.1916, 0.0018),
}
BRMS_BERNOULLI = {
    "mean": (0.1194, 0.3709, 0.0052),
    "sd_item": (1.4622, 0.2634, 0.0044),
    "sd_rater": (0.6338, 0.3035, 0.0049),
    "icc": (0.3599, 0.0822, 0.0013),
}
BRMS_PROBIT = {
    "mean": (0.0842, 0.227, 0.0040),
    "sd_item": (0.863, 0.148, 0.0025),
    "sd_rater": (0.396, 0.212, 0.0038),
    "icc": (0.3833, 0.0838, 0.0014),
}
BRMS_CUMULATIVE = {
    "cut[0]": (-1.50, 0.532, 0.0088),
    "cut[1]": (0.135, 0.518, 0.0086),
    "cut[2]": (1.71, 0.525, 0.0085),
    "sd_item": (1.76, 0.274, 0.0045),
    "sd_rater": (1.04, 0.379, 0.0059),
    "icc": (0.4081, 0.0807, 0.0013),
}
# brm(y ~ 0 + pool + (0 + pool | item) + (0 + pool || rater))
BRMS_POOLS = {
    "mean[a]": (4.36, 0.181, 0.0033),
    "mean[b]": (4.66, 0.274, 0.0050),
    "sd_item[a]": (0.904, 0.133, 0.0022),
    "sd_item[b]": (0.702, 0.112, 0.0017),
    "sd_rater[a]": (0.117, 0.112, 0.0014),
    "sd_rater[b]": (0.502, 0.218, 0.0040),
    "normalized_xcc[a, b]": (0.395, 0.181, 0.0032),
    "sd_residual": (0.939, 0.0407, 0.00045),
}
# The same with sigma ~ 0 + pool, and the prior of sigma on its own scale.
BRMS_POOLS_AND_RESIDUALS = {
    "mean[a]": (4.3654, 0.1822, 0.0044),
    "mean[b]": (4.6659, 0.2774, 0.0060),
    "sd_item[a]": (0.9115, 0.1351, 0.0028),
    "sd_item[b]": (0.6987, 0.1128, 0.0021),
    "sd_rater[a]": (0.1156, 0.1115, 0.0017),
    "sd_rater[b]": (0.5057, 0.2330, 0.0051),
    "normalized_xcc[a, b]": (0.3979, 0.1840, 0.0040),
    "sd_residual[a]": (0.9198, 0.0601, 0.00081),
    "sd_residual[b]": (0.9578, 0.0554, 0.00071),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "ratings", "by_brms"),
    [
        pytest.param(
            rb.GaussianICC(),
            lambda: rb.Ratings.from_frame(judges()),
            BRMS_GAUSSIAN,
            id="gaussian",
        ),
        pytest.param(
            rb.OrdinalICC(), graded, BRMS_CUMULATIVE, marks=pytest.mark.proof, id="cumulative"
        ),
        *(
            pytest.param(*case, marks=pytest.mark.proof, id=name)
            for name, *case in (
                ("bernoulli", rb.LogitICC(), binary, BRMS_BERNOULLI),
                ("probit", rb.LogitICC(link="probit"), binary, BRMS_PROBIT),
                ("pools", rb.GaussianXCC(), pooled, BRMS_POOLS),
                (
                    "residuals",
                    rb.GaussianXCC(residual="per_pool"),
                    pooled,
                    BRMS_POOLS_AND_RESIDUALS,
                ),
            )
        ),
    ],
)
def test_posteriors_of_brms(
    model: Any, ratings: Any, by_brms: dict[str, tuple[float, float, float]]
) -> None:
    found = model.fit(ratings(), seed=1, draws=4000).summary().loc[[*by_brms]]

    mean, sd, error = np.transpose([*by_brms.values()])
    assert (np.abs(found["mean"] - mean) < 4 * np.hypot(found["mcse"], error)).all()
    assert found["sd"].to_numpy() == pytest.approx(sd, rel=0.1)  # long tails: sd_rater to 2.5%


@pytest.mark.slow
def test_icc_of_performance_is_that_at_the_means_of_standard_deviations() -> None:
    fit = rb.LogitICC(link="probit").fit(binary(), seed=1, draws=2000)

    means: Any = fit.summary()["mean"]
    item, rater = means["sd_item"] ** 2, means["sd_rater"] ** 2

    # performance 0.10.2, icc(fit, by_group = TRUE) of the fit by brms; and icc(fit), their sum
    total = item + rater + 1
    assert [item / total, rater / total] == pytest.approx([0.391, 0.083], abs=0.006)
    assert (item + rater) / total == pytest.approx(0.474, abs=0.006)


def of_irrcac(x: Array, method: str, **options: Any) -> tuple[float, float, tuple[float, float]]:
    """Value, standard error and 95% interval, each with five decimals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = pytest.importorskip("irrCAC.raw")
        found = getattr(peer.CAC(pd.DataFrame(x), **options), method)()["est"]
    return found["coefficient_value"], found["se"], found["confidence_interval"]


@pytest.mark.docs
@pytest.mark.parametrize(
    ("method", "ours"),
    [
        ("gwet", ag.gwet_ac1),
        ("fleiss", ag.fleiss_kappa),
        ("conger", ag.conger_kappa),
        ("bp", ag.brennan_prediger),
    ],
)
def test_coefficients_and_errors_of_irrcac(method: str, ours: Any) -> None:
    x = table(missing=False)

    value, error, limits = of_irrcac(x, method)

    found = ours(rb.Ratings.from_wide(x, scale="nominal"))
    interval = found.interval(method="analytic")
    assert float(found) == pytest.approx(value, abs=1e-5)
    assert found.standard_error(method="analytic") == pytest.approx(error, abs=1e-5)
    assert (interval.lower, interval.upper) == pytest.approx(limits, abs=1e-3)


@pytest.mark.docs
def test_error_of_alpha_of_irrcac_lacks_the_correction_of_n() -> None:
    """1 - alpha has a factor (N - 1) / N, which the error there leaves out."""
    x = table(missing=False)

    value, error, _ = of_irrcac(x, "krippendorff")

    ours = ag.krippendorff_alpha(rb.Ratings.from_wide(x, scale="nominal"))
    assert float(ours) == pytest.approx(value, abs=1e-5)
    corrected = error * (x.size - 1) / x.size
    assert ours.standard_error(method="analytic") == pytest.approx(corrected, abs=1e-5)


@pytest.mark.docs
def test_weighted_coefficient_of_irrcac() -> None:
    x = table(missing=False)

    value, error, _ = of_irrcac(x, "gwet", weights="quadratic")

    ours = ag.gwet_ac2(rb.Ratings.from_wide(x, scale="ordered"), "quadratic")
    assert float(ours) == pytest.approx(value, abs=1e-5)
    assert ours.standard_error(method="analytic") == pytest.approx(error, abs=1e-5)


@pytest.mark.docs
def test_errors_of_irrcac_with_items_rated_once() -> None:
    """Unless categories are declared, a missing number counts as one of them there."""
    x = table(missing=False)
    x[:4, 1:] = np.nan

    value, error, _ = of_irrcac(x, "gwet", categories=[1, 2, 3, 4])
    undeclared = of_irrcac(x, "gwet")[0]

    ours = ag.gwet_ac1(rb.Ratings.from_wide(x, scale="nominal"))
    assert float(ours) == pytest.approx(value, abs=1e-5)
    assert ag.gwet_error(ours) == pytest.approx(error, abs=1e-5)
    assert ours.standard_error(method="analytic") < error
    assert undeclared > value + 0.04


def test_uncertainty_of_crowd_kit_is_the_entropy_of_votes() -> None:
    """Its documented examples, in nats: three labels, all different or two of them equal."""
    ratings = rb.Ratings.from_wide(np.array([["a", "b", "c"], ["a", "a", "a"]]))

    votes = entropy(ratings.counts, axis=1)

    assert votes == pytest.approx([1.0986122886681096, 0])


def consistency(x: Array) -> Array:
    """Posterior of the vote, with raters as accurate as they agree with it and errors alike."""
    said = x[:, :, None] == np.arange(3)
    vote = said.sum(axis=1).argmax(axis=1)
    right = (x == vote[:, None]).mean(axis=0)[:, None]
    likelihood = np.where(said, right, (1 - right) / 2).prod(axis=1)
    return np.asarray(likelihood[np.arange(len(x)), vote] / likelihood.sum(axis=1))


def test_consistency_of_crowd_kit_is_near_the_mean_probability_of_rater_tap() -> None:
    ratings = rb.Ratings.from_wide(crowd(), scale="nominal")

    ours = rb.RaterTAP().em(ratings).items()["probability"].mean()

    assert ours == pytest.approx(consistency(crowd()).mean(), abs=0.05)


@pytest.mark.docs
def test_metrics_and_dawid_skene_of_crowd_kit() -> None:
    metrics = pytest.importorskip("crowdkit.metrics.data")
    peer = pytest.importorskip("crowdkit.aggregation")
    task, worker = np.indices(crowd().shape).reshape(2, -1)
    frame = pd.DataFrame({"task": task, "worker": worker, "label": crowd().ravel()})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        em = peer.DawidSkene(n_iter=5000, tol=1e-8).fit(frame)
        consistent = metrics.consistency(frame, by_task=True)
        uncertain = metrics.uncertainty(frame)
        alpha = metrics.alpha_krippendorff(frame)

    ratings = rb.Ratings.from_frame(
        frame, item="task", rater="worker", rating="label", scale="nominal"
    )
    own = rb.DawidSkene().em(ratings)
    errors = em.errors_.sort_index().sort_index(axis=1).to_numpy()
    confusion = errors.reshape(5, 3, 3).transpose(0, 2, 1)
    assert consistent.to_numpy() == pytest.approx(consistency(crowd()))
    assert uncertain == pytest.approx(entropy(ratings.counts, axis=1).mean())
    assert alpha == pytest.approx(float(ag.krippendorff_alpha(ratings)))
    assert own.quantities["confusion"].values == pytest.approx(confusion, abs=1e-3)
    assert own.category_probabilities().to_numpy() == pytest.approx(em.probas_[[0, 1, 2]], abs=1e-3)
    assert (own.items()["category"].to_numpy() == em.labels_).all()


@pytest.mark.docs
@pytest.mark.parametrize(("name", "weights"), [("Wawa", "wawa"), ("ZeroBasedSkill", "zero-based")])
def test_weighted_votes_of_crowd_kit(name: str, weights: Any) -> None:
    peer = pytest.importorskip("crowdkit.aggregation")
    task, worker = np.indices(crowd().shape).reshape(2, -1)
    frame = pd.DataFrame({"task": task, "worker": worker, "label": crowd().ravel()})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        skills = getattr(peer, name)().fit(frame).skills_.sort_index()
        theirs = peer.MajorityVote().fit_predict(frame, skills).sort_index()

    ratings = rb.Ratings.from_wide(crowd(), scale="nominal")
    votes = rb.majority_vote(ratings, weights)
    assert [*votes.attrs["weights"].values()] == pytest.approx(skills.to_numpy())
    assert (votes["category"].to_numpy() == theirs.to_numpy()).all()
    assert (rb.majority_vote(ratings, skills)["category"] == votes["category"]).all()


@pytest.mark.docs
def test_alphas_of_sets_of_nltk() -> None:
    """From version 3.10 on, whose MASI has 2/3 and 1/3."""
    metrics = pytest.importorskip("nltk.metrics")
    one = ["a;b", "a;b", "a", "c", "c", "d", "b"]
    other = ["a", "a;b", "a", "c", "a;c", "d", "d;b"]
    triples = [
        (rater, item, frozenset(text.split(";")))
        for rater, texts in (("one", one), ("other", other))
        for item, text in enumerate(texts)
    ]

    sets = rb.Ratings.from_wide(pd.DataFrame({"one": one, "other": other}), separator=";")
    for name, distance in (("jaccard", metrics.jaccard_distance), ("masi", metrics.masi_distance)):
        theirs = metrics.agreement.AnnotationTask(triples, distance=distance).alpha()
        assert float(ag.krippendorff_alpha(sets, name)) == pytest.approx(theirs)  # type: ignore[arg-type]
    mine = ag.weight_table([[1, 2], [1, 2, 3, 4]], "masi").to_numpy()[0, 1]
    assert 1 - mine == pytest.approx(metrics.masi_distance({1, 2}, {1, 2, 3, 4}))


@pytest.mark.docs
@pytest.mark.parametrize(
    ("name", "options", "model"),
    [
        ("MACE", {"random_state": 0}, rb.MACE()),
        ("OneCoinDawidSkene", {"n_iter": 500}, rb.RaterTAP()),
        ("GLAD", {}, rb.LatentTAP()),
    ],
)
def test_labels_of_crowd_kit_are_those_of_similar_models(
    name: str, options: dict[str, Any], model: Any
) -> None:
    """All but a few of 178; the majority vote is the same on all."""
    peer = pytest.importorskip("crowdkit.aggregation")
    task, worker = np.indices(crowd().shape).reshape(2, -1)
    frame = pd.DataFrame({"task": task, "worker": worker, "label": crowd().ravel()})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = getattr(peer, name)(**options).fit_predict(frame).sort_index()
        votes = peer.MajorityVote().fit_predict(frame).sort_index()

    ratings = rb.Ratings.from_wide(crowd(), scale="nominal")
    labels = model.em(ratings).items()["category"].to_numpy()
    assert (labels == theirs.to_numpy()).mean() > 0.97
    assert (np.argmax(ratings.counts, axis=1) == votes.to_numpy()).all()


def test_optimum_of_rater_weighs_a_prior_as_one_less_in_each_category() -> None:
    """The mode of Dirichlet(a) given counts n is in proportion to n + a - 1, without a Jacobian."""
    gold = [0, 0, 0, 0, 1, 1, 2]
    frame = pd.DataFrame({"item": np.repeat(range(7), 2), "rater": list("ab") * 7})
    frame["rating"] = frame["gold"] = np.repeat(gold, 2)
    ratings = rb.Ratings.from_frame(frame, gold="gold", scale="nominal")

    here = rb.DawidSkene(prior_prevalence=rb.Dirichlet(2.0)).em(ratings, priors=True)

    there = np.bincount(gold) + 3.0 - 1
    assert here.parameters["prevalence"].values == pytest.approx(there / there.sum())
