"""Sentences for papers, their references and the points of guidelines."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import reliabayes as rb
from reliabayes import agreement as ag
from reliabayes.reporting.numbers import estimate, p_value
from reliabayes.reporting.references import Reference, references
from reliabayes.results.contrast import Contrast
from tests.agreement.test_concordance import MINI, WRIGHT, of
from tests.agreement.test_margins import VISION

SOFTWARE = f"computed with reliabayes {rb.__version__} (The reliabayes developers, 2026)."
ENTRIES = list(references().values())
JUDGES = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
SAS = rb.Ratings.from_table(  # PROC FREQ, AGREE: z of kappa at 0 is 3.2626
    np.array([[0, 4, 1], [0, 8, 0], [0, 1, 5]]), scale="ordered", categories=[1, 2, 3]
)
CALLS: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (ag.cohen_kappa, (SAS,)),
    (ag.cohen_kappa, (SAS, "linear")),
    (ag.scott_pi, (SAS,)),
    (ag.light_kappa, (SAS,)),
    (ag.fleiss_kappa, (SAS,)),
    (ag.conger_kappa, (SAS,)),
    (ag.iota, (SAS,)),
    (ag.brennan_prediger, (SAS,)),
    (ag.gwet_ac1, (SAS,)),
    (ag.gwet_ac2, (SAS,)),
    (ag.krippendorff_alpha, (SAS,)),
    (ag.information_agreement, (SAS,)),
    (ag.spearman_rho, (SAS,)),
    (ag.mean_correlation, (SAS, "kendall")),
    (ag.icc, (JUDGES,)),
    (ag.concordance, (JUDGES,)),
    (ag.kendall_w, (JUDGES,)),
    (ag.measurement_error, (JUDGES,)),
    (ag.measurement_error, (JUDGES, "within")),
    (ag.limits_of_agreement, (of(WRIGHT, MINI),)),
    (ag.g_study, (JUDGES,)),
    (ag.marginal_homogeneity, (SAS,)),
    (ag.marginal_homogeneity, (SAS, "bowker")),
)


# What is said of each kind of result, with published numbers.


def test_a_coefficient_is_reported_with_its_interval_design_estimand_and_version() -> None:
    said = rb.methods(ag.icc(JUDGES, "ICC(2,1)"), items="targets", raters="judges")

    assert said.sentence == (
        "Inter-rater reliability was ICC(2,1) = .29, 95% CI [.02, .76], 6 targets, 4 judges, 24 "
        "ratings; ICC(2,1) is the proportion of the variance of a single rating that is between "
        "targets, with judges drawn from a population, in absolute agreement (Shrout & Fleiss, "
        "1979); the interval, from a model of normal effects, is for other targets and other "
        f"judges (McGraw & Wong, 1996); {SOFTWARE}"
    )


@pytest.mark.slow
def test_the_finding_of_an_agreement_table_is_reported() -> None:
    table = JUDGES.agreement(prob=0.9)

    said = rb.methods(table)

    assert said.sentence == rb.methods(ag.icc(JUDGES, "ICC(2,1)"), prob=0.9).sentence
    assert rb.methods(pickle.loads(pickle.dumps(table))) == said


def test_a_test_is_reported_by_its_statistic_and_p() -> None:
    kappa = rb.methods(ag.cohen_kappa(SAS).test(error="null"))
    margins = rb.methods(ag.marginal_homogeneity(rb.Ratings.from_table(np.array(VISION))))

    assert kappa.sentence == (
        "A test (Cohen, 1960; Fleiss et al., 1969) of the hypothesis that Cohen's kappa is 0 gave "
        f"z = 3.26, p = .001, 19 items, 2 raters, 38 ratings; {SOFTWARE}"
    )
    assert margins.sentence == (
        "A Stuart-Maxwell test (Stuart, 1955; Maxwell, 1970) of the hypothesis that both raters "
        "use each category equally often gave χ²(3, N = 7477) = 11.96, p = .008, 7,477 items, 2 "
        f"raters; {SOFTWARE}"
    )


def test_limits_of_agreement_are_reported_with_their_intervals() -> None:
    said = rb.methods(ag.limits_of_agreement(of(WRIGHT, MINI)), items="people")

    assert said.sentence == (
        "The mean difference of 0 and 1 was -2.12, 95% CI [-22.05, 17.81], and the 95% limits of "
        "agreement were -78.10, 95% CI [-124.16, -53.09], and 73.86, 95% CI [48.86, 119.93], 17 "
        "people, 2 raters; 95% of differences of single ratings lie between the limits (Bland & "
        "Altman, 1986); the intervals, exact for normal differences, are for other people "
        f"(Carkeet, 2015); {SOFTWARE}"
    )


def test_errors_of_measurement_are_reported_in_units_of_the_rating() -> None:
    said = rb.methods(ag.measurement_error(JUDGES, "consistency"))

    assert said.sentence.startswith(  # root of Shrout & Fleiss' mean square of 1.02
        "The standard error of measurement was 1.01, 95% CI [0.75, 1.56], and the minimal "
    )


def test_a_g_study_is_reported_by_its_coefficients() -> None:
    said = rb.methods(ag.g_study(JUDGES))

    assert said.sentence.startswith(  # ICC(2,1) and ICC(3,1) of Shrout & Fleiss
        "Single ratings had an index of dependability of .29, a generalizability coefficient of "
        ".71, and a standard error of measurement of 2.50, 6 items, 4 raters, 24 ratings; "
    )


@pytest.mark.slow
def test_a_fit_is_reported_with_its_model_and_diagnostics() -> None:
    fit = rb.GaussianICC().fit(JUDGES, seed=1, progress=False)
    row = fit.summary(prob=0.95).loc["icc"]
    median, lower, upper = map(float, row[["median", "lower_95", "upper_95"]].to_numpy())
    interval = estimate(median, lower, upper, "95% CrI", bounded=True)

    said = rb.methods(fit, prob=0.95)

    assert said.sentence.startswith(f"Inter-rater reliability was ICC = {interval}, 6 items")
    assert "Bayesian model GaussianICC" in said.sentence
    assert f"largest R-hat {fit.diagnostics().r_hat:.3f}" in said.sentence
    keys = [each.key for each in said.references]
    assert keys == ["shrout1979", "carpenter2017", "vehtari2021", "reliabayes"]


def test_a_point_estimate_is_reported_without_an_interval() -> None:
    said = rb.methods(rb.GaussianICC().em(JUDGES, reml=True))  # analysis of variance, if balanced

    assert said.sentence.startswith("Inter-rater reliability was ICC = .29, 6 items, 4 raters, 24 ")
    assert "maximum-likelihood estimates of the model GaussianICC" in said.sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "scale", "pool", "beginning"),
    [
        (rb.DawidSkene(), "nominal", None, r"Validity of single ratings was accuracy = \.\d\d, "),
        (rb.RaterGroupthink(), "nominal", None, r"Validity of single ratings was a = \.\d\d, "),
        (rb.GStudy(), "numeric", None, r"Dependability of single ratings was Phi = \.\d\d, "),
        pytest.param(
            rb.GaussianXCC(),
            "numeric",
            {0: "x", 1: "x", 2: "y", 3: "y"},
            r"Agreement between pools of raters was normalized xCC\[x, y\] = \.\d\d, 90% CrI \[",
            marks=pytest.mark.proof,
        ),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, rb.RatingModel) else "",
)
def test_each_family_of_models_reports_what_it_is_for(
    model: Any, scale: Any, pool: Any, beginning: str
) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 30)[:, None]
    table = np.where(rng.random((30, 4)) < 0.8, truth, 1 - truth)
    scores = table + (rng.normal(0, 0.3, (30, 4)) if scale == "numeric" else 0)
    fit = model.fit(rb.Ratings.from_wide(scores, scale=scale, pool=pool), seed=1, progress=False)

    said = rb.methods(fit)

    assert re.match(beginning, said.sentence)
    assert fit.model.references
    assert set(fit.model.references) <= {each.key for each in said.references}


def test_a_table_of_iccs_is_reported_by_one_of_them_with_its_test() -> None:
    said = rb.methods(ag.icc_table(JUDGES, null=0.2))

    assert said.sentence.startswith(  # by the formulas of McGraw & Wong (1996), table 8
        "Inter-rater reliability was ICC(2,1) = .29, 95% CI [.02, .76], F(5, 5.302) = 1.54, "
        "p = .317, 6 items, 4 raters, 24 ratings; "
    )


def test_a_table_of_pairs_is_reported_by_its_mean_and_its_extremes() -> None:
    wide = np.array([["a", "a", "a"], ["b", "b", "a"], ["b", "a", "b"], ["a", "a", "a"]])
    table = ag.pairwise(rb.Ratings.from_wide(wide), ag.cohen_kappa)

    said = rb.methods(table, raters="teachers")

    assert said.sentence.startswith(  # the kappas are 1/2, 1/2 and -1/3
        "Cohen's kappa of 3 pairs of teachers was .22 on average, from -.33 (1 and 2) to .50 (0 "
        "and 1), 4 items, 3 teachers, 12 ratings; "
    )
    assert table.attrs["finding"].startswith("Cohen's kappa of 3 pairs of raters was .22 on ")
    assert [each.key for each in said.references][-2:] == ["light1971", "reliabayes"]


def test_the_test_of_a_judge_is_reported_by_its_rates() -> None:
    same = np.resize([1, 0], (40, 1)) * np.ones((1, 4), int)
    ratings = rb.Ratings.from_wide(pd.DataFrame(same, columns=["Ann", "Bob", "Cem", "judge"]))

    said = rb.methods(ag.alt_test(ratings, "judge", ["Ann", "Bob", "Cem"]))

    assert said.sentence == (
        "In the alternative annotator test (Calderon et al., 2025) judge won against 3 of 3 "
        "people, a winning rate of 1.00, and had a mean advantage probability of 1.00; epsilon "
        "was 0.2 and the false discovery rate 0.05; a judge passes with a winning rate of 0.5 or "
        f"more; {SOFTWARE}"
    )


def test_a_contrast_is_reported_with_its_interval_and_probability() -> None:
    draws = xr.DataArray(np.arange(-10.0, 91.0)[None] / 100, dims=("chain", "draw"))
    contrast = Contrast("v4", "v3", xr.Dataset({"rate of good": draws}), 0.9)

    said = rb.methods(contrast)

    assert said.sentence.startswith(  # 90 of the 101 values are above 0
        "The difference between v4 and v3 in rate of good was .40, 90% CrI [-.05, .85], with "
        "probability .89 above 0; "
    )


def test_an_undefined_coefficient_is_reported_with_the_reason() -> None:
    same = rb.Ratings.from_wide(pd.DataFrame([["a", "a"], ["a", "a"], ["b", None]]))

    with pytest.warns(UserWarning, match="undefined"):
        said = rb.methods(ag.cohen_kappa(same))

    assert said.sentence.startswith("Cohen's kappa was undefined, because all ratings are the same")


@pytest.mark.slow
def test_ratings_in_parts_are_reported_with_their_size(tmp_path: Any) -> None:
    frame = rb.datasets.load("shrout_fleiss_1979")
    dataset = rb.partition(frame, tmp_path / "parts", partitions=2, scale="numeric")

    said = rb.methods(ag.icc(dataset, "ICC(3,1)"))

    assert "ICC(3,1) = .71" in said.sentence
    assert ", 6 items, 4 raters, 24 ratings; " in said.sentence


@pytest.mark.parametrize("result", [1.0, pd.DataFrame({"value": [1.0]})], ids=["number", "table"])
def test_what_has_no_sentence_is_named(result: Any) -> None:
    with pytest.raises(TypeError, match=f"found {type(result).__name__}"):
        rb.methods(result)


# References.


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_references_are_those_of_the_docstring(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    cited = rb.methods(function(*arguments)).references[:-1]

    # those of intervals stand where intervals are documented
    documented = f"{inspect.getdoc(function)} {ag.Coefficient.interval.__doc__}"
    documented += str(inspect.getdoc(ag.concordance))
    assert cited
    assert [each.key for each in cited if not stands_in(each, documented)] in ([], ["zou2009"])


@pytest.mark.parametrize("model", rb.MODELS, ids=lambda model: model.__name__)
def test_references_of_a_model_are_those_of_its_docstring(model: type[rb.RatingModel]) -> None:
    cited = [references()[key] for key in model.references]

    assert cited
    assert all(stands_in(each, str(model.__doc__)) for each in cited)


@pytest.mark.parametrize("reference", ENTRIES, ids=lambda each: each.key)
def test_an_entry_is_bibtex_with_what_its_type_requires(reference: Reference) -> None:
    kind = re.match(r"@(\w+)\{", reference.bibtex)
    required = {
        "article": {"author", "title", "journal", "volume", "year"},
        "book": {"author", "title", "publisher", "year"},
        "inproceedings": {"author", "title", "booktitle", "year"},
        "misc": {"author", "title", "url"},
        "software": {"author", "title", "version", "year"},
    }

    assert kind is not None
    assert required[kind[1]] <= set(reference.fields)
    depth = np.cumsum([{"{": 1, "}": -1}.get(letter, 0) for letter in reference.bibtex])
    assert depth.min() >= 0
    assert [depth[-1], np.flatnonzero(depth == 0)[-1]] == [0, len(reference.bibtex) - 1]


def test_bibtex_has_each_reference_once() -> None:
    difference = ag.cohen_kappa(SAS) - ag.cohen_kappa(SAS, "linear")

    keys = re.findall(r"^@\w+\{(\w+),$", rb.methods(difference).bibtex(), re.MULTILINE)

    assert keys == ["cohen1960", "cohen1968", "reliabayes"]


def test_a_reference_is_written_in_apa_style() -> None:
    assert str(references()["silver1987"]) == (
        "Silver, N. C., & Dunlap, W. P. (1987). Averaging correlation coefficients: Should "
        "Fisher's z transformation be used? Journal of Applied Psychology, 72(1), 146\u2013148. "
        "https://doi.org/10.1037/0021-9010.72.1.146"
    )


# Numbers in APA style.


@pytest.mark.parametrize(
    ("value", "lower", "upper", "text"),
    [
        (0.996, 0.993, 0.998, ".996, 95% CI [.993, .998]"),
        (-0.05, -0.5, 1.0, "-.05, 95% CI [-.50, 1.00]"),
        (0.5, float("nan"), float("nan"), ".50"),
    ],
)
def test_an_estimate_has_as_many_decimals_as_its_interval_allows(
    value: float, lower: float, upper: float, text: str
) -> None:
    assert estimate(value, lower, upper, "95% CI", bounded=True) == text


def test_small_p_values_are_not_written_out() -> None:
    assert [p_value(0.0004), p_value(0.0456)] == ["p < .001", "p = .046"]


# Guidelines.


def test_grras_has_its_fifteen_points_of_which_the_ratings_answer_four() -> None:
    points = rb.methods(ag.icc(JUDGES)).guideline("GRRAS")

    assert points.index.tolist() == list(range(1, 16))
    assert points.index[points["by"] != "author"].tolist() == [6, 10, 11, 13]
    assert points.loc[11, "answer"] == "6 items, 4 raters, 24 ratings"
    assert "10.1016/j.jclinepi.2010.03.002" in points.attrs["source"]


@pytest.mark.parametrize(
    ("result", "answered"),
    [
        (ag.icc(JUDGES), [6, 7]),
        (ag.cohen_kappa(SAS, "linear"), [6, 8]),
        (ag.cohen_kappa(SAS), [6, 9]),
        (ag.measurement_error(JUDGES), [6, 10]),
        (ag.specific_agreement(SAS)[2], [6, 11]),
    ],
    ids=["icc", "weighted kappa", "kappa", "error", "specific agreement"],
)
def test_cosmin_asks_for_the_estimate_that_suits_the_ratings(
    result: Any, answered: list[int]
) -> None:
    points = rb.methods(result).guideline("COSMIN")

    assert points.index[points["by"] != "author"].tolist() == answered


def test_an_unknown_guideline_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="GRRAS, COSMIN, not 'STARD'"):
        rb.methods(ag.icc(JUDGES)).guideline("STARD")


# Helpers.


def stands_in(reference: Reference, text: str) -> bool:
    """Whether a docstring gives a reference, by its DOI or address, or else its author."""
    address = reference.doi or reference.fields.get("url", "")
    return (address or reference.cited.partition(",")[0].partition(" ")[0]) in text
