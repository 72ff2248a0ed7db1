"""Modes of a posterior that has several: what each says, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.results.model import Model
from reliabayes.results.posterior import Posterior

LEAST_SHOWN = 0.01  # share of a mode that is stated as a number
MAX_ERROR = 0.5  # nats of a mode's mass; beyond, the modes count as not weighed


@dataclass(frozen=True)
class Mode:
    """A mode of a posterior that has several.

    Attributes
    ----------
    mass : float
        Share of the posterior, in [0, 1], and of the draws; nan if chains did not start at it.
    error : float
        Standard error of the log of the mass, in nats.
    log_posterior : float
        Log density at the mode that EM found, in nats, up to a constant.
    climbs : int
        How many climbs of EM ended there, of 21 to 101.
    """

    mass: float
    error: float
    log_posterior: float
    climbs: int


class Combined(NamedTuple):
    """Draws as a fit keeps them, by name: parameters and the sampler's statistics.

    Attributes
    ----------
    parameters, statistics : mapping of str to array of shape (chains, draws, ...)
        By name.
    modes : tuple of Mode
        Modes of the posterior, the heaviest first; empty if it has one.
    relabelled : tuple of int
        Chains, from 0, whose true categories had switched and were relabelled.
    """

    parameters: Mapping[str, Array]
    statistics: Mapping[str, Array]
    modes: tuple[Mode, ...] = ()
    relabelled: tuple[int, ...] = ()


def are_weighed(modes: tuple[Mode, ...]) -> bool:
    """Whether the shares of modes in the draws are known to be those in the posterior."""
    return all(mode.mass >= 0 and mode.error <= MAX_ERROR for mode in modes)  # nan is neither


def modes_in_words(modes: tuple[Mode, ...]) -> str:
    """In how many ways the ratings can be read, and how probable each is; empty if in one.

    It is also empty if the modes are not weighed, which is a problem of the draws.
    """
    if not (modes and are_weighed(modes)):
        return ""
    *first, last = map(_percentage, (mode.mass for mode in modes))
    return (
        f"The ratings can be read in {len(modes)} ways, with posterior probabilities of "
        f"{', '.join(first)} and {last}. All numbers average over them."
    )


def differences_in_words(table: pd.DataFrame) -> list[str]:
    """A sentence on each mode but the heaviest, from the table of modes."""
    sentences = []
    for at in range(1, len(table)):
        row = table.iloc[at].to_dict()
        text = f"Reading {at + 1}, with {_percentage(row['mass'])}: "
        text += f"{int(row['items']):,} items have another "
        text += "most probable category"
        if "rater" in row:
            text += (
                f", and rater {row['rater']} an accuracy of {row['accuracy']:.0%} instead of "
                f"{row['accuracy_first']:.0%}"
            )
        sentences.append(f"{text}.")
    return sentences


def _percentage(share: float) -> str:
    if min(share, 1 - share) >= LEAST_SHOWN:
        return f"{share:.0%}"
    return f"less than {LEAST_SHOWN:.0%}" if share < 0.5 else f"more than {1 - LEAST_SHOWN:.0%}"


def table_of_modes(
    model: Model, posterior: Posterior[Any], of_draw: Codes | None, modes: tuple[Mode, ...]
) -> pd.DataFrame:
    """A row for each mode: its mass, and where it differs from the heaviest."""
    index = pd.RangeIndex(len(modes), name="mode")
    table = pd.DataFrame([vars(mode) for mode in modes], index=index)
    if of_draw is None:
        return table
    parts = [posterior.selected(of_draw == mode) for mode in range(len(modes))]
    best = [model.items(part, 0.9, np.random.default_rng(0))["category"] for part in parts]
    table["items"] = [int((each != best[0]).sum()) for each in best]
    accuracy = [model.quantities(part).get("accuracy") for part in parts]
    mean = [x.mean(("chain", "draw")) for x in accuracy if x is not None and "rater" in x.dims]
    if mean:
        farthest = [int(np.abs(each.values - mean[0].values).argmax()) for each in mean]
        raters = mean[0].indexes["rater"]
        table["rater"] = pd.Series([None, *(raters[at] for at in farthest[1:])], index, object)
        table["accuracy"] = [float(x[at]) for x, at in zip(mean, farthest, strict=True)]
        table["accuracy_first"] = [float(mean[0][at]) for at in farthest]
    return table
