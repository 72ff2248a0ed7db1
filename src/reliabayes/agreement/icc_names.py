"""Names of the intraclass correlations of single ratings and of means."""

from __future__ import annotations

from typing import Literal, get_args

IccName = Literal["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"]
Averaged = Literal["ratings", "columns"]

NAMES: tuple[IccName, ...] = get_args(IccName)
SINGLE: tuple[IccName, ...] = NAMES[:3]
UNDEFINED = "the variance in its denominator is 0 (0/0)"


def single(name: IccName) -> IccName:
    """Return the ICC of single ratings that belongs to an ICC.

    Parameters
    ----------
    name : str
        Name of an ICC.

    Returns
    -------
    str
        The same model, for single ratings.
    """
    return SINGLE[NAMES.index(name) % 3]
