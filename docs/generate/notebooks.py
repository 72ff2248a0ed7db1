"""The notebooks as pages: text and code, without outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from .files import LINK, ROOT

FOLDER = ROOT / "notebooks"
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
OPENING = """\
# Notebooks

Each notebook opens with a question and closes with the answer. They are in `notebooks/` and take
less than a minute each.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Paths and texts of all pages of notebooks."""
    found = {path.stem: _markdown(path) for path in sorted(FOLDER.glob("*.ipynb"))}
    lines = [f"1. [{_title(text)}]({stem}.md)" for stem, text in found.items()]
    yield "notebooks/index.md", "\n".join([OPENING, *lines, ""])
    for stem, text in found.items():
        yield f"notebooks/{stem}.md", text


def _markdown(path: Path) -> str:
    cells = [_cell(cell) for cell in json.loads(path.read_text())["cells"]]
    return "\n\n".join([*cells, f"The notebook is `notebooks/{path.name}`.", ""])


def _cell(cell: dict[str, str | list[str]]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] == "code":
        return f"```python\n{text}\n```"
    return LINK.sub(_relinked, text)


def _relinked(match: re.Match[str]) -> str:
    """Link to the page of another notebook; a link to another file becomes plain text."""
    text, target = match.groups()
    return f"[{text}]({target.removesuffix('.ipynb')}.md)" if target.endswith(".ipynb") else text


def _title(text: str) -> str:
    found = TITLE.search(text)
    assert found is not None
    return found[1]
