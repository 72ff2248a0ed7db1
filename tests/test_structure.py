"""The rooms of the package: imports point downwards only, and never in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from typing import Any, Literal, NamedTuple

import pytest

import reliabayes as rb
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.normal_model import NormalModel
from reliabayes.models.ordered_model import OrderedModel
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

SOURCES = ROOT / "src"
LONGEST = 600  # lines of a source file: a longer one tells several stories
# Their methods are a docstring and a few calls each.
PUBLIC_CLASSES = {
    "src/reliabayes/models/rating_model.py",
    "src/reliabayes/ratings/ratings.py",
    "src/reliabayes/results/fit.py",
}

DEEPEST = 3  # classes of the package below `object`, protocols and mixins included

# From the lowest up; what stands together does not import each other.
ORDER = (
    ("arrays", "choices", "errors", "licenses"),
    ("caches", "files", "jobs", "progress", "seals", "wording"),
    ("reporting",),
    ("finding_table", "guidelines"),
    ("ratings",),
    ("partitions",),
    ("facets",),
    ("datasets",),
    ("agreement",),
    ("inference",),
    ("likelihoods",),
    ("crowds",),
    ("results",),
    ("sampling",),
    ("models.covariates", "models.priors"),
    ("families",),
    ("models",),
    ("judge_study", "recommendation"),
    ("plots",),
    ("simulate",),
    ("design",),
    ("html_report",),
    ("",),  # the package itself
    ("app",),
    ("cli",),
)
# Methods that users look for where they are: each imports what lies above it.
DOORS = {
    ("judge_study", "html_report"),
    ("ratings.ratings", "agreement"),
    ("partitions.dataset", "agreement"),
    ("results.fit", "html_report"),
    ("results.fit", "models.cmdstan_fit"),
    ("results.fit", "models.saved_classes"),
}


def test_imports_point_downwards() -> None:
    upward = {
        (importer, imported)
        for importer, imported in imports()
        if level(imported) > level(importer)
        or (level(imported) == level(importer) and room(imported) != room(importer))
    }

    assert {pair for pair in upward if not is_door(*pair)} == set()


def test_imports_have_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for importer, imported in imports():
        if not is_door(importer, imported):
            graph.setdefault(importer, set()).add(imported)

    order = list(TopologicalSorter(graph).static_order())  # raises CycleError at a circle

    assert len(order) > 100


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


def test_classes_are_at_most_three_deep() -> None:
    deep = {name: depth(name) for name in classes() if depth(name) > DEEPEST}

    assert deep == {}


def test_no_concrete_method_is_overridden() -> None:
    overridden = {
        f"{name}.{method}"
        for name, each in classes().items()
        for method in each.methods
        if not method.startswith("__")
        if any(classes()[base].methods.get(method) == "concrete" for base in ancestors(name))
    }

    assert overridden == set()


def test_classes_are_abstract_or_final() -> None:
    parents = {base for each in classes().values() for base in each.bases}

    assert {name for name in parents if not is_abstract(name)} == set()


Kind = Literal["concrete", "abstract", "empty"]


class Written(NamedTuple):
    """A class as it is written: its bases in the package, and its methods by kind."""

    bases: tuple[str, ...]
    methods: dict[str, Kind]
    is_protocol: bool


@cache
def classes() -> dict[str, Written]:
    """Each class of the package, by its qualified name."""
    return {
        f"{module}.{node.name}": _written(module, node)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def _written(module: str, node: ast.ClassDef) -> Written:
    named = [_last_name(base) for base in node.bases]
    is_protocol = "Protocol" in named
    methods: dict[str, Kind] = {
        each.name: "abstract" if is_protocol else _kind(each)
        for each in node.body
        if isinstance(each, ast.FunctionDef)
    }
    return Written(tuple(filter(None, (_defined(module, x) for x in named))), methods, is_protocol)


def _kind(function: ast.FunctionDef) -> Kind:
    """Whether a method does something; one that only raises an error does not."""
    if not {_last_name(each) for each in function.decorator_list}.isdisjoint(
        {"abstractmethod", "overload"}
    ):
        return "abstract"
    does = [each for each in function.body if not _is_text(each)]
    return "concrete" if does and not isinstance(does[0], ast.Raise) else "empty"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _last_name(node: ast.expr) -> str:
    """Name of a class or decorator, without what it is subscripted or called with."""
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _defined(module: str, name: str) -> str | None:
    """Qualified name of a class that a module knows by a name; None if it is from elsewhere."""
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return f"{module}.{name}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reliabayes"):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _defined(in_package(str(node.module)), alias.name)
    return None


@cache
def ancestors(name: str) -> tuple[str, ...]:
    """All classes of the package that a class inherits from."""
    bases = classes()[name].bases
    return tuple(dict.fromkeys([*bases, *(above for base in bases for above in ancestors(base))]))


def depth(name: str) -> int:
    """Classes of the package below `object`, down to this one."""
    return 1 + max((depth(base) for base in classes()[name].bases), default=0)


def is_abstract(name: str) -> bool:
    """Whether a class is a protocol or leaves a method abstract."""
    line = [classes()[each] for each in (name, *ancestors(name))]
    kinds: dict[str, set[str]] = {}
    for each in line:
        for method, kind in each.methods.items():
            kinds.setdefault(method, set()).add(kind)
    return line[0].is_protocol or {"abstract"} in kinds.values()


@cache
def imports() -> tuple[tuple[str, str], ...]:
    """Each import of one module of the package by another, wherever in the file it stands."""
    return tuple(_imports())


@cache
def modules() -> dict[str, ast.Module]:
    """Each module of the package, by its name within it."""
    return {name_of(path): ast.parse(path.read_text()) for path in sorted(SOURCES.rglob("*.py"))}


def _imports() -> Iterator[tuple[str, str]]:
    for importer, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                targets = [
                    f"{node.module}.{alias.name}"
                    if in_package(f"{node.module}.{alias.name}") in modules()
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


FAMILIES: dict[Any, set[str]] = {  # what a model of each writes, at least
    CategoryModel: {"problem", "parameters", "prior_numbers", "family"},
    OrderedModel: {"prior_numbers"},
    NormalModel: {"problem", "problem_of_parts", "priors", "normal_family"},
}


@pytest.mark.parametrize(
    ("model", "base"),
    [(each, base) for base in FAMILIES for each in rb.MODELS if issubclass(each, base)],
    ids=lambda each: each.__name__,
)
def test_models_hold_their_family(model: type[rb.RatingModel], base: type[rb.RatingModel]) -> None:
    own = [each for each in model.__mro__ if each.__module__.startswith("reliabayes")]
    written = {name for name, x in vars(model).items() if callable(x) or isinstance(x, property)}
    shared = {name for name in vars(base) if not name.startswith("__")}
    abstract = base.__abstractmethods__

    assert own == [model, base, rb.RatingModel]
    assert FAMILIES[base] <= written
    assert written & shared <= abstract  # no concrete method is overridden
