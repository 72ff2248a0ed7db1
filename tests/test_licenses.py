"""The licences of what is compiled into the wheel are listed, and their texts are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import httpstan  # type: ignore[import-untyped]
import pytest

from reliabayes import licenses
from tests.conftest import ROOT

INCLUDE = Path(httpstan.__file__).parent / "include"
TEXTS = ROOT / "licenses"
VERSIONS = {  # headers that have them, and their macros in order
    "TBB": ("tbb/tbb_stddef.h", ("TBB_VERSION_MAJOR", "TBB_VERSION_MINOR")),
    "Stan": ("stan/version.hpp", ("STAN_MAJOR", "STAN_MINOR", "STAN_PATCH")),
    "Stan Math": (
        "stan/math/version.hpp",
        ("STAN_MATH_MAJOR", "STAN_MATH_MINOR", "STAN_MATH_PATCH"),
    ),
    "SUNDIALS": ("sundials/sundials_config.h", ("SUNDIALS_VERSION",)),
    "Eigen": (
        "Eigen/src/Core/util/Macros.h",
        ("EIGEN_WORLD_VERSION", "EIGEN_MAJOR_VERSION", "EIGEN_MINOR_VERSION"),
    ),
    "RapidJSON": (
        "rapidjson/rapidjson.h",
        ("RAPIDJSON_MAJOR_VERSION", "RAPIDJSON_MINOR_VERSION", "RAPIDJSON_PATCH_VERSION"),
    ),
    "Boost": ("boost/version.hpp", ("BOOST_LIB_VERSION",)),
}
every_component = pytest.mark.parametrize("component", licenses.COMPONENTS, ids=lambda x: x.name)


def test_the_command_lists_components_with_licence_and_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(licenses.__file__, run_name="__main__")

    printed = capsys.readouterr().out
    for name, licence in {
        "TBB": "Apache-2.0",
        "Stan": "BSD-3-Clause",
        "Stan Math": "BSD-3-Clause",
        "SUNDIALS": "BSD-3-Clause",
        "Eigen": "MPL-2.0",
        "Boost": "BSL-1.0",
        "RapidJSON": "MIT",
    }.items():
        assert re.search(rf"^{name} +[\d.]+ +{licence} +https://\S+ +\S+\.txt$", printed, re.M)


@every_component
def test_version_is_that_of_the_headers(component: licenses.Component) -> None:
    header, macros = VERSIONS[component.name]
    text = (INCLUDE / header).read_text()

    found = [re.findall(rf'define {macro} +"?([\d._]+)', text)[-1] for macro in macros]

    assert ".".join(found).replace("_", ".") == component.version


@every_component
def test_text_of_the_licence_is_in_the_wheel(component: licenses.Component) -> None:
    assert (TEXTS / component.file).read_text().strip()
    assert 'license-files = ["LICENSE", "licenses/*.txt"]' in (ROOT / "pyproject.toml").read_text()


def test_there_is_no_text_without_a_component() -> None:
    named = {component.file for component in licenses.COMPONENTS}

    assert {path.name for path in TEXTS.iterdir()} == named
