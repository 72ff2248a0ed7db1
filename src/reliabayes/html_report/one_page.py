"""The report on one printed page: verdict, numbers, one picture, and the sentence for the paper."""

from __future__ import annotations

from typing import Any

from reliabayes.html_report.fits import ReportFit
from reliabayes.html_report.templates import hash_of, template, text_of

# Characters of text above which it is set smaller, and above which there is no room for a picture
# of 4 cm, as `test_texts_of_any_length_fit` measures.
SMALL, WITHOUT_PICTURE = 1700, 3000


def one_page_of(fit: ReportFit, **content: Any) -> str:
    """HTML of one page of A4.

    Parameters
    ----------
    fit : ReportFit
        The fit.
    **content : Any
        Title, date, size and picture, as for the page of a whole report.

    Returns
    -------
    str
        The page, with all names escaped.
    """
    said = fit.fit.methods(fit.options.prob)
    with_problems, with_readings = [fit] * bool(fit.problems), [fit] * bool(fit.fit.readings)
    texts = [fit.answer.verdict, *fit.answer.limits, *fit.problems, *fit.fit.readings, str(said)]
    length = sum(map(len, texts))
    style = "\n".join(map(text_of, ("answer.css", "one_page.css")))
    html: str = template("one_page.html").render(
        style=style,
        style_hash=hash_of(style),
        said=said,
        density="small" if length > SMALL else "",
        with_problems=with_problems,
        with_readings=with_readings,
        **content | ({"picture": None} if length > WITHOUT_PICTURE else {}),
    )
    return html
