"""LogitICC, LogitXCC and GaussianXCC against their peers, and how they grow.

    python -m benchmarks.reliability [peers] [large] [million] [growth]

What is compared alternates in one session, so that the machine's other load falls on all alike;
README.md holds the figures.
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
from benchmarks.speed import Run, Sampler, alternate, compared
from benchmarks.textbook import build_textbook
from reliabayes.models.bases.rating_model import RatingModel

ROUNDS, SHORT_ROUNDS = 3, 15
MILLION = 500, 100_000  # items with 10 ratings each
CROWD = Pool(20, 3, least=2)
MANY = Pool(20, 5, sd_rater=0.6)
# As posteriors of LogitXCC put them of the hate speech in tweets on Brexit (Akhtar et al., 2021).
CONTROL = Pool(3, 3, mean=-3.4, sd_item=4.1, sd_rater=1.2)
TARGET = Pool(3, 3, mean=-5.8, sd_item=3.4, sd_rater=0.9)


def main() -> None:
    """Run the parts that are named, or all."""
    parts = {"peers": peers, "large": large, "million": million, "growth": growth}
    for name in sys.argv[1:] or parts:
        parts[name]()


def peers() -> None:
    """Print smallest bulk ESS per second of whole fits at about 5,000 ratings."""
    for promised, model, frame in (
        ("5 times", rb.LogitICC(), binary(1_000, Pool(40, 5))),
        ("80 times", rb.GaussianXCC(), continuous(500, MANY, MANY)),
        ("5 times", rb.LogitXCC(), binary(1_120, CONTROL, TARGET, correlation=0.83)),
        ("5 times", rb.LogitXCC(), binary(1_000, CROWD, CROWD)),
    ):
        _compare(promised, model, read(frame))


def large() -> None:
    """Print ESS per CPU second at 200,000 ratings, the peer's warmup made a present of."""
    from benchmarks.reliability_large import large

    large()


def million() -> None:
    """Print how much slower GaussianXCC is at 10^6 ratings than at 5,000, and a peer is there."""
    sample, sizes = _ours(rb.GaussianXCC()), [read(continuous(n, MANY, MANY)) for n in MILLION]
    sample(sizes[0], 0)  # loads what loads once
    promised = "promised: no slower at 10^6 ratings than at 5,000"
    print(f"\nGaussianXCC, {SHORT_ROUNDS} rounds; {promised}")
    print("  ratings  seconds   of CPU  min ESS  times as long  of CPU  times the ESS/s  of CPU")
    rounds = [[Run.of(sample, ratings, seed) for ratings in sizes] for seed in range(SHORT_ROUNDS)]
    for ratings, *runs in zip(sizes, *rounds, strict=True):
        spent = np.array([(run.seconds, run.processor_seconds) for run in runs])
        of_few = np.array([(few.seconds, few.processor_seconds) for few, _ in rounds])
        speed = [run.speed / few.speed for run, (few, _) in zip(runs, rounds, strict=True)]
        cells = *np.median(spent, axis=0), np.median([run.ess for run in runs])
        ratios = *np.median(spent / of_few, axis=0), *np.median(speed, axis=0)
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
        program = build_textbook("gaussian_xcc", Path(folder), "--O1")
        gradients = textbook_gradients(rb.GaussianXCC(), ratings, program)
    print(
        f"{speed:.0f} effective draws per CPU second, {gradients:.2g} gradients of textbook Stan:"
    )
    print(f"{speed / gradients:.0f} times as fast, if each of these were an effective draw")


def _compare(promised: str, model: RatingModel, ratings: rb.Ratings) -> None:
    from benchmarks.reliability_peers import numpyro_sampler, textbook_sampler

    print(f"\n{type(model).__name__}: {ratings!r}, {ROUNDS} rounds")
    print(f"promised: at least {promised} the ESS/s of each")
    with tempfile.TemporaryDirectory() as folder:
        name = model.name().replace("-", "_")
        program = build_textbook(name, Path(folder), "--O1")
        samplers = {
            "reliabayes": _ours(model),
            "numpyro": numpyro_sampler(model, ratings),
            "textbook Stan, --O1": textbook_sampler(model, ratings, program),
        }
        _ours(model)(read(binary(100, CROWD, CROWD)), 0)  # loads what loads once
        alternate(samplers, ratings, ROUNDS)


def _ours(model: RatingModel) -> Sampler:
    """Our fit as a user gets it, from a warm start."""

    def sample(ratings: rb.Ratings, seed: int) -> xr.Dataset:
        return compared(model.fit(ratings, seed=seed, progress=False).quantities)

    return sample


if __name__ == "__main__":
    main()
