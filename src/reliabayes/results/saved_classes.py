"""Classes that a saved fit names: which of them are built when it is loaded."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from reliabayes.inference.problem import StanPart

OWN = "reliabayes"  # the package, whose other classes no fit holds


class UnknownClassError(ValueError):
    """The file names a class that is not built."""


def import_name(cls: type) -> str:
    """Where a class can be imported from.

    Parameters
    ----------
    cls : type
        The class.

    Returns
    -------
    str
        Module and name, such as ``reliabayes.models.tap:TAP``.

    Raises
    ------
    ValueError
        It is defined inside a function.
    """
    if "<locals>" in cls.__qualname__:
        raise ValueError(
            f"{cls.__qualname__} is defined inside a function, so that a saved fit could not be "
            "loaded again. Define the class at the top level of a module or notebook."
        )
    return f"{cls.__module__}:{cls.__qualname__}"


def named_class(name: str, known: Mapping[str, type], trust: bool) -> type:
    """The class that `import_name` names, if a fit may hold it.

    Parameters
    ----------
    name : str
        Module and name of the class, as a file has them.
    known : mapping of str to type
        Classes of the package that fits hold, by such names.
    trust : bool
        Whether any other dataclass may be built, for which its module is imported. Otherwise it
        must be derived from one of ``known``, and be defined in a module that is imported already.

    Returns
    -------
    type

    Raises
    ------
    UnknownClassError
        The class is not there, or the file may not name it.
    """
    if name in known:
        return known[name]
    module, _, path = name.partition(":")
    needed = f"the fit needs the class {path!r} of the module {module!r}"
    if module.split(".")[0] == OWN:
        raise UnknownClassError(
            f"{needed}, which is not a model, prior or centring of this version of {OWN}. Load it "
            "with the version that saved it, or fit the model again"
        )
    if trust:
        _import(module, needed)
    found = _defined(module, path)
    if found is None:
        raise UnknownClassError(
            f"{needed}, and no dataclass of this name is defined in a module that is imported. "
            "Import or define it before loading the fit, or pass trust=True to Fit.load if you "
            "know who wrote the file: its modules are then imported, which runs their code"
        )
    if not trust and not issubclass(found, (StanPart, *known.values())):
        raise UnknownClassError(
            f"{needed}, which is not derived from a model, prior or centring of {OWN}. Pass "
            "trust=True to Fit.load if you know who wrote the file"
        )
    return found


def _import(module: str, needed: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise UnknownClassError(
            f"{needed}, which cannot be imported here: {error}. Define it, or make its module "
            "importable, before loading the fit"
        ) from error


def _defined(module: str, path: str) -> type | None:
    """A dataclass by its name in a module that is imported; looking it up runs no code."""
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = None if found is None else vars(found).get(name)
        if not isinstance(found, type):
            return None
    is_here = (found.__module__, found.__qualname__) == (module, path)
    is_record = is_dataclass(found)
    return found if is_record and is_here else None
