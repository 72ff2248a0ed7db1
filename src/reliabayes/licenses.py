"""Licences of what the wheel contains besides reliabayes: ``python -m reliabayes.licenses``."""

from __future__ import annotations

import importlib.metadata
from typing import NamedTuple


class Component(NamedTuple):
    """Software that is compiled into the programs, or lies beside them.

    Attributes
    ----------
    name, version : str
        Which it is.
    licence : str
        Its licence, as SPDX writes it.
    source : str
        Where its source is.
    file : str
        The text of the licence, among the licences of the installed package.
    """

    name: str
    version: str
    licence: str
    source: str
    file: str


GITHUB = "https://github.com"
# As httpstan 4.13.0 packages them, from whose headers and libraries programs are built.
COMPONENTS = (
    Component(
        "TBB",
        "2020.3",
        "Apache-2.0",
        f"{GITHUB}/oneapi-src/oneTBB/tree/v2020.3",
        "TBB-Apache-2.0.txt",
    ),
    Component(
        "Stan",
        "2.35.0",
        "BSD-3-Clause",
        f"{GITHUB}/stan-dev/stan/tree/v2.35.0",
        "Stan-BSD-3-Clause.txt",
    ),
    Component(
        "Stan Math",
        "4.9.0",
        "BSD-3-Clause",
        f"{GITHUB}/stan-dev/math/tree/v4.9.0",
        "Stan-Math-BSD-3-Clause.txt",
    ),
    Component(
        "SUNDIALS",
        "6.1.1",
        "BSD-3-Clause",
        f"{GITHUB}/LLNL/sundials/tree/v6.1.1",
        "SUNDIALS-BSD-3-Clause.txt",
    ),
    Component(
        "Eigen",
        "3.4.0",
        "MPL-2.0",
        "https://gitlab.com/libeigen/eigen/-/tree/3.4.0",
        "Eigen-MPL-2.0.txt",
    ),
    Component(
        "Boost",
        "1.84",
        "BSL-1.0",
        f"{GITHUB}/boostorg/boost/tree/boost-1.84.0",
        "Boost-BSL-1.0.txt",
    ),
    Component(
        "RapidJSON",
        "1.1.0",
        "MIT",
        f"{GITHUB}/Tencent/rapidjson/tree/v1.1.0",
        "RapidJSON-MIT.txt",
    ),
)


def listing() -> str:
    """Return a line for each component, and where the texts of licences are.

    Returns
    -------
    str
        Name, version, licence, source and file with the text of the licence.
    """
    widths = [max(map(len, column)) for column in zip(*COMPONENTS, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(each, widths, strict=True)).rstrip()
        for each in COMPONENTS
    ]
    return "\n".join([*lines, "", f"The texts are in {_folder()}."])


def _folder() -> str:
    """Folder of the texts in the installed package."""
    files = importlib.metadata.files("reliabayes") or []
    found = [file for file in files if file.name == COMPONENTS[0].file]
    return str(found[0].locate().parent) if found else "the folder licenses of the source"  # type: ignore[attr-defined]


if __name__ == "__main__":
    print(listing())
