"""What several tests of parts begin with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame() -> pd.DataFrame:
    """500 ratings of 100 items by 20 raters in two pools, in random order."""
    rng = np.random.default_rng(1)
    rows = [(n, rater) for n in range(100) for rater in rng.choice(20, 5, replace=False)]
    frame = pd.DataFrame(rows, columns=["ad", "who"])
    frame["team"] = np.where(frame["who"] < 8, "staff", "crowd")
    frame["who"] = frame["who"].map("w{}".format)
    frame["score"] = rng.integers(1, 6, 500)
    return frame.sample(frac=1, random_state=1, ignore_index=True)
