"""Tables of items and raters that commands write: --items and --raters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reliabayes.cli.options import writable
from reliabayes.cli.parts import writable_folder

if TYPE_CHECKING:
    import pandas as pd

    import reliabayes as rb


@dataclass(frozen=True)
class Tables:
    """The files of tables.

    Attributes
    ----------
    items : Path, optional
        That of the items; for ratings in parts a folder.
    raters : Path, optional
        That of the raters.
    """

    items: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.csv",
            help="Write a table of the items, as CSV or XLSX; of a folder of parts, a new folder "
            "of Parquet files.",
        ),
    ] = None
    raters: Annotated[
        Path | None,
        typer.Option(metavar="OUT.csv", help="Write a table of the raters, as CSV or XLSX."),
    ] = None

    def outputs(self, *, is_in_parts: bool) -> dict[str, Path | None]:
        """Return the files by option, all of which can be written.

        Parameters
        ----------
        is_in_parts : bool
            Whether ratings are in parts.

        Returns
        -------
        dict from str to Path or None

        Raises
        ------
        typer.BadParameter
            If one of them cannot.
        """
        items = writable_folder(self.items) if is_in_parts else _writable_table(self.items)
        return {"items": items, "raters": _writable_table(self.raters)}


def table_writers(
    fitted: rb.Fit | rb.PointEstimate, *, is_in_parts: bool
) -> dict[str, Callable[[Path], None]]:
    """Return what writes each table.

    Parameters
    ----------
    fitted : Fit or PointEstimate
        What estimates them.
    is_in_parts : bool
        Whether ratings are in parts.

    Returns
    -------
    dict from str to callable
        By option; takes the file.
    """
    items = fitted.write_items if is_in_parts else lambda path: _write(fitted.items(), path)
    return {"items": items, "raters": lambda path: _write(fitted.raters(), path)}


def _write(table: pd.DataFrame, path: Path) -> None:
    from reliabayes.files import write_whole
    from reliabayes.ratings.table_files import table_content

    write_whole(path, table_content(table, path))


def _writable_table(path: Path | None) -> Path | None:
    """Check that a table can be written, before anything is computed."""
    if path is not None and path.suffix.lower() == ".xlsx" and find_spec("openpyxl") is None:
        package = "openpyxl; run pip install 'reliabayes[xlsx]'"
        raise typer.BadParameter(f"writing {path} needs the package {package}.")
    return writable(path)
