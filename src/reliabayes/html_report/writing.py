"""The page as a whole: the answer, the sections, one file."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reliabayes.errors import Fault, RatingsError
from reliabayes.files import replacing
from reliabayes.html_report import judging, sections
from reliabayes.html_report.blocks import Picture, Section
from reliabayes.html_report.method import method
from reliabayes.html_report.telling import Options, Told, by_name
from reliabayes.plots.densities import size

if TYPE_CHECKING:
    from reliabayes.ratings import Ratings
    from reliabayes.results.fit import Fit

HERE = Path(__file__).parent
BUDGET = 10_000_000  # bytes of the tables of items and raters of all fits


def report(
    ratings: Ratings,
    fits: Fit | Mapping[str, Fit],
    path: str | os.PathLike[str],
    *,
    title: str = "How far can these ratings be trusted?",
    prob: float = 0.9,
    reliability: float = 0.8,
    source: Mapping[str, str] | None = None,
    command: str = "",
    date: str = "",
) -> None:
    """Write one HTML page that tells all that fits say of ratings, the answer first.

    The page needs nothing but itself: no network, no other file. Tables of items and raters take
    10 MB at most, so that a page of up to four fits stays below 15 MB: of far more than a hundred
    thousand items the most certain are left out, and the page says so. What it tells of items and
    of replicates may come from fewer draws than there are; it says from how many. The same fits
    give the same page.

    Parameters
    ----------
    ratings : what the fits are of
    fits : one, or several by the names that they shall have; where models can be compared, the best
        comes first
    path : of the page, which appears whole or not at all
    title : stands above the answer
    prob : probability of all intervals, strictly between 0 and 1
    reliability : of means of ratings, that is to be reached, strictly between 0 and 1
    source : more to say of the data, such as the name of their file, by what it is
    command : what to type for the same page; by default Python that fits the models
    date : of the page; none by default, so that the same fits give the same page

    Raises
    ------
    RatingsError
        A fit is of other ratings.
    ValueError
        There is no fit, or an option is out of range.
    """
    named = fits if isinstance(fits, Mapping) else {type(fits.model).__name__: fits}
    _check(ratings, named, prob=prob, reliability=reliability)
    told = by_name(named, Options(prob, reliability, BUDGET // (2 * len(named))))
    compared = judging.comparison(told)
    told = _best_first(told, compared)
    html = _page(
        title=title,
        date=date,
        size=size(ratings),
        percent=f"{100 * prob:g}",
        lead=told[0],
        others=told[1:],
        troubled=[each for each in told if each.problems],
        compared=next((x for x in compared.blocks if isinstance(x, Picture)), None),
        sections=[
            sections.data(ratings, source or {}, prob),
            sections.quantities(told),
            sections.raters(told),
            sections.items(told),
            compared,
            judging.checks(told),
            judging.diagnostics(told),
            method(told, command),
        ],
    )
    with replacing(path) as partial:
        partial.write_text(html, encoding="utf-8", errors="replace")


def _check(ratings: Ratings, fits: Mapping[str, Fit], **shares: float) -> None:
    if not fits:
        raise ValueError("fits: there must be one at least.")
    for name, share in shares.items():
        if not 0 < share < 1:
            raise ValueError(f"{name} must lie strictly between 0 and 1, not {share}.")
    for name, fit in fits.items():
        if fit.ratings != ratings:
            rule = "all must be of the ratings of the page"
            found = f"{fit.ratings!r} in {name!r}, and {ratings!r} as ratings"
            remedy = "Pass the ratings that the models were fitted to."
            raise RatingsError([Fault("fits", rule, found, remedy)])


def _best_first(told: list[Told], compared: Section) -> list[Told]:
    """Fits in the order of the comparison, where there is one."""
    tables = [block for block in compared.blocks if block.kind == "table"]
    if not tables:
        return told
    order = tables[0].columns[0].values
    return sorted(told, key=lambda each: order.index(each.name))


def _page(**told: Any) -> str:
    """The page as HTML; whatever users call things is escaped."""
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    html: str = _template().render(
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        **told,
    )
    return html


@cache
def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _hash(text: str) -> str:
    """Hash by which a browser knows a style or script of ours from any other."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
