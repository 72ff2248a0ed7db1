"""Packages of the extra `large`, without which the others do all that needs no parts on disk."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed_package(name: str) -> Any:
    """Return a package of the extra `large`.

    Parameters
    ----------
    name : str
        The package.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        text = f"ratings in parts need the package {name}; run pip install 'reliabayes[large]'"
        raise ImportError(text) from error
