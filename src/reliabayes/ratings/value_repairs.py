"""Repairs of values: numbers and dates written in other ways, and spellings of no rating."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.errors import Fault
from reliabayes.ratings.columns import NUMBER
from reliabayes.ratings.raw_table import RawTable
from reliabayes.ratings.read_options import ReadOptions
from reliabayes.ratings.repairs import Repair
from reliabayes.ratings.role_names import plain, word_set
from reliabayes.ratings.text_values import COMMA_NUMBER, THOUSANDS
from reliabayes.wording import counted, listed

MISSING = word_set(
    "na n/a n.a n.a. #n/a #na #nv nan null none nil missing k.a k.a. keine_angabe s/d n.d "
    "n.d. nd no_answer no_rating not_rated unrated keine leer vide nc n/d"
)
MISSING_MARKS = frozenset(
    {"", "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "?", "/", "*", "\\"}
)
FIGURES = "[0-9]+(?:[.,'\u2019\u00a0\u2009\u202f ][0-9]+)*"
AMOUNT = re.compile(rf"([€$£¥]?)\s*([-+\u2212]?{FIGURES})\s*([^0-9\s.,+\-_].*|/\s*[0-9]+)?")
SPACES = str.maketrans(
    {sign: None for sign in " \u00a0\u2009\u202f\t\n\r'\u2019"} | {"\u2212": "-"}
)
AMBIGUOUS_COMMA = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}")
AMBIGUOUS_POINT = re.compile(r"[-+]?[1-9][0-9]{0,2}\.[0-9]{3}")
BOTH = re.compile(
    r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+\.[0-9]+|[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3}){2,}"
)
BOTH_GERMAN = re.compile(
    r"[-+]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+|[-+]?[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}"
)
MOST_WORDS = 0.2  # of values in a column of numbers of which a few are mistyped
MOST_ODD = 5  # different texts among numbers that look like mistakes
FIRST_DAY = date(1899, 12, 30)  # of a spreadsheet
SERIALS = range(20_000, 80_000)  # 1954 to 2119
DATE_NAMES = word_set("date day datum tag fecha dia data giorno jour date_rated session_date")


def spellings_of_missing(
    table: RawTable, names: Sequence[str], options: ReadOptions
) -> Iterator[Repair]:
    """Yield the repair for words such as NA among ratings.

    Parameters
    ----------
    table : RawTable
        The table.
    names : sequence of str
        Columns of ratings.
    options : ReadOptions
        How it is read.

    Yields
    ------
    Repair
        It is safe if all other values are numbers.
    """
    if options.na is not None:
        return
    declared = set(map(str, options.categories)) if options.categories is not None else set()
    texts = table.texts(names)
    cells = {x: n for x, n in texts.items() if is_missing(x) and x not in declared}
    if not cells:
        return
    found = [*cells]
    others = [text for text in texts if text not in found]
    is_safe = bool(others) and all(AMOUNT.fullmatch(text.strip()) for text in others)
    fault = Fault(
        names[0] if len(names) == 1 else "ratings",
        "it must be clear which values are no ratings",
        f"{listed(found)} in {counted(sum(cells.values()), 'cell')}",
        f"Pass na={found!r} if these were not rated, or na=[] if they are ratings.",
        arguments={"na": found},
    )
    yield replace(emptied(names, cells), fault=fault, is_safe=is_safe)


def emptied(names: Sequence[str], cells: Mapping[str, int]) -> Repair:
    """Return the repair that reads some texts as no rating.

    Parameters
    ----------
    names : sequence of str
        Columns of ratings.
    cells : mapping from str to int
        The texts, with the number of cells that hold each.

    Returns
    -------
    Repair
    """
    action = f"reads {listed(cells)} as no rating in {counted(sum(cells.values()), 'cell')}"
    return Repair("missing", action, _respelling(names, dict.fromkeys(cells)))


def is_missing(text: str) -> bool:
    """Whether a text is a usual spelling of no value."""
    return text.strip() in MISSING_MARKS or plain(text) in MISSING


def numbers(table: RawTable, names: Sequence[str], options: ReadOptions) -> Iterator[Repair]:
    """Yield repairs for ratings that are numbers, but are not written as plain ones.

    Parameters
    ----------
    table : RawTable
        The table.
    names : sequence of str
        Columns of ratings.
    options : ReadOptions
        How it is read.

    Yields
    ------
    Repair
        Of percentages, units, thousands separators, decimal commas and spaces; and of the few
        texts that keep others from being numbers.
    """
    texts = table.texts(names)
    odd = [text for text in texts if not re.fullmatch(NUMBER, text)]
    if options.are_labels or (not odd and not _may_be_thousands(texts)):
        return
    if odd and all(re.fullmatch(COMMA_NUMBER, text) for text in texts):
        with_comma = [text for text in texts if "," in text]
        are_decimals = not all(re.fullmatch(THOUSANDS, text) for text in with_comma)
        if are_decimals or options.decimal == ",":
            return  # which reading guesses, and says so
    amounts = {text: AMOUNT.fullmatch(text.strip()) for text in texts}
    words = [text for text, amount in amounts.items() if amount is None and text in odd]
    place = names[0] if len(names) == 1 else "ratings"
    if words:
        if _are_few(words, texts):
            yield _mistakes(table, names, place, words)
        return
    known = {text: amount for text, amount in amounts.items() if amount is not None}
    units = {text: _unit(amount) for text, amount in known.items()}
    figures = {text: amount[2].translate(SPACES) for text, amount in known.items()}
    decimal = options.decimal or _decimal(figures.values())
    if decimal is None:
        yield _ambiguous(place, [text for text in texts if _is_ambiguous(figures[text])])
        return
    plain_forms = {text: _plain_number(figures[text], decimal) for text in figures}
    if unread := [text for text, form in plain_forms.items() if form is None]:
        if _are_few(unread, texts):
            yield _mistakes(table, names, place, unread)
        return
    forms = {text: form for text, form in plain_forms.items() if form != text}
    different = set(units.values())
    if different - {"", "%"} and (rare := _in_rare_units(units, texts)):
        yield _mistakes(table, names, place, rare)
        return
    if not different - {""}:
        yield from _plain(names, forms, texts)
    elif different <= {"%", ""}:
        yield _percentages(names, place, forms, units, texts, options)
    else:
        yield _units(names, place, forms, units, texts, options)


def figures(table: RawTable, name: str) -> Array:
    """Return a column as numbers, however they are written.

    Parameters
    ----------
    table : RawTable
        N rows.
    name : str
        The column.

    Returns
    -------
    array of float64, shape (N,)
        NaN where there is no number.
    """
    codes, texts = table.coded(name)
    found = {str(x): AMOUNT.fullmatch(str(x).strip()) for x in texts}
    digits = {text: each[2].translate(SPACES) for text, each in found.items() if each is not None}
    decimal = _decimal(digits.values())
    decimal = "." if decimal is None else decimal
    forms = {text: _plain_number(each, decimal) for text, each in digits.items()}
    numbers = [float(forms.get(str(text)) or "nan") for text in texts]
    return np.append(np.array(numbers, dtype=float), np.nan)[codes]


def lenient_sample(table: RawTable, names: Sequence[str]) -> pd.DataFrame:
    """Return columns as numbers if most values are, however they are written, or as texts.

    Parameters
    ----------
    table : RawTable
        Some rows.
    names : sequence of str
        The columns.

    Returns
    -------
    DataFrame
        Spellings of no rating are empty.
    """
    found: dict[str, Any] = {}
    for name in names:
        codes, texts = table.coded(name)
        known = [None if is_missing(str(text)) else str(text).strip() for text in texts]
        column = pd.Series(np.array([*known, None], dtype=object)[codes])
        numbers = pd.Series(figures(table, name))
        is_odd = column.notna() & numbers.isna()
        are_numbers = is_odd.sum() <= column.notna().sum() * MOST_WORDS and numbers.notna().any()
        found[name] = numbers if are_numbers else column
    return pd.DataFrame(found)


def serial_dates(table: RawTable, names: Sequence[str]) -> Iterator[Repair]:
    """Yield repairs for columns of dates in which a spreadsheet counts days.

    Parameters
    ----------
    table : RawTable
        The table.
    names : sequence of str
        Columns of ids and facets.

    Yields
    ------
    Repair
    """
    for name in names:
        texts = table.texts([name])
        serials = [text for text in texts if text.isdigit() and int(text[:9]) in SERIALS]
        known = set(serials)
        others = [text for text in texts if text not in known]
        are_dates = all(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( .*)?", text) for text in others)
        is_named = bool(set(re.split(r"[\s_.\-]+", plain(name))) & DATE_NAMES)
        if not serials or not are_dates or not (is_named or others):
            continue
        forms = {text: (FIRST_DAY + timedelta(int(text))).isoformat() for text in serials}
        is_safe = not set(forms.values()) & set(others)
        action = f"reads numbers of column {name} as dates: {_examples(forms)}"
        fault = Fault(
            name,
            "dates must be written in one way",
            f"{listed(serials)} beside {listed(others)}",
            "Format the column as dates.",
        )
        yield Repair(
            "dates as numbers", action, _respelling([name], forms), fault=fault, is_safe=is_safe
        )


def _in_rare_units(units: Mapping[str, str], texts: Mapping[str, int]) -> list[str]:
    """Numbers in other units than most, if they are few; none if some have no unit."""
    cells: dict[str, int] = {}
    for text, unit in units.items():
        cells[unit] = cells.get(unit, 0) + texts[text]
    usual = max(cells, key=lambda unit: cells[unit])
    rare = [text for text, unit in units.items() if unit not in (usual, "")]
    return rare if _are_few(rare, texts) else []


def _are_few(some: Sequence[str], texts: Mapping[str, int]) -> bool:
    """Whether some texts are so few among others that they may be mistakes."""
    number = sum(texts[text] for text in some)
    return len(some) <= MOST_ODD and 10 * number <= sum(texts.values())


def _unit(amount: re.Match[str]) -> str:
    unit = " ".join((amount[3] or "").split())
    return f"{amount[1]}{unit}".replace("/ ", "/")


def _is_ambiguous(figure: str) -> bool:
    return bool(AMBIGUOUS_COMMA.fullmatch(figure))


def _may_be_thousands(texts: Collection[str]) -> bool:
    """Whether points may separate thousands: three digits follow each, beside 100 to 999."""
    with_point = [text for text in texts if "." in text]
    if not with_point or not all(AMBIGUOUS_POINT.fullmatch(text) for text in with_point):
        return False
    return any(re.fullmatch("[1-9][0-9]{2}", text) for text in texts)


def _decimal(figures: Collection[str]) -> str | None:
    """What comes before decimals; "" if both do; None if it is open."""
    with_comma = [x for x in figures if "," in x]
    with_point = [x for x in figures if "." in x]
    points = any(BOTH.fullmatch(x) for x in with_comma)
    commas = any(BOTH_GERMAN.fullmatch(x) for x in figures)
    if points or commas:
        return None if points and commas else "." if points else ","
    single_comma = [x for x in with_comma if not _is_ambiguous(x)]
    clear_point = [x for x in with_point if not AMBIGUOUS_POINT.fullmatch(x)]
    if with_comma and with_point:
        both_clear = len(single_comma) == len(with_comma) and len(clear_point) == len(with_point)
        return "" if both_clear else None
    if with_comma:
        return "," if len(single_comma) == len(with_comma) else None
    if with_point and not clear_point and _may_be_thousands(figures):
        return None
    return "."


def _plain_number(figure: str, decimal: str) -> str | None:
    """The number as a plain one; None if it cannot be read so."""
    if decimal == "":
        text = figure.replace(",", ".")
    else:
        other = "," if decimal == "." else "."
        thousands, decimals = rf"(?:\{other}[0-9]{{3}})+", rf"(?:\{decimal}[0-9]+)?"
        grouped = rf"[-+]?[1-9][0-9]{{0,2}}{thousands}{decimals}"
        if other in figure and not re.fullmatch(grouped, figure):
            return None
        text = figure.replace(other, "").replace(decimal, ".")
    return text if re.fullmatch(NUMBER, text) else None


def _plain(
    names: Sequence[str], forms: Mapping[str, str | None], texts: Mapping[str, int]
) -> Iterator[Repair]:
    if forms:
        number = sum(texts[text] for text in forms)
        action = f"reads {counted(number, 'cell')} as plain numbers: {_examples(forms)}"
        yield Repair("numbers as text", action, _respelling(names, forms), is_safe=True)


def _percentages(
    names: Sequence[str],
    place: str,
    forms: Mapping[str, str | None],
    units: Mapping[str, str],
    texts: Mapping[str, int],
    options: ReadOptions,
) -> Repair:
    with_sign = [text for text, unit in units.items() if unit]
    number = sum(texts[text] for text in with_sign)
    without = sum(texts.values()) - number
    beside = f" beside {without} without" if without else ""
    fault = Fault(
        place,
        "ratings must be either numbers or labels",
        f"{number} numbers with a percent sign{beside}, such as {with_sign[0]!r}",
        'Pass percent=True to read them as numbers, 45% as 45, or scale="nominal" to keep them as '
        "labels.",
        arguments={"percent": True},
    )
    action = f"reads {counted(number, 'percentage')} as numbers: {_examples(forms)}"
    if without:
        action += f", and {without} without a sign as they are"
    is_safe = options.percent
    return Repair("percentages", action, _respelling(names, forms), fault=fault, is_safe=is_safe)


def _units(
    names: Sequence[str],
    place: str,
    forms: Mapping[str, str | None],
    units: Mapping[str, str],
    texts: Mapping[str, int],
    options: ReadOptions,
) -> Repair:
    different = sorted(set(units.values()) - {""})
    is_one = len(different) == 1
    number = sum(texts[text] for text, unit in units.items() if unit)
    without = [text for text, unit in units.items() if not unit]
    if not is_one:
        found = f"the units {listed(different)}"
        remedy, arguments = 'Convert them to one, or pass scale="nominal".', {"scale": "nominal"}
    else:
        found = f"{number} in {different[0]!r} beside {listed(without)} without a unit"
        remedy = 'Pass scale="numeric" to read all in this unit, or scale="nominal" to keep labels.'
        arguments = {"scale": "numeric"}
    fault = Fault(place, "numbers must have one unit", found, remedy, arguments=arguments)
    action = f"reads {counted(number, 'cell')} in {different[0]!r} as numbers: {_examples(forms)}"
    is_safe = is_one and (not without or options.scale == "numeric")
    return Repair("units", action, _respelling(names, forms), fault=fault, is_safe=is_safe)


def _ambiguous(place: str, texts: Sequence[str]) -> Repair:
    fault = Fault(
        place,
        "it must be clear what separates decimals, and what thousands",
        f"{listed(texts) if texts else 'points before three digits'}",
        'Pass decimal="." if commas separate thousands, or decimal="," if they separate decimals.',
        arguments={"decimal": "."},
    )
    return Repair("thousands", "", lambda raw: raw, fault=fault, is_safe=False)


def _mistakes(table: RawTable, names: Sequence[str], place: str, words: Sequence[str]) -> Repair:
    """A few texts among numbers, which may be mistyped."""
    rows = np.zeros(len(table), np.bool_)
    for name in names:
        rows |= table.holds(name, words)
    lines = table.places(rows)
    fault = Fault(
        place,
        "ratings must be either numbers or labels",
        f"{listed(words)} among numbers",
        f"Correct them, or pass na={list(words)!r} to leave them out.",
        lines[:5],
        (),
        len(lines),
        table.unit,
        None,
        {"na": list(words)},
    )
    return Repair("mistyped", "", lambda raw: raw, lines, table.unit, fault=fault, is_safe=False)


def _respelling(names: Sequence[str], forms: Mapping[str, Any]) -> Any:
    return lambda table: table.respelled(names, forms)


def _examples(forms: Mapping[str, Any]) -> str:
    return ", ".join(f"{text!r} as {form}" for text, form in list(forms.items())[:3])
