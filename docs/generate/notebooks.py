"""The notebooks as pages: text, code, and the outputs of the code."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .execution import absent_data, notebook_outputs, version
from .files import LINK, ROOT

FOLDER = ROOT / "notebooks"
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
STYLE = re.compile(r"<style.*?</style>|( border=\"1\")? class=\"dataframe\"", re.DOTALL)
BLANK_LINES = re.compile(r"\n\s*\n")
CHECK = "check"  # name of the cell that asserts the numbers of the answer; pages leave it out
OPENING = """\
# Notebooks

Each notebook opens with a question and closes with the answer. They are in `notebooks/` and take
less than a minute each. The tables and plots on these pages were made when the pages were built.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Paths and texts of all pages of notebooks."""
    found = {path.stem: _page(path)[0] for path in _notebooks()}
    lines = [f"1. [{_title(text)}]({stem}.md)" for stem, text in found.items()]
    yield "notebooks/index.md", "\n".join([OPENING, *lines, ""])
    for stem, text in found.items():
        yield f"notebooks/{stem}.md", text


def files() -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the images."""
    for path in _notebooks():
        yield from _page(path)[1].items()


def _notebooks() -> Sequence[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


@cache
def _page(path: Path) -> tuple[str, dict[str, bytes]]:
    """Text of a page, and its images by path."""
    text = path.read_text()
    cells = json.loads(text)["cells"]
    absent = absent_data("".join(code for cell in cells for code in cell["source"]))
    outputs = [[] for _ in cells] if absent else notebook_outputs(text, version())
    parts, images = [], dict[str, bytes]()
    for cell, results in zip(cells, outputs, strict=True):
        if cell["id"] == CHECK:
            continue
        parts.append(_cell(cell))
        for number, result in enumerate(results):
            name = f"{path.stem}-{cell['id']}-{number}.png"
            shown, image = output(result, name)
            parts.append(shown)
            images |= {f"notebooks/{name}": image} if image else {}
    closing = f"The notebook is `notebooks/{path.name}`; it also checks the numbers of the answer."
    if absent:
        closing += f" Its outputs are not shown, because {', '.join(absent)} was not at hand."
    return "\n\n".join([*filter(None, parts), closing, ""]), images


def output(result: dict[str, Any], name: str) -> tuple[str, bytes]:
    """Markdown of an output of a cell, and its image if it is one, to be called ``name``."""
    if result["output_type"] == "stream":
        return (_text(result["text"]) if result["name"] == "stdout" else ""), b""
    data = result["data"]
    if "image/png" in data:
        return f"![Plot]({name}){{ .picture }}", base64.b64decode(data["image/png"])
    if "text/html" in data:
        html = BLANK_LINES.sub("\n", STYLE.sub("", data["text/html"])).strip()
        return f'<div class="output">\n{html}\n</div>', b""
    return _text(data["text/plain"]), b""


def _text(printed: str) -> str:
    return f"```text\n{printed.rstrip()}\n```"


def _cell(cell: dict[str, Any]) -> str:
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
