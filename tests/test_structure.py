"""The rooms of the package: imports point downwards only, and never in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter

import pytest

import reliabayes as rb
from reliabayes.models.category_model import CategoryModel
from tests.conftest import ROOT

SOURCES = ROOT / "src"
LONGEST = 600  # lines of a source file: a longer one tells several stories
# Their methods are a docstring and a few calls each.
PUBLIC_CLASSES = {
    "src/reliabayes/models/bases/rating_model.py",
    "src/reliabayes/results/fit.py",
}

# From the lowest up; what stands together does not import each other.
ORDER = (
    ("arrays", "choices", "errors", "licenses"),
    ("caches", "files", "finding_table", "jobs", "progress", "seals", "wording"),
    ("guidelines",),
    ("ratings",),
    ("partitions",),
    ("facets",),
    ("datasets",),
    ("agreement",),
    ("inference",),
    ("likelihoods",),
    ("results",),
    ("sampling",),
    ("models.covariates", "models.priors"),
    ("families",),
    ("models.bases",),
    ("models",),
    ("recommendation",),
    ("plots",),
    ("simulate",),
    ("html_report",),
    ("",),  # the package itself
    ("app",),
    ("cli",),
)
# Methods that users look for where they are: each imports what lies above it.
DOORS = {
    ("ratings.ratings", "agreement"),
    ("partitions.dataset", "agreement"),
    ("results.fit", "html_report"),
    ("results.fit", "models.cmdstan_fit"),
    ("results.fit", "models.saved_classes"),
}


@pytest.mark.slow
def test_imports_point_downwards() -> None:
    upward = {
        (importer, imported)
        for importer, imported in imports()
        if level(imported) > level(importer)
        or (level(imported) == level(importer) and room(imported) != room(importer))
    }

    assert {pair for pair in upward if not is_door(*pair)} == set()


@pytest.mark.slow
def test_imports_have_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for importer, imported in imports():
        if not is_door(importer, imported):
            graph.setdefault(importer, set()).add(imported)

    order = list(TopologicalSorter(graph).static_order())  # raises CycleError at a circle

    assert len(order) > 100


@pytest.mark.slow
def test_each_door_is_used() -> None:
    used = {
        (a, door) for a, b in imports() for source, door in DOORS if a == source and is_door(a, b)
    }

    assert used == DOORS


@pytest.mark.parametrize("folder", ["src", "stan"])
def test_source_files_are_short(folder: str) -> None:
    kinds = (".py", ".stan", ".stanfunctions", ".standata", ".hpp", ".cpp")
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in (ROOT / folder).rglob("*")
        if path.suffix in kinds and str(path.relative_to(ROOT)) not in PUBLIC_CLASSES
    }

    assert {path: n for path, n in lengths.items() if n > LONGEST} == {}


@cache
def imports() -> tuple[tuple[str, str], ...]:
    """Each import of one module of the package by another, wherever in the file it stands."""
    return tuple(_imports())


def _imports() -> Iterator[tuple[str, str]]:
    modules = {name_of(path): path for path in sorted(SOURCES.rglob("*.py"))}
    for importer, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                targets = [
                    f"{node.module}.{alias.name}"
                    if in_package(f"{node.module}.{alias.name}") in modules
                    else node.module
                    for alias in node.names
                ]
            else:
                continue
            for target in targets:
                if target.split(".")[0] == "reliabayes" and in_package(target) != importer:
                    yield importer, in_package(target)


def name_of(path: object) -> str:
    """Name of a module within the package; the package itself is the empty name."""
    relative = type(SOURCES)(str(path)).relative_to(SOURCES / "reliabayes").with_suffix("")
    return ".".join(part for part in relative.parts if part != "__init__")


def in_package(name: str) -> str:
    return name.removeprefix("reliabayes").removeprefix(".")


def level(module: str) -> int:
    """Height of the room of a module."""
    return next(height for height, rooms in enumerate(ORDER) if room(module) in rooms)


def room(module: str) -> str:
    """Room of a module: the longest name in the order that it starts with."""
    rooms = [name for names in ORDER for name in names if name]
    inside = [name for name in rooms if module == name or module.startswith(f"{name}.")]
    return max(inside, key=len, default="")


def is_door(importer: str, imported: str) -> bool:
    return any(
        importer == source and (imported == door or imported.startswith(f"{door}."))
        for source, door in DOORS
    )


def test_programs_hand_over_ratings_whole() -> None:
    """``stan/cpp/last_made.hpp`` knows data by their place, which parts and copies do not keep."""
    call = re.compile(
        r"= (?:ordinal_(?:ratings|marginal|pair_mixture)|guessing_mixture)\((.*?)\);", re.S
    )
    calls = {
        (program.stem, " ".join(arguments.split()))
        for program in ROOT.glob("stan/*.stan")
        for arguments in call.findall(program.read_text())
    }

    assert {name for name, _ in calls} == {
        "gstudy_graded",
        "latent_tap",
        "ordinal_icc_crowd",
        "ordinal_xcc",
        "ordinal_xcc_pools",
    }
    whole = (
        ", pool, probit, first, cell, count",
        ", pool, 0, first, rating, once",
        ", cut + mean, probit, first, cell, count",
        ", multiplicity, kind, first, cell, count",
        ", pool, probit, node, node_weight, multiplicity, first, cell, count",
    )
    assert all(arguments.endswith(whole) for _, arguments in calls)


@pytest.mark.parametrize(
    "model",
    [each for each in rb.MODELS if issubclass(each, CategoryModel)],
    ids=lambda each: each.__name__,
)
def test_models_of_true_categories_hold_their_family(model: type[rb.RatingModel]) -> None:
    own = [each for each in model.__mro__ if each.__module__.startswith("reliabayes")]
    written = {name for name, x in vars(model).items() if callable(x) or isinstance(x, property)}
    shared = {name for name in vars(CategoryModel) if not name.startswith("__")}
    abstract = CategoryModel.__abstractmethods__

    assert own == [model, CategoryModel, rb.RatingModel]
    assert {"problem", "parameters", "prior_numbers", "family"} <= written
    assert written & shared <= abstract  # no concrete method is overridden
