"""The figure of what a fit runs, in CONTRIBUTING, is that of today."""

from __future__ import annotations

import pytest

from docs.generate.path_of_a_fit import figure
from tests.conftest import ROOT


@pytest.mark.docs
def test_contributing_shows_what_a_fit_of_mace_runs() -> None:
    assert "\n".join(figure()) in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
