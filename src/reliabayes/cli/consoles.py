"""The two streams. Functions that print look them up in the package, where they may be replaced."""

from rich.console import Console

out = Console(highlight=False, markup=False)
err = Console(highlight=False, markup=False, stderr=True)
