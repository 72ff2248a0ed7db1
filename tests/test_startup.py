"""Starting is fast: what the package imports, and that all its names are there nevertheless."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from importlib.metadata import version

import pytest

import reliabayes as rb
from reliabayes import models
from reliabayes.cli.importing import importing
from tests.conftest import ROOT

SLOW = (
    "arviz",
    "cmdstanpy",
    "matplotlib",
    "narwhals",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "xarray",
)
NAMES: list[str] = rb.__all__  # type: ignore[attr-defined]
HELP = """
import sys
from reliabayes.cli import main
for command in (
    [], ["fit"], ["compare"], ["report"], ["agree"], ["partition"], ["simulate"], ["demo"], ["app"]
):
    sys.argv = ["reliabayes", *command, "--help"]
    try:
        main()
    except SystemExit as end:
        assert not end.code, command
"""
OPTIONS = "--item item --rater rater --rating rating --replicates keep --model dawid-skene"
FITS = f"""
import sys
sys.modules["dask"] = None  # which xarray imports, with others, where it is installed
from reliabayes.cli import main
file = {str(ROOT / "src/reliabayes/data/dawid_skene_1979.csv")!r}
sys.argv = ["reliabayes", "fit", file, *"{OPTIONS}".split()]
try:
    main()
except SystemExit as end:
    assert not end.code
import reliabayes as rb
table = rb.datasets.load("shrout_fleiss_1979")
fit = rb.GaussianICC().fit(rb.Ratings.from_frame(table), seed=1)
fit.summary(), fit.diagnostics(), fit.items(), fit.raters(), str(fit)
"""


def test_the_package_imports_its_modules_when_they_are_used() -> None:
    assert imported_by("import reliabayes", SLOW) == set()


def test_version_is_that_of_the_package() -> None:
    assert rb.__version__ == version("reliabayes")


@pytest.mark.slow
def test_help_of_no_command_imports_what_computes() -> None:
    assert imported_by(HELP, SLOW) == set()


@pytest.mark.slow
def test_fits_import_neither_plots_nor_arviz_nor_coefficients_nor_other_models() -> None:
    slow = (
        *("arviz", "cmdstanpy", "duckdb", "jinja2", "matplotlib", "polars", "pooch"),
        *("scipy.fft", "scipy.interpolate", "scipy.linalg", "scipy.optimize", "scipy.stats"),
        *("reliabayes.agreement", "reliabayes.html_report.page", "reliabayes.plots"),
        *("reliabayes.models.gstudy", "reliabayes.models.latent_tap"),
    )

    assert imported_by(FITS, slow) == set()


def test_garbage_is_not_looked_for_between_imports_but_afterwards() -> None:
    with importing():
        assert not gc.isenabled()

    assert gc.isenabled()


def test_type_checkers_see_the_names_of_the_package() -> None:
    source = ast.parse((ROOT / "src/reliabayes/__init__.py").read_text())
    (block,) = (node for node in source.body if isinstance(node, ast.If))
    seen = {
        alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert (seen - {"*", "models"}) | set(models.__all__) == set(NAMES)


def test_each_model_is_in_a_module_of_its_name() -> None:
    assert tuple(model.__name__ for model in models.MODELS) == models.NAMES
    assert {*models.NAMES} <= {*models.__all__}


def test_each_name_is_found_and_listed() -> None:
    names: dict[str, object] = {}
    exec("from reliabayes import *", names)

    assert {name for name in NAMES if names[name] is not getattr(rb, name)} == set()
    assert dir(rb) == sorted(NAMES)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'reliabayes' has no attribute 'GaussianICD'"):
        rb.GaussianICD  # type: ignore[attr-defined] # noqa: B018


def imported_by(code: str, modules: tuple[str, ...]) -> set[str]:
    """Which of the modules a new process has imported after running code."""
    report = f"\nimport sys\nprint('|', *{{*sys.modules}} & {{*{modules!r}}})"
    done = subprocess.run(
        [sys.executable, "-c", code + report],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split()[1:])
