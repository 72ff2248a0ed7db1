"""How far a search by Newton's method goes."""

from __future__ import annotations

import math
from typing import NamedTuple


class Newton(NamedTuple):
    """Limits of a search by Newton's method, or by steps like its own."""

    steps: int  # at most
    last: float  # change, or gain in nats, that ends the search
    longest: float = math.inf  # move in a step
