"""Progress takes one line of a terminal or a notebook, and states no time left."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from reliabayes.progress import progress_bar


def test_a_bar_has_no_time_left_which_waiting_chains_make_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = [0]

    with progress_bar("a program", 200, lambda: done[0], show=True) as update:
        done[0] = 150
        update()
        done[0] = 200

    shown = capsys.readouterr().err
    assert "a program: 100% |" in shown
    assert "<" not in shown
    assert "/s" not in shown


def test_nothing_is_shown_where_nobody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = SimpleNamespace(get_ipython=lambda: None)  # but no notebook runs
    monkeypatch.setitem(sys.modules, "IPython", imported)

    with progress_bar("a program", 200, lambda: pytest.fail("not needed"), show=None) as update:
        update()

    assert capsys.readouterr() == ("", "")


def test_a_notebook_has_one_output_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Line:
        def update(self, data: dict[str, str], *, raw: bool) -> None:
            shown.append(data["text/plain"])

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Line:
        shown.append(data["text/plain"])
        return Line()

    notebook = pytest.importorskip("IPython")
    monkeypatch.setattr(notebook, "get_ipython", lambda: SimpleNamespace(kernel="one"))
    monkeypatch.setattr("IPython.display.display", display)
    done = [0]

    with progress_bar("a program", 2000, lambda: done[0], show=None) as update:
        for done[0] in (500, 501, 1000):
            update()

    *before, last = shown
    assert before == ["a program: 0%", "a program: 25%", "a program: 50%"]
    assert last.startswith("a program: 2,000 iterations in 0.")
