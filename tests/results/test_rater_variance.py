"""Raters who differ more than items do: said wherever results are, and only then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

import reliabayes as rb
from reliabayes.html_report.answers import answer
from reliabayes.results.rater_variance import raters_outweigh_items
from tests.html_report.test_report import numbers, with_statistics
from tests.plots.test_plots import around, made_of, of_pools, rated

SHARE = "depends more on the rater than on the item"


def of_severe_raters() -> rb.Fit:
    """Severities differ more than items in all draws but those of a lucky quarter."""
    sd_rater = np.where(np.arange(400) < 100, 0.5, 2.0)
    ratings = rb.Ratings.from_frame(rated(20, 5, 4, "J{}"))
    sds = {"sd_item": np.ones(400), "sd_rater": sd_rater, "sd_residual": np.ones(400)}
    return with_statistics(made_of(rb.GaussianICC(), ratings, **sds, mean=around(5.0)))


def test_raters_who_differ_more_than_items_are_named_with_the_probability() -> None:
    fit = of_severe_raters()

    found = raters_outweigh_items(fit.quantities)

    # Of a variance of 1 + 4 + 1, raters have 4 and items 1.
    assert found == (
        f"With probability 0.75, a rating {SHARE} (labeler ICC 0.67, ICC 0.17), which makes "
        "single ratings unacceptable."
    )


def test_summary_text_and_answer_say_it_alike() -> None:
    fit = of_severe_raters()
    said = raters_outweigh_items(fit.quantities)

    assert said in fit.summary().attrs["caution"]
    assert said in " ".join(str(fit).split())
    assert answer(fit).claims[1].text == said.removesuffix(".")
    assert fit._repr_html_().count(SHARE) == 1


def test_nothing_is_said_of_raters_who_differ_less_than_items() -> None:
    fit = numbers()

    assert raters_outweigh_items(fit.quantities) == ""
    assert fit.summary().attrs["caution"] == ""
    assert SHARE not in answer(fit).verdict + str(fit)


def test_nothing_is_said_where_a_model_reports_no_labeler_icc() -> None:
    quantities = of_severe_raters().quantities.drop_vars("labeler_icc")

    assert raters_outweigh_items(quantities) == ""


def test_of_several_pools_those_are_named_whose_raters_differ_more_than_items() -> None:
    fit = of_pools()
    severe = fit.posterior["sd_rater"].where(fit.posterior["pool"] != "crowd", 9.0)
    fit = replace(fit, posterior=fit.posterior.assign(sd_rater=severe))

    found = raters_outweigh_items(fit.quantities)

    assert found.startswith("With probability above 0.99 in pool crowd, a rating depends more on")
    assert "expert" not in found
    assert found.removesuffix(".") in [claim.text for claim in answer(fit).claims]


def test_categories_are_compared_on_the_scale_of_the_ratings() -> None:
    def draws(value: float) -> xr.DataArray:
        return xr.DataArray(np.full((1, 4), value), dims=("chain", "draw"))

    latent = xr.Dataset({"icc": draws(0.3), "labeler_icc": draws(0.4)})
    observed = {"icc_observed": draws(0.3), "labeler_icc_observed": draws(0.2)}

    assert raters_outweigh_items(latent)
    assert raters_outweigh_items(latent.assign(observed)) == ""
