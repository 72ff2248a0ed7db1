"""All that the page tells of one fit, at a cost that large data do not run away with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd

from reliabayes.html_report.answers import answer
from reliabayes.html_report.blocks import Block, Heading
from reliabayes.html_report.wording import Answer
from reliabayes.results.fit import Fit

WORK = 20_000_000  # ratings times draws, that each thing told of items may cost
FEWEST = 50  # draws that items and replicates are told from, however many ratings there are


@dataclass(frozen=True)
class Options:
    """What the page is to say beside results.

    Attributes
    ----------
    prob : probability of all intervals
    reliability : of means of ratings, that is to be reached
    budget : bytes that the table of items, and that of raters, of each fit may take
    """

    prob: float
    reliability: float
    budget: int


@dataclass(frozen=True, eq=False)
class Told:
    """A fit with the name that it has on the page, its number there, and what it says."""

    name: str
    number: int
    fit: Fit
    options: Options

    @cached_property
    def for_items(self) -> Remembered:
        """The fit with no more draws than its items can be told from in a bearable time."""
        return remembered(self.fit, self.draws(400))

    @cached_property
    def for_raters(self) -> Remembered:
        """The same for raters, who are few."""
        return remembered(self.fit, max(FEWEST, WORK // self.fit.ratings.n_raters))

    def draws(self, most: int) -> int:
        """Number of draws that costs bearable time: ``most`` if there are few ratings."""
        return int(np.clip(WORK // len(self.fit.ratings), FEWEST, most))

    @cached_property
    def items(self) -> pd.DataFrame:
        """What the fit says of each item."""
        return self.for_items.items(self.options.prob)

    @cached_property
    def answer(self) -> Answer:
        """The answer in words and numbers."""
        return answer(
            self.fit,
            prob=self.options.prob,
            reliability=self.options.reliability,
            items=self.items if "probability" in self.items else None,
        )

    @cached_property
    def problems(self) -> list[str]:
        """What cannot be trusted of its draws."""
        return self.fit.diagnostics().problems


class Remembered(Fit):
    """A fit that finds what it says of items and raters once: tables and pictures ask for it."""

    def items(self, prob: float = 0.9, draws: int | None = 400) -> pd.DataFrame:
        """As of any fit."""
        return self._once(("items", prob, draws), partial(super().items, prob, draws))

    def raters(self, prob: float = 0.9, draws: int | None = None) -> pd.DataFrame:
        """As of any fit."""
        return self._once(("raters", prob, draws), partial(super().raters, prob, draws))

    def category_probabilities(self, draws: int | None = 400) -> pd.DataFrame:
        """As of any fit."""
        return self._once(("categories", draws), partial(super().category_probabilities, draws))

    def _once(self, what: Hashable, find: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        if what not in self._found:
            self._found[what] = find()
        return self._found[what]

    @cached_property
    def _found(self) -> dict[Hashable, pd.DataFrame]:
        return {}


def remembered(fit: Fit, draws: int) -> Remembered:
    """A fit of at most about so many draws, spread evenly over the chains."""
    made = fit.settings
    wanted = min(-(-draws // made.chains), made.draws)
    kept = {"draw": np.arange(wanted) * made.draws // wanted}
    found = Remembered(
        fit.model,
        fit.ratings,
        fit.posterior.isel(kept),
        fit.sample_stats.isel(kept) if fit.sample_stats else fit.sample_stats,
        replace(made, draws=wanted),
    )
    vars(found)["quantities"] = fit.quantities.isel(kept)  # they are known
    return found


def by_name(fits: Mapping[str, Fit], options: Options) -> list[Told]:
    """Fits as the page tells them, in their order."""
    return [Told(name, number, fit, options) for number, (name, fit) in enumerate(fits.items())]


def of_each(
    told: Sequence[Told], section: str, of_fit: Callable[[Told], Iterable[Block]]
) -> list[Block]:
    """Blocks of each fit, under its name if there are several."""
    blocks: list[Block] = []
    for each in told:
        if len(told) > 1:
            blocks.append(Heading(each.name, f"{section}-of-{each.number}"))
        blocks += of_fit(each)
    return blocks


@contextmanager
def heard_warnings() -> Iterator[list[str]]:
    """Warnings as texts, which the page tells."""
    heard: list[str] = []
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        yield heard
    heard += [str(each.message) for each in caught]
