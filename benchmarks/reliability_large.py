"""LogitICC at 200,000 ratings, and its peers, warmed up by what our fit has found."""

# arviz 0.23 has no types, arviz 1 has.
# numpyro is an extra that need not be installed where types are checked.
# mypy: disable-error-code="no-untyped-call,import-not-found,import-untyped"

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import arviz as az
import cmdstanpy
import jax
import numpy as np

import reliabayes as rb
from benchmarks.pooled import Pool, binary, read
from benchmarks.reliability_peers import numpyro_chain, textbook_data
from benchmarks.textbook import build_textbook, seconds

ITEMS, POOL = 40_000, Pool(300, 5)
STEPS, DRAWS = 60, 300  # to adapt the step size, and to judge by: minutes
JUDGED = ("mean", "sd_item", "sd_rater")


def large() -> None:
    """Print ESS per CPU second: of our whole fit, and of the peer's draws alone."""
    ratings = read(binary(ITEMS, POOL))
    print(f"\nLogitICC: {ratings!r}; promised: at least 20 times the ESS/s")
    before = _processor_seconds()
    fit = rb.LogitICC().fit(ratings, seed=1, progress=False)
    ess = fit.summary(names=list(JUDGED))["ess_bulk"].to_numpy()
    ours = ess / (_processor_seconds() - before)
    _print("reliabayes, whole fit", ess, ours, ours)
    for name, peer in (("textbook Stan", _textbook), ("numpyro", _numpyro)):
        ess, theirs = peer(fit)
        _print(f"{name}, draws alone", ess, theirs, ours)


def _textbook(fit: rb.Fit) -> tuple[Any, Any]:
    """ESS, and ESS per CPU second of sampling: starts and metric are those of our posterior."""
    items, raters, drawn = fit.items(), fit.raters(), fit.posterior
    rng = np.random.default_rng(1)
    start: dict[str, Any] = {name: float(drawn[name].mean()) for name in JUDGED}
    start |= {
        "item_effect": rng.normal(items["mean"], items["sd"]).tolist(),
        "rater_effect": raters["mean"].tolist(),
    }
    few = drawn["mean"], np.log(drawn["sd_item"]), np.log(drawn["sd_rater"])
    metric = [*(float(x.var()) for x in few), *items["sd"] ** 2, *raters["sd"] ** 2]
    cmdstanpy.disable_logging()
    with tempfile.TemporaryDirectory() as folder:
        program = build_textbook("logit_icc", Path(folder), "--O1")
        before = _processor_seconds()
        found = cmdstanpy.CmdStanModel(exe_file=program).sample(
            textbook_data(fit.model, fit.ratings),
            chains=1,
            iter_warmup=STEPS,
            iter_sampling=DRAWS,
            seed=1,
            inits=start,
            inv_metric={"inv_metric": np.array(metric)},
            step_size=0.1,
            adapt_init_phase=0,
            adapt_metric_window=0,
            adapt_step_size=STEPS,
            show_progress=False,
            output_dir=folder,
        )
        spent = _processor_seconds() - before
        warmup, sampling = seconds(found.runset.csv_files[0])
        draws = [found.stan_variable(name)[None] for name in JUDGED]
    ess = np.array([float(az.ess(x, method="bulk")) for x in draws])
    return ess, ess / (spent * sampling / (warmup + sampling))


def _numpyro(fit: rb.Fit) -> tuple[Any, Any]:
    """The same of NUTS of numpyro, effects non-centred."""
    items, raters, drawn = fit.items(), fit.raters(), fit.posterior
    sds = {name: float(drawn[name].mean()) for name in ("sd_item", "sd_rater")}
    rng = np.random.default_rng(1)
    start: dict[str, Any] = {
        "item_score": rng.normal(items["mean"], items["sd"]) / sds["sd_item"],
        "mean": float(drawn["mean"].mean()),
        "rater_score": raters["mean"].to_numpy() / sds["sd_rater"],
        **sds,
    }
    variances: dict[
        str, Any
    ] = {  # of what numpyro samples by, which are logs of standard deviations
        "item_score": (items["sd"].to_numpy() / sds["sd_item"]) ** 2,
        "mean": float(drawn["mean"].var()),
        "rater_score": (raters["sd"].to_numpy() / sds["sd_rater"]) ** 2,
        **{name: float(np.log(drawn[name]).var()) for name in sds},
    }
    metric = np.concatenate([np.ravel(variances[name]) for name in sorted(variances)])
    chain = numpyro_chain(fit.model, fit.ratings, start, metric, STEPS, DRAWS)
    chain.warmup(jax.random.PRNGKey(1))
    before = _processor_seconds()
    chain.run(jax.random.PRNGKey(2))
    found = chain.get_samples(group_by_chain=True)
    draws = [np.asarray(found[name]) for name in JUDGED]
    spent = _processor_seconds() - before
    ess = np.array([float(az.ess(x, method="bulk")) for x in draws])
    return ess, ess / spent


def _print(name: str, ess: Any, speed: Any, ours: Any) -> None:
    print(f"{name:28}" + "".join(f"{judged:>10}" for judged in JUDGED) + "  smallest")
    for label, row in (("ESS", ess), ("ESS per CPU second", speed), ("ratio", ours / speed)):
        cells = "".join(f"{value:10.4g}" for value in row)
        least = ours.min() / speed.min() if label == "ratio" else row.min()
        print(f"  {label:26}{cells}{least:10.4g}", flush=True)


def _processor_seconds() -> float:
    return sum(os.times()[:4])


if __name__ == "__main__":
    large()
