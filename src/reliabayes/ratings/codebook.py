"""The sheet of a workbook that lists the categories of its ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reliabayes.choices import Scale
from reliabayes.ratings.excel import read_grid, shown_sheets, spelled
from reliabayes.ratings.file_formats import other_formats_as_faults
from reliabayes.ratings.read_options import ReadOptions
from reliabayes.ratings.repairs import Repair
from reliabayes.ratings.role_names import plain, word_set
from reliabayes.wording import listed

SHEETS = word_set(
    "codebook code_book codebuch legend legende legenda leyenda key codes labels scale skala "
    "echelle escala scala categories kategorien categorias categorie"
)
COLUMNS = word_set(
    "value values code codes category categories rating label wert kategorie valeur categorie "
    "valor categoria valore punkte"
)
SCALES: Mapping[str, Scale] = {
    "nominal": "nominal",
    "categorical": "nominal",
    "kategorial": "nominal",
    "ordinal": "ordered",
    "ordered": "ordered",
    "interval": "numeric",
    "numeric": "numeric",
    "metrisch": "numeric",
}
MOST_CATEGORIES = 100  # rows of a codebook


def with_codebook(file: Path, options: ReadOptions) -> tuple[ReadOptions, tuple[Repair, ...]]:
    """Return options with the categories that a sheet of a workbook declares.

    Parameters
    ----------
    file : Path
        The workbook, whose size was checked.
    options : ReadOptions
        How it is read; their categories win.

    Returns
    -------
    options : ReadOptions
        The same, if no sheet is called codebook or the like, or it lists no values.
    notes : tuple of Repair
        What was read, for a note.
    """
    if options.categories is not None:
        return options, ()
    with other_formats_as_faults(file, "a spreadsheet"):
        names = shown_sheets(file)
        named = [name for name in names if plain(name) in SHEETS]
        if len(named) != 1 or named[0] == options.sheet:
            return options, ()
        lines = read_grid(file, None, named[0]).lines
    if not 2 < len(lines) <= MOST_CATEGORIES or len(names) < 2:
        return options, ()
    at = next((at for at, cell in sorted(lines[0][1].items()) if plain(cell) in COLUMNS), None)
    values = [cells.get(at) for _, cells in lines[1:]] if at is not None else []
    values = [value for value in values if value is not None]
    if len(values) < 2:
        return options, ()
    scale = options.scale or _scale([cell for _, cells in lines for cell in cells.values()])
    are_numbers = all(isinstance(value, (int, float)) for value in values)
    categories: Sequence[Any] = values if are_numbers else [*map(spelled, values)]
    action = f"takes the categories {listed(categories, 10)} from the sheet {named[0]!r}"
    note = Repair("codebook", action, lambda table: table, is_safe=False)
    return replace(options, categories=categories, scale=scale), (note,)


def _scale(cells: Sequence[Any]) -> Scale | None:
    """The scale that a cell names."""
    return next((SCALES[plain(cell)] for cell in cells if plain(cell) in SCALES), None)
