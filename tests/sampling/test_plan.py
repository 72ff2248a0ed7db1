"""Plans: what would sample a posterior, and why."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes.cli.app import app
from reliabayes.inference import stan
from tests.inference.test_gibbs import crowd
from tests.models.test_alarms import study
from tests.partitions.in_memory import in_parts

pytestmark = pytest.mark.slow

FEW, MANY = crowd(20, 3, 3, 3), crowd(200, 12, 6, 3)


@pytest.mark.parametrize(
    ("model", "ratings", "sampler", "warmup", "every"),
    [
        (rb.DawidSkene(), FEW, "gibbs", 200, 2),  # 1 + 4 * 20 parameters // 60 ratings
        (rb.DawidSkene(), MANY, "gibbs", 200, 1),
        (rb.MACE(), MANY, "gibbs", 200, 2),
        (rb.TAP(), MANY, "gibbs", 200, 2),
        (rb.HierarchicalDawidSkene(), MANY, "gibbs", 200, 7),  # 10,000 // (1,200 ratings + 72)
        (rb.LatentTAP(), FEW, "nuts", 500, 1),
        (rb.LatentTAP(), MANY, "hmc", 150, 1),
        (rb.Groupthink(), MANY, "nuts", 500, 1),
    ],
    ids=lambda each: type(each).__name__ if hasattr(each, "fit") else "",
)
def test_plan_has_what_gives_most_effective_draws(
    model: Any, ratings: rb.Ratings, sampler: str, warmup: int, every: int
) -> None:
    plan = model.plan(ratings)

    assert (plan.sampler, plan.warmup, plan.every) == (sampler, warmup, every)
    assert (plan.chains, plan.draws, plan.ess) == (4, 1000, 160)


def test_plan_reads_as_a_section_on_methods() -> None:
    said = " ".join(str(rb.LogitICC().plan(study(rb.LogitICC(), (30, 5), seed=1))).split())

    assert said.startswith(
        "LogitICC is sampled by NUTS, by the Stan program ordinal_icc, which suits any posterior. "
        "4 chains start around the mode of EM, with "
    )
    assert "adapted to an acceptance rate of 0." in said
    assert "Effects of items are integrated out over" in said
    assert "After that NUTS follows in small steps." in said
    assert "s on this machine." in said


def test_fit_keeps_its_plan(tmp_path: Path) -> None:
    model = rb.DawidSkene()

    fit = model.fit(MANY, seed=1, progress=False)
    fit.save(tmp_path / "fit.nc")

    assert fit.plan == model.plan(MANY)
    assert rb.Fit.load(tmp_path / "fit.nc").plan == fit.plan


def test_plan_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        rb.MACE().plan(MANY).draws = 1  # type: ignore[misc]


def test_plan_of_a_precision_has_the_draws_that_it_needs() -> None:
    plan = rb.MACE().plan(MANY, ess=5000)

    assert (plan.ess, plan.draws) == (5000, 2500)


def test_plan_of_parts_reads_them_for_em_only() -> None:
    plan = rb.DawidSkene().plan(in_parts(MANY, 3))

    assert plan == rb.DawidSkene().plan(MANY)
    assert plan.seconds is None


def test_plan_of_dispersed_chains_says_so() -> None:
    assert "4 chains start dispersed" in str(rb.MACE().plan(MANY, warm_start=False))


def test_bad_arguments_are_refused_as_by_fit() -> None:
    with pytest.raises(ValueError, match="LatentTAP has no Gibbs sampler"):
        rb.LatentTAP().plan(MANY, sampler="gibbs")


def test_command_line_prints_the_plan_and_fits_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ratings.csv"
    rb.datasets.load("shrout_fleiss_1979").to_csv(path, index=False)
    asked: list[int] = []
    sample = stan.sample

    def noted(program: str, **options: Any) -> Any:
        asked.append(options["draws"])
        return sample(program, **options)

    monkeypatch.setattr(stan, "sample", noted)

    printed = CliRunner().invoke(app, ["fit", str(path), "--plan"])

    assert printed.exit_code == 0
    assert printed.stdout.startswith("GaussianICC is sampled by NUTS")
    assert max(asked) < 100
