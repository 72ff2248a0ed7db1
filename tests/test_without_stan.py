"""What the package can do where neither Stan nor processes and threads can run, as in a browser."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reliabayes as rb
from tests.without_stan import run

pytestmark = pytest.mark.slow

WORK = """
import json
import numpy as np
import reliabayes as rb

def numbers(table):
    return table.select_dtypes("number").fillna(0.0).to_numpy(float).tolist()

labels = rb.read_ratings({labels!r}, scale="nominal")
scores = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
alpha = rb.agreement.krippendorff_alpha(labels)
items = {{
    model.name(): numbers(model.em(labels).items())
    for model in (rb.DawidSkene(), rb.MACE(), rb.TAP(), rb.RaterTAP())
}}
simulated = rb.simulate.rating_matrix(agreement=0.6, rng=np.random.default_rng(2))
study = rb.simulate.reliability_study(agreement=[0.5, 0.8], matrices=3, seed=1, progress=False)
found = {{
    "table": numbers(scores.agreement(method="percentile", replicates=50, seed=1)),
    "interval": [alpha.interval().lower, alpha.interval().upper],
    "items": items,
    "study": numbers(study),
    "simulated": simulated.values.tolist(),
}}
print(json.dumps(found))
"""
FIT = """
import json, warnings
import reliabayes as rb

ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
fit = rb.GaussianICC().fit(ratings, seed=1)
print(json.dumps([fit.settings.sampler, fit.summary()["mean"].to_dict(), len(fit.items())]))
"""
NEEDS_STAN = """
import reliabayes as rb

labels = rb.Ratings.from_frame(rb.datasets.load("dawid_skene_1979"), replicates="keep")
scores = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
for model, ratings in ((rb.DawidSkene(), labels), (rb.GStudy(), scores), (rb.OrdinalICC(), scores)):
    try:
        model.fit(ratings, seed=1)
    except rb.SamplingError as error:
        print(error)
try:
    rb.GaussianICC().fit(scores, sampler="nuts")
except rb.SamplingError as error:
    print(error)
"""


def write_labels(file: Path) -> Path:
    """File of labels by five raters, each worse than the one before."""
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=60)
    rows = [
        f"{item},{rater},{'ab'[truth[item] ^ int(rng.random() < 0.1 + 0.05 * rater)]}"
        for item in range(60)
        for rater in range(5)
    ]
    file.write_text("\n".join(["item,rater,rating", *rows]))
    return file


def check_same_work(there: dict[str, Any], file: Path) -> None:
    """Compare what was found there with what this process finds."""
    here: dict[str, Any] = {}
    with redirect_stdout(StringIO()):
        exec(WORK.format(labels=str(file)), here)
    found = here["found"]
    assert there.keys() == found.keys()
    assert there["items"].keys() == {"dawid-skene", "mace", "tap", "rater-tap"}
    for name, values in found.items():
        pairs = [(there[name], values)]
        if isinstance(values, dict):
            pairs = [(there[name][model], each) for model, each in values.items()]
        for one, other in pairs:
            assert np.asarray(one) == pytest.approx(np.asarray(other), rel=1e-6, abs=1e-8), name


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_labels(tmp_path_factory.mktemp("labels") / "labels.csv")


@pytest.fixture(scope="module")
def printed(labels: Path) -> list[str]:
    """Lines that one such process prints: of the same work, of a fit, and of four refusals."""
    return run("\n".join([WORK.format(labels=str(labels)), FIT, NEEDS_STAN])).splitlines()


def test_coefficients_em_and_simulation_are_those_of_a_computer(
    labels: Path, printed: list[str]
) -> None:
    check_same_work(json.loads(printed[0]), labels)


def test_gaussian_icc_takes_the_sampler_that_needs_no_stan(printed: list[str]) -> None:
    sampler, means, items = json.loads(printed[1])

    ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    here = rb.GaussianICC().fit(ratings, seed=1, sampler="independence")
    assert (sampler, items) == ("independence", 6)
    assert means == pytest.approx(here.summary()["mean"].to_dict())


def test_what_needs_stan_says_so_with_the_remedy(printed: list[str]) -> None:
    messages = printed[2:]

    subjects = ("The sampler of DawidSkene", "'gstudy'", "The sampler of OrdinalICC", "'gaussian")
    assert len(messages) == len(subjects)
    for message, subject in zip(messages, subjects, strict=True):
        assert subject in message
        assert "cannot run in a browser. Install reliabayes on a computer" in message
