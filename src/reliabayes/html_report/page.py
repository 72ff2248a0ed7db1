"""The report as a whole: one HTML file with the answer and all sections."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reliabayes.errors import Fault, RatingsError
from reliabayes.files import write_whole
from reliabayes.html_report.blocks import Picture, Section
from reliabayes.html_report.fits import Options, ReportFit, report_fits
from reliabayes.html_report.one_page import one_page_of
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.printing import printed, printing_program, require_one_page
from reliabayes.html_report.sections.comparison import comparison
from reliabayes.html_report.sections.data import data
from reliabayes.html_report.sections.diagnostics import diagnostics
from reliabayes.html_report.sections.method import method
from reliabayes.html_report.sections.predictive_checks import predictive_checks
from reliabayes.html_report.sections.quantities import quantities
from reliabayes.html_report.sections.raters_and_items import items, raters
from reliabayes.html_report.templates import hash_of, template, text_of
from reliabayes.ratings import Ratings
from reliabayes.results.model import as_counted
from reliabayes.results.summaries import size_text

if TYPE_CHECKING:
    from reliabayes.partitions import AnyRatings
    from reliabayes.results.fit import Fit

BUDGET = 10_000_000  # bytes of the tables of items and raters of all fits


def report(
    ratings: AnyRatings,
    fits: Fit | Mapping[str, Fit],
    path: str | os.PathLike[str],
    *,
    title: str = "Can these ratings be trusted?",
    prob: float = 0.9,
    reliability: float = 0.8,
    source: Mapping[str, str] | None = None,
    command: str = "",
    date: str = "",
    one_page: bool = False,
) -> None:
    """Write one HTML page with the results of one or several fits, the answer first.

    Of ratings in parts there are no tables of items, predictive checks and comparisons of models,
    which need all ratings in memory, and the page says so.

    The page is self-contained: it needs neither the network nor other files. Its tables of items
    and raters take at most 10 MB, so that a page of up to four fits stays below 15 MB: of far more
    than a hundred thousand items, the most certain are left out, and the page says so. Estimates of
    items and predictive checks may be based on fewer draws than the fit has; the page states how
    many. The same fits give the same page.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings that the models were fitted to.
    fits : Fit or mapping of str to Fit
        One fit, or several by name. If the models can be compared, the best comes first.
    path : str or path-like
        Path of the page. The file is written completely or not at all.
    title : str, optional
        Title above the answer.
    prob : float, default 0.9
        Probability of all intervals, strictly between 0 and 1.
    reliability : float, default 0.8
        Target reliability of means of ratings, strictly between 0 and 1.
    source : mapping of str to str, optional
        More facts about the data, such as the name of the file, by name.
    command : str, optional
        Command that makes the page; by default the page shows Python code that fits the models.
    date : str, optional
        Date of the page; none by default, so that the same fits give the same page.
    one_page : bool, default False
        Whether to write one printed page (A4) instead: the verdict, its numbers, one picture, and
        the sentence of `methods` with its references, of the first fit. If the path ends with
        ``.pdf``, Chromium or Chrome prints it.

    Raises
    ------
    FileNotFoundError
        A PDF is asked for, and no Chromium is installed.
    RatingsError
        A fit has other ratings.
    ValueError
        There are no fits, an option is out of range, or a PDF is asked for without ``one_page``.
    """
    is_pdf = os.fspath(path).lower().endswith(".pdf")
    if is_pdf:
        require_one_page(one_page=one_page)
        printing_program()  # before what takes long
    named = fits if isinstance(fits, Mapping) else {type(fits.model).__name__: fits}
    _check(ratings, named, prob=prob, reliability=reliability)
    ordered = report_fits(named, Options(prob, reliability, BUDGET // (2 * len(named))))
    compared = comparison(ordered)
    ordered = _best_first(ordered, compared)
    first = {
        "title": title,
        "date": date,
        "size": _size(ordered[0].fit.ratings, ratings),
        "percent": f"{100 * prob:g}",
        "lead": ordered[0],
        "picture": None if (draw := ordered[0].lead_plot) is None else picture(draw),
    }
    if one_page:
        html = one_page_of(ordered[0], **first)
        write_whole(path, printed(html) if is_pdf else _encoded(html))
        return
    sections = [
        raters(ordered),
        items(ordered),
        quantities(ordered),
        compared,
        predictive_checks(ordered),
        diagnostics(ordered),
        data(ratings, source or {}, prob),
        method(ordered, command, prob),
    ]
    page = rendered(
        **first,
        others=ordered[1:],
        with_problems=[each for each in ordered if each.problems],
        with_readings=[each for each in ordered if each.fit.readings],
        compared=next((x for x in compared.blocks if isinstance(x, Picture)), None),
        sections=[section for section in sections if section.blocks],
    )
    write_whole(path, page)


def _check(ratings: AnyRatings, fits: Mapping[str, Fit], **probabilities: float) -> None:
    if not fits:
        raise ValueError("fits: at least one fit is needed.")
    for name, value in probabilities.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie strictly between 0 and 1, not {value}.")
    for name, fit in fits.items():
        if not _is_of(fit, ratings):
            rule = "all fits must be of the ratings of the report"
            found = f"{name!r} has {fit.ratings!r}, the report {ratings!r}"
            remedy = "Pass the ratings that the models were fitted to."
            raise RatingsError([Fault("fits", rule, found, remedy)])


def _is_of(fit: Fit, ratings: AnyRatings) -> bool:
    """Whether a fit is of these ratings, as its model counts them."""
    if fit.ratings == ratings:
        return True
    if fit.model.repeats == "independent" or not ratings.has_repeats:
        return False
    if isinstance(ratings, Ratings):
        return fit.ratings == as_counted(fit.model, ratings)
    return (fit.ratings.n_items, len(fit.ratings)) == (ratings.n_items, ratings.n_pairs)


def _size(counted: AnyRatings, ratings: AnyRatings) -> str:
    """Sizes of the ratings that a model counts, and of how many they are votes."""
    if len(counted) == len(ratings):
        return size_text(ratings)
    return f"{size_text(counted)} (one by each rater of an item; {len(ratings):,} were given)"


def _best_first(fits: list[ReportFit], compared: Section) -> list[ReportFit]:
    """Fits in the order of the comparison, if there is one."""
    tables = [block for block in compared.blocks if block.kind == "table"]
    if not tables:
        return fits
    order = tables[0].columns[0].values
    return sorted(fits, key=lambda each: order.index(each.name))


def rendered(**content: Any) -> bytes:
    """The page as HTML in UTF-8; names chosen by users are escaped.

    Parameters
    ----------
    **content : Any
        What `page.html` shows.

    Returns
    -------
    bytes
    """
    style = "\n".join(map(text_of, ("answer.css", "page.css")))
    script = text_of("page.js")
    html: str = template("page.html").render(
        style=style,
        script=script,
        style_hash=hash_of(style),
        script_hash=hash_of(script),
        **content,
    )
    return _encoded(html)


def _encoded(html: str) -> bytes:
    return html.encode("utf-8", errors="replace")
