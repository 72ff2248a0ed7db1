"""The reference programs of ``stan/reference/``: compilation with our toolchain, and data."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import reliabayes as rb
from hatch_build import STAN, Toolchain
from reliabayes.models.bases.annotation import AnnotationModel


def build_textbook(name: str, out: Path, *options: str) -> Path:
    """Compile a program of ``stan/reference/`` with options of stanc, linked with our runner."""
    tools = Toolchain.find()
    program = out / "-".join([f"textbook_{name}", *options])
    source = program.with_suffix(".cpp")
    tools.stanc(*options, f"--o={source}", STAN / "reference" / f"{name}.stan")
    tools.link([tools.compile_runner(), tools.compile(source, [source])], program)
    shutil.copy2(tools.httpstan / "lib" / "libtbb.so.2", out)
    return program


def textbook_data(model: AnnotationModel, ratings: rb.Ratings) -> dict[str, Any]:
    """Data of a textbook program, with one element per rating."""
    priors = model.priors(len(ratings.categories))
    return {
        "N": len(ratings),
        "I": ratings.n_items,
        "R": ratings.n_raters,
        "K": len(ratings.categories),
        "item": ratings.item + 1,
        "rater": ratings.rater + 1,
        "rating": ratings.category + 1,
        **{name: value for name, value in priors.items() if name.startswith("prior_")},
    }


def chain_seconds(path: str) -> tuple[float, float]:
    """Seconds of warmup and of sampling, from the CSV file that Stan wrote."""
    written = Path(path).read_text()
    warmup, sampling = re.findall(r"([\d.e+-]+) seconds \([WS]", written)
    return float(warmup), float(sampling)
