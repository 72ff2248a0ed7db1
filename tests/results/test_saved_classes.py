"""A saved fit names classes; only those that a fit may hold are built, and nothing is imported."""

from __future__ import annotations

import gzip
import inspect
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

import h5py  # type: ignore[import-untyped]
import pytest

import reliabayes as rb
from reliabayes.models.saved_classes import saved_classes
from reliabayes.results import storage
from reliabayes.results.saved_classes import import_name, named_class
from reliabayes.results.saved_file import SEAL

FORMAT_2 = Path(__file__).with_name("format_2.nc.gz")
EVIL = "raise SystemExit('the module of a stranger ran')\n"


@dataclass(frozen=True)
class Noted:
    """A dataclass of a module that is imported, but neither a model nor a prior."""

    built: ClassVar[list[str]] = []

    def __post_init__(self) -> None:
        self.built.append("x")


@dataclass(frozen=True)
class OwnPrior(rb.Beta):
    """A user's prior."""


@pytest.fixture(scope="module", autouse=True)
def loaded_before() -> None:
    """The first file that is read imports what reads it, and the models of the package."""
    storage.read(gzip.decompress(FORMAT_2.read_bytes()))
    saved_classes()


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Write a fit whose model or centring is of other classes, with a valid checksum."""

    def write(model: dict[str, Any] | None, centring: str | None) -> Path:
        path = tmp_path / "fit.nc"
        path.write_bytes(gzip.decompress(FORMAT_2.read_bytes()))
        with h5py.File(path, "r+") as file:
            file.attrs["reliabayes_format"] = storage.FORMAT
            if model is not None:
                file.attrs["model"] = json.dumps(model)
            if centring is not None:
                file.create_group("centring").attrs["class"] = centring
        path.write_bytes(SEAL.sealed(path.read_bytes()))
        return path

    return write


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module of a stranger where Python looks for modules."""
    (tmp_path / "evil.py").write_text(EVIL)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    assert "evil" not in sys.modules


def of_class(name: Any, **values: Any) -> dict[str, Any]:
    return {"class": name, "fields": values}


TAP = "reliabayes.models.tap:TAP"
HOSTILE: list[tuple[dict[str, Any] | None, str | None]] = [
    (of_class("evil:Model"), None),
    (of_class("antigravity:x"), None),
    (of_class("reliabayes.app.jobs:_Worker"), None),
    (of_class("subprocess:Popen", args="true"), None),
    (of_class(f"{__name__}:Noted"), None),
    (of_class(TAP, prior_a=of_class("evil:Prior")), None),
    (of_class("reliabayes:report"), None),  # imports another module if it is looked up
    (of_class("reliabayes.models.tap:np.show_config"), None),
    (of_class(["evil"]), None),
    (None, "evil:Centring"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "centring"), HOSTILE)
def test_a_hostile_fit_imports_and_builds_nothing(
    model: dict[str, Any] | None, centring: str | None, written: Any, evil: None
) -> None:
    path = written(model, centring)
    before = set(sys.modules)

    with pytest.raises(ValueError, match=r"fit\.nc'"):
        rb.Fit.load(path)

    assert set(sys.modules) == before
    assert Noted.built == []


@pytest.mark.slow
def test_the_refusal_says_how_to_load_a_class_of_your_own(written: Any, evil: None) -> None:
    path = written(of_class("evil:Model"), None)

    with pytest.raises(ValueError, match=r"class 'Model' of the module 'evil'.* trust=True"):
        rb.Fit.load(path)


def test_a_module_is_imported_for_those_who_trust_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "from dataclasses import dataclass\n\n@dataclass\nclass Own:\n    x: int\n"
    (tmp_path / "trusted_module.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    found = named_class("trusted_module:Own", saved_classes(), trust=True)

    assert found is sys.modules.pop("trusted_module").Own


def test_a_users_prior_is_found_in_a_module_that_is_imported() -> None:
    assert named_class(import_name(OwnPrior), saved_classes(), trust=False) is OwnPrior


def test_every_class_that_a_saved_fit_of_the_package_needs_is_allowed() -> None:
    parts_of_fits = {
        each
        for name, module in sys.modules.items()
        if name.startswith(("reliabayes.models.", "reliabayes.families.", "reliabayes.inference."))
        for each in vars(module).values()
        if inspect.isclass(each) and is_dataclass(each) and each.__name__.endswith("Centring")
    }

    allowed = set(saved_classes().values())

    assert len(parts_of_fits) > 5
    assert parts_of_fits <= allowed
    assert set(rb.MODELS) <= allowed
    assert {rb.Normal, rb.Dirichlet, rb.Covariates} <= allowed


def test_a_study_of_categories_is_found_by_the_name_of_older_files() -> None:
    name = "reliabayes.models.graded_gstudy:GradedGStudy"

    assert named_class(name, saved_classes(), trust=False) is rb.GStudy


@pytest.mark.parametrize("model", [each() for each in rb.MODELS], ids=lambda each: each.name())
def test_every_model_comes_back_with_the_classes_in_it(model: rb.RatingModel) -> None:
    packed = json.loads(json.dumps(storage.pack_fields(model)))

    assert storage.unpack_fields(packed, saved_classes()) == model
