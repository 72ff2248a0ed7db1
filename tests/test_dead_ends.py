"""What users try first works, or says what to pass."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import reliabayes as rb
from reliabayes import agreement, models, partitions, plots, simulate
from reliabayes.agreement import cohen


@pytest.fixture(scope="module")
def fit() -> rb.Fit:
    """Three raters rate twelve items on two days."""
    place = np.indices((12, 3, 2)).reshape(3, -1)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(place.T, columns=["item", "rater", "day"])
    frame["rating"] = rng.normal(size=12)[place[0]] + rng.normal(size=72) / 2
    ratings = rb.Ratings.from_frame(frame, facets=["day"])
    model = rb.GStudy("item x rater x day")
    return model.fit(ratings, chains=2, draws=50, warmup=50, seed=1, progress=False)


pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


@pytest.mark.parametrize("family", ["gaussian", "ordinal"])
def test_a_design_is_given_by_position(family: str) -> None:
    found = rb.GStudy("item x rater x day", family=family)  # type: ignore[arg-type]

    assert found == rb.GStudy(design="item x rater x day", family=family)  # type: ignore[arg-type]


def test_a_study_of_facets_says_which_iccs_it_reports(fit: rb.Fit) -> None:
    with pytest.raises(
        AttributeError, match=r"g and phi, ICCs of single ratings; d_study\(\{'rater': 4\}"
    ):
        fit.icc_k(4)


def test_the_plot_of_iccs_of_a_study_of_facets_has_those_between_and_within(fit: rb.Fit) -> None:
    ax = plots.icc(fit, ax=Figure().subplots())

    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["between raters", "within raters"]


@pytest.mark.parametrize("plot", [plots.d_study, plots.d_study_surface])
def test_the_plot_of_a_decision_study_says_what_to_pass(fit: rb.Fit, plot: object) -> None:
    with pytest.raises(TypeError, match=r"such as fit.d_study\(\{'rater': .*found Fit"):
        plot(fit)  # type: ignore[operator]


def test_the_plot_of_k_rater_reliability_takes_ratings() -> None:
    rng = np.random.default_rng(1)
    ratings = rb.Ratings.from_wide(rng.normal(size=(30, 1)) + rng.normal(size=(30, 3)))

    ax = plots.krr_curve(ratings, ax=Figure().subplots())

    assert ax.get_title(loc="left").startswith("Aggregates of 3 ratings per item reach")


@pytest.mark.parametrize("package", [agreement, models, partitions, plots, simulate])
def test_completion_shows_what_is_public_and_no_modules(package: ModuleType) -> None:
    names = dir(package)

    assert names == sorted(package.__all__)
    assert not any(isinstance(getattr(package, name), ModuleType) for name in names)


def test_modules_are_still_imported_by_their_full_path() -> None:
    assert cohen.cohen_kappa is agreement.cohen_kappa
