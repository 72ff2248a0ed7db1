"""What Gibbs sampling is asked for while a model is fitted, and what it draws."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from reliabayes.inference import gibbs
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.stan import Draws


class Run(NamedTuple):
    """Arguments and result of ``gibbs.sample``."""

    own: Conjugate
    options: dict[str, Any]
    drawn: Draws


def noted_runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """All runs from now on."""
    found: list[Run] = []
    sample = gibbs.sample

    def noted(own: Conjugate, **options: Any) -> Draws:
        found.append(Run(own, options, sample(own, **options)))
        return found[-1].drawn

    monkeypatch.setattr(gibbs, "sample", noted)
    return found
