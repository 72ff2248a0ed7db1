"""All checks of a table, in one list. A new check is a function that yields the faults it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import design_checks as design
from reliabayes.ratings import value_checks as values
from reliabayes.ratings.table import Table
from reliabayes.ratings.twins import twins

Check = Callable[[Table], Iterator[Fault]]

OF_VALUES: tuple[Check, ...] = (
    values.missing_values,
    values.mixed_types,
    twins,
    values.numbers_as_text,
    values.percentages,
    values.many_numbers_as_labels,
    values.labels_on_numeric_scale,
    values.infinite_values,
    values.tiny_differences,
    values.nul_characters,
    values.dates,
    values.invalid_categories,
    values.unordered_texts,
    values.ratings_outside_categories,
    values.gold_outside_categories,
)
OF_DESIGN: tuple[Check, ...] = (
    design.conflicting_gold,
    design.conflicting_groups,
    design.raters_in_two_pools,
    design.replicate_ratings,
)
OF_AGREEMENT: tuple[Check, ...] = (
    design.single_id,
    design.equal_ratings,
    design.no_overlap,
)


def check(table: Table, *, for_agreement: bool = True) -> None:
    """Check a table, and raise one error that lists all its faults.

    Parameters
    ----------
    table : Table
        The table to check.
    for_agreement : bool, default True
        Whether raters must be comparable.

    Raises
    ------
    RatingsError
        If any check finds a fault.
    """
    checks = (design.no_ratings, *OF_VALUES, *OF_DESIGN, *(OF_AGREEMENT if for_agreement else ()))
    faults = [fault for find in checks for fault in find(table)]
    if faults:
        raise RatingsError(faults)


def value_faults(table: Table) -> list[Fault]:
    """Find the faults of single columns, whatever the design.

    Parameters
    ----------
    table : Table
        The table to check.

    Returns
    -------
    list of Fault
    """
    return [fault for find in OF_VALUES for fault in find(table)]
