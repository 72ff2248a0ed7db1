"""Templates and style sheets of the report."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def text_of(name: str) -> str:
    """Text of a file beside this one.

    Parameters
    ----------
    name : str
        Name of the file.

    Returns
    -------
    str
    """
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def template(name: str, folder: Path = FOLDER) -> Any:
    """A template, which escapes names chosen by users.

    Parameters
    ----------
    name : str
        Name of the file.
    folder : Path, optional
        Where it is, if not beside this file.

    Returns
    -------
    jinja2 Template
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, FOLDER]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def hash_of(text: str) -> str:
    """Hash by which the content security policy admits a page's own style or script.

    Parameters
    ----------
    text : str
        The style or the script.

    Returns
    -------
    str
    """
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
