"""Paths that no folder of parts can have, refused before anything is read or written."""

from __future__ import annotations

import errno
from pathlib import Path

from reliabayes.errors import Fault, RatingsError
from reliabayes.wording import shown


def require_possible(path: Path, place: str) -> None:
    """Refuse a path that is too long for the file system.

    Parameters
    ----------
    path : Path
        The path.
    place : str
        The argument that it is.

    Raises
    ------
    RatingsError
        It is too long.
    """
    try:
        path.exists()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        rule = "names of files and folders must have at most 255 bytes, and paths at most 4,095"
        longest = max(path.parts, key=lambda name: len(name.encode()))
        size, total = len(longest.encode()), len(str(path).encode())
        found = f"a name of {size:,} bytes in a path of {total:,}: {shown(longest)}"
        raise RatingsError([Fault(place, rule, found, "Choose a shorter path.")]) from error


def require_folder(folder: Path) -> None:
    """Refuse a path at which no folder can be made, because there is a file.

    Parameters
    ----------
    folder : Path
        Where parts are to be.

    Raises
    ------
    RatingsError
        It, or a folder that it is in, is a file.
    """
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        rule, remedy = "the folder must be empty or new", "Choose another one."
        raise RatingsError([Fault(str(folder), rule, f"that {there} is a file", remedy)])
