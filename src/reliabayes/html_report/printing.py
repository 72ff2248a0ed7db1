"""Pages as PDF, printed by a Chromium of this computer."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

CHROMIUM = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
LONGEST_WAIT = 120  # seconds for a page, on a busy computer, too
ALONE = (  # without what else a browser does when it starts
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-pdf-header-footer",
)


def require_one_page(*, one_page: bool) -> None:
    """Raise ValueError unless the page to print is the one-page report."""
    if not one_page:
        raise ValueError(
            "path: only the report on one page is printed as PDF. Pass one_page=True, or a path "
            "that ends with .html."
        )


def printing_program() -> str:
    """Return the path of the program that prints pages.

    Raises
    ------
    FileNotFoundError
        There is no such program.
    """
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        raise FileNotFoundError(
            "a PDF is printed by Chromium, Chrome or Edge, and none of them was found on the path. "
            "Install one, or pass a path that ends with .html and print that page."
        )
    return found


def printed(html: str) -> bytes:
    """Print a page.

    Parameters
    ----------
    html : str
        The page, which needs no other files.

    Returns
    -------
    bytes
        The PDF.

    Raises
    ------
    FileNotFoundError
        There is no Chromium.
    OSError
        It printed nothing.
    """
    program = printing_program()
    with TemporaryDirectory(prefix="reliabayes-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        page, pdf = folder / "page.html", folder / "page.pdf"
        page.write_text(html, encoding="utf-8", errors="replace")
        # Chromium refuses its sandbox to root. The page has no script and no address but its own.
        as_root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        profile = f"--user-data-dir={folder / 'profile'}"
        command = [program, *ALONE, *as_root, profile, f"--print-to-pdf={pdf}", page.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=LONGEST_WAIT, check=False)
        except subprocess.TimeoutExpired as error:
            raise OSError(f"{program} did not print the page in {LONGEST_WAIT} s.") from error
        if not pdf.exists():
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise OSError(f"{program} printed nothing: {said[-1] if said else 'it gave no reason'}")
        return pdf.read_bytes()
