"""All checks of a table, run in one list; a new check is a function that yields what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import design_faults as design
from reliabayes.ratings import value_faults as values
from reliabayes.ratings.table import Table

Check = Callable[[Table], Iterator[Fault]]

CHECKS: tuple[Check, ...] = (
    design.no_ratings,
    values.missing_values,
    values.mixed_types,
    values.padded_labels,
    values.numbers_as_text,
    values.labels_on_numeric_scale,
    values.infinite_values,
    values.odd_categories,
    values.unordered_texts,
    values.ratings_outside_categories,
    values.gold_outside_categories,
    design.conflicting_gold,
    design.raters_in_two_pools,
    design.replicate_ratings,
    design.single_id,
    design.equal_ratings,
    design.no_overlap,
)


def check(table: Table) -> None:
    """Raise all faults of the table at once."""
    faults = [fault for find in CHECKS for fault in find(table)]
    if faults:
        raise RatingsError(faults)
