"""Hooks of MkDocs: pages generated from the code, and formulas as MathML."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# Under this name the tests import it too, and what they executed is kept by name.
sys.path.insert(0, str(Path(__file__).parents[1]))
from docs.generate import (
    commands,
    extension,  # noqa: F401, which mkdocs.yml names
    files,
    formulas,
    gallery,
    labels,
    models,
    notebooks,
    reference,
    reports,
    stated,
    texts,
)

FOLD = re.compile(r"(?:(?<=[_(=])|(?<=\))(?=\.))(?=[^<>]*</code>)")  # after ( or before .
CELL = re.compile(r"<td.*?</td>", re.DOTALL)
WITH_FILES = (gallery, models, notebooks, reports, stated)
TEXTS = (models, reference, gallery, files, notebooks, reports, texts, labels)


def on_config(config: MkDocsConfig) -> None:
    """Replace each folder of the navigation by its generated pages."""
    generated = [path for path, _ in _pages()]
    config.nav = _unfolded(config.nav, generated)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add generated pages and pictures."""
    for path, text in _pages():
        files.append(File.generated(config, path, content=text))
    for module in WITH_FILES:
        for path, content in module.files():
            files.append(File.generated(config, path, content=content))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas into MathML, and allow line breaks in the code of tables."""
    return CELL.sub(lambda cell: FOLD.sub("<wbr>", cell[0]), formulas.with_mathml(html))


def _pages() -> list[tuple[str, str]]:
    pages = [page for module in TEXTS for page in module.pages()]
    return [*pages, ("commands.md", commands.page())]


def _unfolded(nav: Any, generated: list[str]) -> Any:
    """Navigation in which the pages of each folder, such as ``models/``, replace the folder."""
    if isinstance(nav, list):
        return [_unfolded(entry, generated) for entry in nav]
    if isinstance(nav, dict):
        return {title: _unfolded(entry, generated) for title, entry in nav.items()}
    return _folder(nav, generated) if nav.endswith("/") else nav


def _folder(folder: str, generated: list[str]) -> list[Any]:
    """Pages of a folder, with those of each subfolder grouped."""
    found: list[Any] = []
    for path in generated:
        if not path.startswith(folder):
            continue
        within, _, page = path.removeprefix(folder).rpartition("/")
        if not within:
            found.append(path)
        elif page == "index.md":
            found.append({within: [path]})
        else:
            found[-1][within].append(path)
    return found
