"""Seeds: fixed unless a random one is asked for, so that a command prints the same tomorrow."""

from __future__ import annotations

import secrets

import typer

RANDOM = "random"
METAVAR = "NUMBER|random"
LARGEST = 2**31 - 1  # that Stan takes


def seed_of(given: str | int) -> int:
    """Return the seed that an option names.

    Parameters
    ----------
    given : str or int
        What was given: a whole number, or "random".

    Returns
    -------
    int
        The number, or one that is drawn.

    Raises
    ------
    typer.BadParameter
        It is neither.
    """
    if given == RANDOM:
        return secrets.randbelow(LARGEST + 1)
    text = str(given)
    if not (text.isascii() and text.isdigit() and int(text) <= LARGEST):
        raise typer.BadParameter(
            f"it must be a whole number from 0 to {LARGEST}, or {RANDOM}, not {given!r}."
        )
    return int(text)
