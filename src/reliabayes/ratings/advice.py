"""Arguments that would read a file which cannot be read as it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reliabayes.errors import Advice, RatingsError
from reliabayes.ratings.raw_reading import Read, read
from reliabayes.ratings.read_options import ReadOptions
from reliabayes.wording import joined

MOST_TRIES = 4  # of arguments that an error names


def advice(file: Path, options: ReadOptions) -> Advice | None:
    """Find arguments that would read a file which cannot be read.

    Parameters
    ----------
    file : Path
        The file.
    options : ReadOptions
        How it was read.

    Returns
    -------
    Advice or None
        None if there are no such arguments.
    """
    tried, given = replace(options, tidy=True, guess=True), dict[str, Any]()
    for _ in range(MOST_TRIES):
        try:
            done = read(file, tried)
        except RatingsError as error:
            given |= (found := error.arguments)
            again = replace(tried, **found)
            if again == tried:
                return None
            tried = again
        except (ImportError, OSError, MemoryError):
            return None
        else:
            return _advice(file, options, done, given)
    return None


def _advice(
    file: Path, options: ReadOptions, done: Read, given: Mapping[str, Any]
) -> Advice | None:
    is_tidied = any(repair.is_safe for repair in done.found.applied) and not options.tidy
    needed: dict[str, Any] = {"tidy": True} if is_tidied else {}
    needed |= {"guess": True} if done.guess is not None and not options.guess else {}
    needed |= given
    if not needed:
        return None
    if given and is_tidied and _reads(file, replace(options, **needed | {"tidy": False})):
        del needed["tidy"]
    does = [repair.sentence for repair in done.found.applied]
    does += [done.guess.sentence] if done.guess is not None else []
    arguments = ", ".join(f"{name}={_quoted(value)}" for name, value in needed.items())
    what = f": it {joined(does)}" if does else ""
    return Advice(f"{arguments} would read this table{what}.", needed)


def _reads(file: Path, options: ReadOptions) -> bool:
    """Whether a file can be read, also without what is not needed."""
    try:
        read(file, options)
    except RatingsError:
        return False
    return True


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) and '"' not in value else repr(value)
