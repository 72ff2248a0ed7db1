"""Draw two screens of the app, for README and docs: ``python -m docs.pictures.app``."""

import io
from pathlib import Path

from PIL import Image

from docs.generate.reports import ARGUMENTS, CHROMIUM
from tests.app.serving import served

COLOURS = 64  # which make a small file
SCREEN = {"width": 1000, "height": 860}
FAULTY = """\
item,rater,rating
ad 1,Ann,4
ad 1,Bob,5
ad 2,Ann,2
ad 2,Ann,3
ad 2,Bob,
ad 3,Ann,1
ad 3,Bob,1
"""


def main() -> None:
    """The answer for the judges of Shrout & Fleiss, and the faults of a table; needs chromium."""
    from playwright.sync_api import sync_playwright

    from reliabayes.app.elements import EXAMPLE

    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport=SCREEN, color_scheme="light", device_scale_factor=1.5)
        page.goto(address)
        page.get_by_role("textbox").first.fill(EXAMPLE)
        page.get_by_role("tab", name="Reliability").click()
        page.get_by_role("button", name="Fit").click()
        page.locator("#headline").wait_for()
        page.mouse.move(5, 5)
        page.wait_for_timeout(1000)  # until the page is at rest
        save(page.screenshot(), "app.png")
        page.get_by_role("tab", name="Your ratings").click()
        page.get_by_role("textbox").first.fill(FAULTY)
        page.get_by_role("tab", name="Groups").click()
        page.get_by_role("tab", name="Your ratings").click()
        page.get_by_role("alert").scroll_into_view_if_needed()
        page.wait_for_timeout(1000)
        save(page.screenshot(), "app_faults.png")
        browser.close()


def save(screen: bytes, name: str) -> None:
    """Write a screenshot beside this file, with few colours."""
    image = Image.open(io.BytesIO(screen)).quantize(COLOURS)
    image.save(Path(__file__).with_name(name), optimize=True)


if __name__ == "__main__":
    main()
