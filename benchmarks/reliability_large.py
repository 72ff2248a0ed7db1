"""LogitICC at 200,000 ratings against other samplers, which start from its posterior."""

# arviz 0.23 has no types; arviz 1 has.
# numpyro is optional and may be missing where types are checked.
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
from benchmarks.reliability_peers import numpyro_chain
from benchmarks.textbook import build_textbook, chain_seconds, textbook_data
from reliabayes.partitions import in_memory

MODEL = rb.LogitICC()
ITEMS, POOL = 40_000, Pool(300, 5)
WARMUP, DRAWS = 60, 300  # to adapt the step size, and to estimate ESS; they take minutes
MONITORED = ("mean", "sd_item", "sd_rater")


def large() -> None:
    """Print ESS per CPU second of the whole fit, and of the other samplers' draws only."""
    ratings = read(binary(ITEMS, POOL))
    print(f"\nLogitICC: {ratings!r}; target: at least 20 times the ESS/s")
    before = _cpu_seconds()
    fit = MODEL.fit(ratings, seed=1, progress=False)
    ess = fit.summary(names=list(MONITORED))["ess_bulk"].to_numpy()
    ours = ess / (_cpu_seconds() - before)
    _print("reliabayes, whole fit", ess, ours, ours)
    for name, sampler in (("textbook Stan", _textbook), ("numpyro", _numpyro)):
        ess, theirs = sampler(fit)
        _print(f"{name}, draws only", ess, theirs, ours)


def _textbook(fit: rb.Fit) -> tuple[Any, Any]:
    """ESS and ESS per CPU second of sampling; starting point and metric are from the fit."""
    items, raters, drawn = fit.items(), fit.raters(), fit.posterior
    rng = np.random.default_rng(1)
    start: dict[str, Any] = {name: float(drawn[name].mean()) for name in MONITORED}
    start |= {
        "item_effect": rng.normal(items["mean"], items["sd"]).tolist(),
        "rater_effect": raters["mean"].tolist(),
    }
    population = drawn["mean"], np.log(drawn["sd_item"]), np.log(drawn["sd_rater"])
    metric = [*(float(x.var()) for x in population), *items["sd"] ** 2, *raters["sd"] ** 2]
    ratings = in_memory(fit.ratings, "textbook")
    data = textbook_data(MODEL.problem(ratings), ratings)
    cmdstanpy.disable_logging()
    with tempfile.TemporaryDirectory() as folder:
        program = build_textbook(rb.LogitICC, Path(folder), "--O1")
        before = _cpu_seconds()
        found = cmdstanpy.CmdStanModel(exe_file=program).sample(
            data,
            chains=1,
            iter_warmup=WARMUP,
            iter_sampling=DRAWS,
            seed=1,
            inits=start,
            inv_metric={"inv_metric": np.array(metric)},
            step_size=0.1,
            adapt_init_phase=0,
            adapt_metric_window=0,
            adapt_step_size=WARMUP,
            show_progress=False,
            output_dir=folder,
        )
        elapsed = _cpu_seconds() - before
        warmup, sampling = chain_seconds(found.runset.csv_files[0])
        draws = [found.stan_variable(name)[None] for name in MONITORED]
    ess = np.array([float(az.ess(x, method="bulk")) for x in draws])
    return ess, ess / (elapsed * sampling / (warmup + sampling))


def _numpyro(fit: rb.Fit) -> tuple[Any, Any]:
    """ESS and ESS per CPU second of NUTS of numpyro, with a non-centred parametrisation."""
    items, raters, drawn = fit.items(), fit.raters(), fit.posterior
    sds = {name: float(drawn[name].mean()) for name in ("sd_item", "sd_rater")}
    rng = np.random.default_rng(1)
    start: dict[str, Any] = {
        "item_score": rng.normal(items["mean"], items["sd"]) / sds["sd_item"],
        "mean": float(drawn["mean"].mean()),
        "rater_score": raters["mean"].to_numpy() / sds["sd_rater"],
        **sds,
    }
    # On the unconstrained scale of numpyro: logs of standard deviations.
    variances: dict[str, Any] = {
        "item_score": (items["sd"].to_numpy() / sds["sd_item"]) ** 2,
        "mean": float(drawn["mean"].var()),
        "rater_score": (raters["sd"].to_numpy() / sds["sd_rater"]) ** 2,
        **{name: float(np.log(drawn[name]).var()) for name in sds},
    }
    metric = np.concatenate([np.ravel(variances[name]) for name in sorted(variances)])
    chain = numpyro_chain(MODEL, in_memory(fit.ratings, "numpyro"), start, metric, WARMUP, DRAWS)
    chain.warmup(jax.random.PRNGKey(1))
    before = _cpu_seconds()
    chain.run(jax.random.PRNGKey(2))
    found = chain.get_samples(group_by_chain=True)
    draws = [np.asarray(found[name]) for name in MONITORED]
    elapsed = _cpu_seconds() - before
    ess = np.array([float(az.ess(x, method="bulk")) for x in draws])
    return ess, ess / elapsed


def _print(name: str, ess: Any, speed: Any, ours: Any) -> None:
    print(f"{name:28}" + "".join(f"{name:>10}" for name in MONITORED) + "  smallest")
    for label, row in (("ESS", ess), ("ESS per CPU second", speed), ("ratio", ours / speed)):
        cells = "".join(f"{value:10.4g}" for value in row)
        smallest = ours.min() / speed.min() if label == "ratio" else row.min()
        print(f"  {label:26}{cells}{smallest:10.4g}", flush=True)


def _cpu_seconds() -> float:
    return sum(os.times()[:4])


if __name__ == "__main__":
    large()
