"""Parts of a report as parts of another page: the answer of a fit, and blocks of its sections."""

from __future__ import annotations

from collections.abc import Iterable

from reliabayes.html_report.blocks import Block
from reliabayes.html_report.fits import ReportFit
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.templates import template, text_of
from reliabayes.results.summaries import size_text


def answer_fragment(fit: ReportFit) -> str:
    """HTML of the first screen of a report, and of its details: verdict, figures and picture.

    Parameters
    ----------
    fit : ReportFit
        The fit.

    Returns
    -------
    str
        An element of the class ``reliabayes``, with all names escaped; `fragment_style` styles it.
    """
    html: str = template("fragment.html").render(
        lead=fit,
        with_problems=[fit] if fit.problems else [],
        with_readings=[fit] if fit.fit.readings else [],
        size=size_text(fit.fit.ratings),
        percent=f"{100 * fit.options.prob:g}",
        picture=None if (draw := fit.lead_plot) is None else picture(draw),
        blocks=(),
    )
    return html


def blocks_fragment(blocks: Iterable[Block]) -> str:
    """HTML of blocks, of whose tables the first rows.

    Parameters
    ----------
    blocks : iterable of blocks
        Such as those of a section.

    Returns
    -------
    str
        An element as of `answer_fragment`.
    """
    html: str = template("fragment.html").render(lead=None, blocks=blocks)
    return html


def fragment_style() -> str:
    """Style sheet of fragments, which wins over what the other page says of elements in general.

    Returns
    -------
    str
    """
    return text_of("answer.css").replace(":where(.reliabayes)", ".reliabayes")
