"""The reference programs, every rating read on its own: compiled as our own are, and their data."""

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
    """Data of a textbook program: every rating on its own."""
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


def seconds(table: str) -> tuple[float, float]:
    """How long warmup and sampling took, by the table of draws that Stan wrote."""
    written = Path(table).read_text()
    warmup, sampling = re.findall(r"([\d.e+-]+) seconds \([WS]", written)
    return float(warmup), float(sampling)
