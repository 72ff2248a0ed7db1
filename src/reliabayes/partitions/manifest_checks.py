"""What a manifest must hold: the types of its entries, and how they belong together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

from reliabayes.choices import Replicates, Scale


def check_manifest(content: Mapping[str, Any]) -> None:
    """Refuse entries of a manifest that are not what they must be.

    Parameters
    ----------
    content : mapping of str to Any
        Entries of the file, without its format and its checksum.

    Raises
    ------
    ValueError
        An entry is missing, unknown or wrong; the message names it.
    """
    if differing := sorted(content.keys() ^ RULES.keys()):
        raise ValueError(f"entries are missing or unknown: {', '.join(differing)}")
    for name, is_right in RULES.items():
        if not is_right(content[name]):
            raise ValueError(f"its {name} is invalid")
    pools, of_raters = len(content["pools"]), content["rater_pool"]
    if (of_raters is None) != (pools == 0):
        raise ValueError("its pools and rater_pool do not match")
    if of_raters is not None and (
        len(of_raters) != len(content["raters"]) or not all(at < pools for at in of_raters)
    ):
        raise ValueError("its rater_pool does not give each rater one of its pools")
    if content["scale"] != "numeric" and content["categories"] is None:
        raise ValueError(f"its scale is {content['scale']}, and it has no categories")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(map(_is_count, values))


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(map(_is_number, values))


def _are_ids(values: Any) -> bool:
    """Whether they are distinct texts, numbers or truth values."""
    if not isinstance(values, list) or not all(isinstance(x, (str, int, float)) for x in values):
        return False
    return len(set(values)) == len(values)


def _is_part(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() <= {"n_ratings", "n_items", "sha256"}:
        return False
    n_ratings, n_items, sums = value.get("n_ratings"), value.get("n_items"), value.get("sha256", {})
    return (
        _is_count(n_ratings)
        and _is_count(n_items)
        and bool(n_ratings) == bool(n_items)
        and isinstance(sums, dict)
        and all(isinstance(text, str) for text in sums.values())
    )


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _or_none(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or rule(value)


RULES: Mapping[str, Callable[[Any], bool]] = {
    "arguments": lambda x: isinstance(x, dict) and x.get("replicates") in get_args(Replicates),
    "source": lambda x: isinstance(x, dict),
    "raters": lambda x: _are_ids(x) and len(x) > 0,
    "pools": _are_ids,
    "rater_pool": _or_none(_are_counts),
    "scale": lambda x: x in get_args(Scale),
    "scale_is_guess": _is_bool,
    "categories": _or_none(_are_ids),
    "values": _or_none(_are_numbers),
    "categories_are_given": _is_bool,
    "limits": _or_none(lambda x: _are_numbers(x) and len(x) == 2),
    "has_gold": _is_bool,
    "facets": lambda x: isinstance(x, dict) and all(map(_are_ids, x.values())),
    "n_missing": _is_count,
    "parts": lambda x: isinstance(x, list) and all(map(_is_part, x)),
}
