"""The files of the package that a fit of MACE runs, as CONTRIBUTING shows them.

python -m docs.generate.path_of_a_fit
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from textwrap import wrap
from types import FrameType

import numpy as np
import pandas as pd

import reliabayes as rb

PACKAGE = Path(rb.__file__).parent
ROOMS = ("models", "sampling", "families", "inference", "likelihoods", "results")
WIDTH, INDENT = 100, 26


def main() -> None:
    """Print the figure."""
    print("\n".join(figure()))


def figure() -> list[str]:
    """Lines of the figure: for each room its files, in the order in which they are first called."""
    files = [path for path in path_of(rb.MACE(), labels()) if path.parts[0] in ROOMS]
    lines = []
    folders = dict.fromkeys(path.parent for path in files)
    for folder in sorted(folders, key=lambda each: ROOMS.index(each.parts[0])):
        names = ", ".join(path.stem for path in files if path.parent == folder)
        first, *others = wrap(names, WIDTH - INDENT)
        lines += [f"    {folder.as_posix() + '/':{INDENT - 4}}{first}"]
        lines += [" " * INDENT + each for each in others]
    return lines


def path_of(model: rb.models.RatingModel, ratings: rb.Ratings) -> list[Path]:
    """Files of the package whose functions a fit calls, in the order of their first calls."""
    found: dict[Path, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            found.setdefault(path.relative_to(PACKAGE))

    model.fit(ratings, seed=1, progress=False)  # what is imported only once
    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        model.fit(ratings, seed=1, progress=False)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return list(found)


def labels() -> rb.Ratings:
    """Five labels of each of a hundred items."""
    rng = np.random.default_rng(1)
    item, rater = np.divmod(np.arange(500), 5)
    truth, guess = rng.integers(0, 3, 100)[item], rng.integers(0, 3, 500)
    rating = np.where(rng.random(500) < 0.7, truth, guess)
    table = pd.DataFrame({"item": item, "rater": rater, "rating": rating})
    return rb.Ratings.from_frame(table, scale="nominal")


if __name__ == "__main__":
    main()
