"""GaussianICC against other samplers, its growth with size, and the gain from a warm start.

    python -m benchmarks.gaussian_icc [peers] [growth] [start]

The candidates take turns within one session, so that other load on the machine affects all of them
equally. README.md has the results.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import xarray as xr

from benchmarks.growth import growth
from benchmarks.simulated import simulate
from benchmarks.speed import Sampler, alternate
from benchmarks.textbook import build_textbook
from reliabayes import GaussianICC, Ratings
from reliabayes.arrays import Array
from reliabayes.families.normal.crossed import CrossedProblem
from reliabayes.results.posterior import Posterior

ROUNDS = 3
TARGET_RATIO = 80


def main() -> None:
    """Run the parts named on the command line, or all of them."""
    parts = {"peers": peers, "growth": growth, "start": start}
    for name in sys.argv[1:] or parts:
        parts[name]()


def peers() -> None:
    """Print the smallest bulk ESS per second for 500 items, 40 raters and 5 ratings per item."""
    from benchmarks.peers import DRAWS, numpyro_sampler, textbook_sampler

    print(
        f"\n2,500 ratings, {ROUNDS} rounds; target: at least {TARGET_RATIO} times the ESS/s of each"
    )
    ratings = Ratings.from_frame(simulate(500, 40, 5))
    problem = GaussianICC().problem(ratings)
    samplers: dict[str, Sampler] = {"reliabayes": ours}
    for name, draws in (("numpyro", DRAWS), ("numpyro, compilation only", 4)):
        samplers[name] = _quantities(numpyro_sampler(500, 40, draws), problem)
    with tempfile.TemporaryDirectory() as folder:
        for options in ((), ("--O1",)):
            program = build_textbook(GaussianICC, Path(folder), *options)
            name = ", ".join(["textbook Stan", *options])
            samplers[name] = _quantities(textbook_sampler(problem, program), problem)
        _alternate(samplers, ratings)


def start() -> None:
    """Print the gain from the warm start at 2,500 and at 100,000 ratings."""
    samplers: dict[str, Sampler] = {
        "warm start, 150 + 1000": ours,
        "no warm start, 1000 + 1000": lambda ratings, seed: _fit(ratings, seed, warm_start=False),
        "no warm start, 150 + 1000": lambda ratings, seed: _fit(
            ratings, seed, warm_start=False, warmup=150
        ),
    }
    for items, raters in ((500, 40), (20_000, 50)):
        print(f"\n{5 * items:,} ratings, {ROUNDS} rounds")
        _alternate(samplers, Ratings.from_frame(simulate(items, raters, 5)))


def _alternate(samplers: Mapping[str, Sampler], ratings: Ratings) -> None:
    ours(ratings, 0)  # warm-up: imports and caches
    alternate(samplers, ratings, ROUNDS)


def ours(ratings: Ratings, seed: int) -> xr.Dataset:
    """A fit by this package with default options: 4 chains of 150 + 1000 from a warm start."""
    return _fit(ratings, seed)


def _fit(
    ratings: Ratings, seed: int, *, warm_start: bool = True, warmup: int | None = None
) -> xr.Dataset:
    model = GaussianICC()
    fit = model.fit(ratings, seed=seed, warm_start=warm_start, warmup=warmup, progress=False)
    return fit.quantities


def _quantities(
    sample: Callable[[Ratings, int], Mapping[str, Array]], problem: CrossedProblem
) -> Sampler:
    """Quantities computed from another sampler's draws of the parameters."""

    def quantities(ratings: Ratings, seed: int) -> xr.Dataset:
        dims = ("chain", "draw")
        drawn = xr.Dataset({k: (dims, v) for k, v in sample(ratings, seed).items()})
        return GaussianICC().quantities(Posterior(drawn, ratings, problem))

    return quantities


if __name__ == "__main__":
    main()
