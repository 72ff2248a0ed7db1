"""CPU seconds from ratings to draws, and from draws to a report.

python -m benchmarks.answers
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import reliabayes as rb
from benchmarks.annotation_crowds import fitted, timed
from reliabayes.models import RatingModel

# Data set, options of reading it, and model.
RUNS: tuple[tuple[str, dict[str, Any], RatingModel[Any]], ...] = (
    ("shrout_fleiss_1979", {}, rb.GaussianICC()),
    ("wine", {}, rb.OrdinalICC()),
    ("crowd_ms", {}, rb.MACE()),
    ("hs_brexit", {"rating": "hate_speech", "pool": "pool"}, rb.LogitXCC()),
    ("snow2008_rte", {}, rb.HierarchicalDawidSkene()),
    ("snow2008_rte", {}, rb.OrdinalICC()),
    ("snow2008_rte", {}, rb.LatentTAP()),
    ("alttest_10k_prompts", {"pool": "pool"}, rb.GaussianXCC()),
)


def main() -> None:
    """Print a row for each run; the target is a report in 3 seconds."""
    print(f"{'':24}{'model':24}{'ratings':>9}{'raters':>8}{'fit':>8}{'report':>8}   R-hat")
    with tempfile.TemporaryDirectory() as folder:
        for name, options, model in RUNS:
            ratings = rb.read_ratings(rb.datasets.folder() / f"{name}.csv", **options)
            fitting, fit = timed(fitted, model, ratings)
            reporting, _ = timed(fit.report, Path(folder, "report.html"))
            print(
                f"{name:24}{type(model).__name__:24}{len(ratings):9,}{ratings.n_raters:8}"
                f"{fitting:8.1f}{reporting:8.1f}{fit.diagnostics().r_hat:8.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
