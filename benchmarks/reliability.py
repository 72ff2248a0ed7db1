"""LogitICC, LogitXCC and GaussianXCC against other samplers, and their growth with size.

    python -m benchmarks.reliability [peers] [large] [million] [growth]

The candidates take turns within one session, so that other load on the machine affects all of them
equally. README.md has the results.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr

import reliabayes as rb
from benchmarks.pooled import Pool, binary, continuous, read
from benchmarks.reliability_growth import growth
from benchmarks.speed import Run, Sampler, alternate, comparable
from benchmarks.textbook import build_textbook
from reliabayes.models.rating_model import RatingModel

ROUNDS, SHORT_ROUNDS = 3, 15
ITEMS = 500, 100_000  # with 10 ratings each: 5,000 and 10^6 ratings
INCOMPLETE = Pool(20, 3, min_per_item=2)
BALANCED = Pool(20, 5, sd_rater=0.6)
# Posterior estimates of LogitXCC for hate speech in tweets on Brexit (Akhtar et al., 2021).
CONTROL = Pool(3, 3, mean=-3.4, sd_item=4.1, sd_rater=1.2)
TARGET = Pool(3, 3, mean=-5.8, sd_item=3.4, sd_rater=0.9)


def main() -> None:
    """Run the parts named on the command line, or all of them."""
    parts = {"peers": peers, "large": large, "million": million, "growth": growth}
    for name in sys.argv[1:] or parts:
        parts[name]()


def peers() -> None:
    """Print the smallest bulk ESS per second of whole fits at about 5,000 ratings."""
    for target, model, frame in (
        ("5 times", rb.LogitICC(), binary(1_000, Pool(40, 5))),
        ("80 times", rb.GaussianXCC(), continuous(500, BALANCED, BALANCED)),
        ("5 times", rb.LogitXCC(), binary(1_120, CONTROL, TARGET, correlation=0.83)),
        ("5 times", rb.LogitXCC(), binary(1_000, INCOMPLETE, INCOMPLETE)),
    ):
        _compare(target, model, read(frame))


def large() -> None:
    """Print ESS per CPU second at 200,000 ratings, without the warmup of the other samplers."""
    from benchmarks.reliability_large import large

    large()


def million() -> None:
    """Print the time of GaussianXCC at 10^6 ratings relative to 5,000 ratings and to Stan."""
    sample = _ours(rb.GaussianXCC())
    sizes = [read(continuous(n, BALANCED, BALANCED)) for n in ITEMS]
    sample(sizes[0], 0)  # warm-up: imports and caches
    target = "target: no slower at 10^6 ratings than at 5,000"
    print(f"\nGaussianXCC, {SHORT_ROUNDS} rounds; {target}")
    print("  ratings  seconds    CPU s  min ESS    time ratio     CPU      ESS/s ratio     CPU")
    rounds = [[Run.of(sample, ratings, seed) for ratings in sizes] for seed in range(SHORT_ROUNDS)]
    for ratings, *runs in zip(sizes, *rounds, strict=True):
        times = np.array([(run.seconds, run.cpu_seconds) for run in runs])
        small_times = np.array([(small.seconds, small.cpu_seconds) for small, _ in rounds])
        speed = [run.speed / small.speed for run, (small, _) in zip(runs, rounds, strict=True)]
        cells = *np.median(times, axis=0), np.median([run.ess for run in runs])
        ratios = *np.median(times / small_times, axis=0), *np.median(speed, axis=0)
        print(
            "{:9,}{:9.2f}{:9.2f}{:9.0f}{:15.2f}{:8.2f}{:17.2f}{:8.2f}".format(
                len(ratings), *cells, *ratios
            ),
            flush=True,
        )

    _print_gradients(sizes[-1], cells[2] / cells[1])


def _print_gradients(ratings: rb.Ratings, speed: float) -> None:
    from benchmarks.reliability_peers import textbook_gradients

    with tempfile.TemporaryDirectory() as folder:
        program = build_textbook(rb.GaussianXCC, Path(folder), "--O1")
        gradients = textbook_gradients(rb.GaussianXCC().problem(ratings), ratings, program)
    print(f"{speed:.0f} effective draws per CPU second; textbook Stan: {gradients:.2g} gradients")
    print(f"{speed / gradients:.0f} times as fast even if each gradient gave an effective draw")


def _compare(target: str, model: RatingModel, ratings: rb.Ratings) -> None:
    from benchmarks.reliability_peers import numpyro_sampler, textbook_sampler

    print(f"\n{type(model).__name__}: {ratings!r}, {ROUNDS} rounds")
    print(f"target: at least {target} the ESS/s of each")
    problem = model.problem(ratings)
    with tempfile.TemporaryDirectory() as folder:
        program = build_textbook(type(model), Path(folder), "--O1")
        samplers = {
            "reliabayes": _ours(model),
            "numpyro": numpyro_sampler(model, problem, ratings),
            "textbook Stan, --O1": textbook_sampler(model, problem, program),
        }
        _ours(model)(read(binary(100, INCOMPLETE, INCOMPLETE)), 0)  # warm-up: imports and caches
        alternate(samplers, ratings, ROUNDS)


def _ours(model: RatingModel) -> Sampler:
    """A fit by this package with default options, from a warm start."""

    def sample(ratings: rb.Ratings, seed: int) -> xr.Dataset:
        return comparable(model.fit(ratings, seed=seed, progress=False).quantities)

    return sample


if __name__ == "__main__":
    main()
