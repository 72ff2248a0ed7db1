"""Draw the first screen of a report, for README: ``python -m docs.pictures.report``."""

import io
from pathlib import Path

from PIL import Image

from docs.generate.execution import version
from docs.generate.reports import REPORTS, written

PICTURE = Path(__file__).with_name("report.png")
COLOURS = 64  # which make a small file


def main() -> None:
    """The report on the judges of Shrout & Fleiss, in light mode; needs chromium."""
    _, screens = written(REPORTS["scores"].code, version(), has_browser=True)
    Image.open(io.BytesIO(screens["light"])).quantize(COLOURS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
