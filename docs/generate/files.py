"""Files of the project that become pages unchanged, except for their links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES: Mapping[str, str] = {
    "benchmarks/README.md": "benchmarks.md",
    "stan/README.md": "programs.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
LINK = re.compile(r"\[(?P<text>[^]]+)\]\((?!https?:)(?P<target>[^)]+)\)")


def pages() -> Iterator[tuple[str, str]]:
    """Paths and texts of the pages."""
    for file, page in PAGES.items():
        yield page, LINK.sub(_relinked, (ROOT / file).read_text())


def _relinked(match: re.Match[str]) -> str:
    """Link to the page of a file; a link to a file without a page becomes plain text."""
    page = PAGES.get(match["target"])
    return f"[{match['text']}]({page})" if page else match["text"]
