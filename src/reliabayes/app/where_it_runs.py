"""What the app can compute where it runs: everything, or without Stan only a part."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reliabayes.models import RatingModel

WITHOUT_STAN = ("GaussianICC",)  # models that NumPy samples where Stan cannot run
NEEDS_STAN = (
    "{model} is sampled by Stan, which does not run inside a browser. On your own computer it "
    "does: install reliabayes with its extra app, and run `reliabayes app`."
)


def runs_stan() -> bool:
    """Whether Stan's compiled programs can run here; they cannot inside a browser."""
    return sys.platform != "emscripten"


def refusal(model: RatingModel[Any]) -> str:
    """Why a model cannot be fitted here.

    Parameters
    ----------
    model : RatingModel
        The model.

    Returns
    -------
    str
        A sentence for the page; empty if the model can be fitted.
    """
    name = type(model).__name__
    return "" if runs_stan() or name in WITHOUT_STAN else NEEDS_STAN.format(model=name)
