"""What the app can compute where it runs: everything, or without Stan only a part."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from reliabayes.inference.host import WEBASSEMBLY

if TYPE_CHECKING:
    from reliabayes.models import RatingModel

LOOPBACK = ("127.0.0.1", "localhost", "::1")
NEEDS_STAN = (
    "{model} is sampled by Stan, which does not run inside a browser. On your own computer it "
    "does: install reliabayes with its extra app, and run `reliabayes app`."
)

_host = LOOPBACK[0]  # where this process serves the page


def runs_stan() -> bool:
    """Whether Stan's compiled programs can run here; they cannot inside a browser."""
    return sys.platform not in WEBASSEMBLY


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
    if runs_stan() or model.samples_in_numpy:
        return ""
    return NEEDS_STAN.format(model=type(model).__name__)


def privacy() -> str:
    """Where the ratings go, in a sentence for the page."""
    if not runs_stan():
        return "Nothing leaves this computer: the page computes inside your browser."
    if is_loopback():
        return "Nothing leaves this computer: the page comes from it, and it computes the answer."
    return (
        "Your ratings go to the computer that serves this page, and nowhere else. It forgets them "
        "when you close the page."
    )


def is_loopback() -> bool:
    """Whether only this computer can open the page."""
    return _host in LOOPBACK


def note_host(host: str) -> None:
    """Note the address at which the page is served.

    Parameters
    ----------
    host : str
        The address.
    """
    global _host
    _host = host
