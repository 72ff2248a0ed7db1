"""Notebooks ask and answer a question, and run without warnings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbformat import NotebookNode

from docs.generate.execution import notebook_outputs, version
from hatch_build import build
from reliabayes import datasets
from tests.conftest import ROOT

FOLDER = ROOT / "notebooks"
LIMIT = 600  # seconds for all cells of a notebook, which take a tenth of them

every_notebook = pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem
)


@every_notebook
def test_opens_with_a_question_and_its_setting(path: Path) -> None:
    first = read(path).cells[0]

    heading, *setting = first.source.splitlines()
    assert first.cell_type == "markdown"
    assert re.fullmatch(r"# .*\?", heading)
    assert any(setting)


@every_notebook
def test_closes_with_the_answer_and_its_numbers(path: Path) -> None:
    *_, check, last = read(path).cells

    heading, *answer = last.source.splitlines()
    assert last.cell_type == "markdown"
    assert heading == "## Answer"
    assert re.search(r"\d", "".join(answer))
    assert check.cell_type == "code"
    assert any(isinstance(statement, ast.Assert) for statement in ast.parse(check.source).body)


@every_notebook
def test_is_committed_without_outputs_or_execution_counts(path: Path) -> None:
    notebook = read(path)

    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert notebook.metadata["language_info"] == {"name": "python"}
    assert [cell.id for cell in notebook.cells if cell.metadata] == []
    assert [cell.id for cell in code(notebook) if cell.outputs or cell.execution_count] == []


@every_notebook
def test_cells_have_ids(path: Path) -> None:
    names = [cell.id for cell in read(path).cells]

    assert [name for name in names if not re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name)] == []
    assert len(set(names)) == len(names)


@every_notebook
def test_sets_every_seed_and_hides_progress(path: Path) -> None:
    notebook = read(path)

    assert [call for call in calls(notebook, "fit") if "seed=" not in call] == []
    assert [call for call in calls(notebook, "fit") if "progress=False" not in call] == []
    assert [call for call in calls(notebook, "default_rng") if call.endswith("()")] == []


def test_readme_lists_every_notebook_by_its_question() -> None:
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", (FOLDER / "README.md").read_text(), re.MULTILINE)

    asked = [
        (read(path).cells[0].source.splitlines()[0].removeprefix("# "), path.name)
        for path in sorted(FOLDER.glob("*.ipynb"))
    ]
    assert listed == asked


@pytest.mark.notebooks
@every_notebook
def test_runs_without_warnings_and_opens_on_a_picture(
    path: Path, tmp_path: Path, dataset: Callable[[str], pd.DataFrame]
) -> None:
    notebook = read(path)
    for name in data_sets(notebook):
        dataset(name)
    for name, text in stan_programs(notebook):  # compile first, so that the time limit excludes g++
        (tmp_path / name).write_text(text)
        build([tmp_path / name], tmp_path / "compiled")

    outputs = notebook_outputs(path.read_text(), version(), LIMIT)  # which the pages show

    written = [
        output["text"] for cell in outputs for output in cell if output.get("name") == "stderr"
    ]
    shown = [output for cell in outputs for output in cell]
    assert written == []
    assert "image/png" in shown[0].get("data", {})


def read(path: Path) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(  # type: ignore[no-untyped-call]
        path, as_version=nbformat.NO_CONVERT
    )
    nbformat.validate(notebook)
    return notebook


def code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def nodes(notebook: NotebookNode) -> list[ast.AST]:
    """All syntax nodes of the code cells."""
    return [node for cell in code(notebook) for node in ast.walk(ast.parse(cell.source))]


def calls(notebook: NotebookNode, method: str) -> list[str]:
    """Source text of the calls of a method on any object."""
    return [
        ast.unparse(node)
        for node in nodes(notebook)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
    ]


def stan_programs(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Names and texts of the Stan programs that cells write to files."""
    written = re.compile(r'"(\w+\.stan)".*?"""\\\n(.*?)"""', re.DOTALL)
    return [found for cell in code(notebook) for found in written.findall(cell.source)]


def data_sets(notebook: NotebookNode) -> list[str]:
    """Names of the data sets that the code loads."""
    constants = {node.value for node in nodes(notebook) if isinstance(node, ast.Constant)}
    return [name for name in datasets.names() if name in constants]
