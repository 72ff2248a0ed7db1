"""Groups of options that several commands share, each written once as a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for each field of the dataclasses among its parameters.

    Typer needs a parameter for each option. The command is written with a parameter for each group
    of options instead, such as ``ratings_file: RatingsFile``.

    Parameters
    ----------
    command : callable
        A command whose parameters include dataclasses.

    Returns
    -------
    callable
        The same command with single options, for Typer.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options = [
        option
        for name, parameter in inspect.signature(command).parameters.items()
        for option in (
            _options(groups[name])
            if name in groups
            else [parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name])]
        )
    ]

    @wraps(command)
    def call(**given: Any) -> None:
        filled = {name: _filled(kind, given) for name, kind in groups.items()}
        command(**filled, **given)

    call.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    call.__annotations__ = {option.name: option.annotation for option in options}
    return call


def _filled(group: Any, given: dict[str, Any]) -> Any:
    """Return a group with the values of its options, which are taken from those that are given."""
    hints = get_type_hints(group)
    return group(
        **{
            field.name: _filled(hints[field.name], given)
            if is_dataclass(hints[field.name])
            else given.pop(field.name)
            for field in fields(group)
        }
    )


def _options(group: Any) -> list[inspect.Parameter]:
    """Return the fields of a dataclass, and of dataclasses in it, as options."""
    hints = get_type_hints(group, include_extras=True)
    return [
        option
        for name, parameter in inspect.signature(group).parameters.items()
        for option in (
            _options(hints[name])
            if is_dataclass(hints[name])
            else [parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name])]
        )
    ]
