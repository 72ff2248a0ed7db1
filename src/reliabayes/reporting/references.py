"""References of the methods, each a BibTeX entry of ``references.bib``, by its key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

SOFTWARE = "reliabayes"  # key of the package itself
FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)
ENTRY = re.compile(r"^@\w+\{(\w+),$", re.MULTILINE)
IN_FULL = 2  # authors whom a citation names; of more it names the first


@dataclass(frozen=True)
class Reference:
    """A publication.

    Attributes
    ----------
    key : str
        Key of its entry, such as "shrout1979".
    bibtex : str
        The entry.

    Examples
    --------
    >>> print(reference("shrout1979").cited)
    Shrout & Fleiss, 1979
    >>> print(reference("brennan2001"))
    Brennan, R. L. (2001). Generalizability theory. Springer. \
https://doi.org/10.1007/978-1-4757-3456-0
    """

    key: str
    bibtex: str

    @property
    def fields(self) -> Mapping[str, str]:
        """Fields of the entry, without the braces that protect capitals."""
        return {
            name: re.sub("[{}]", "", value).replace("--", "\N{EN DASH}")
            for name, value in FIELD.findall(self.bibtex)
        }

    @property
    def doi(self) -> str:
        """The digital object identifier; empty if there is none."""
        return self.fields.get("doi", "")

    @property
    def cited(self) -> str:
        """Authors and year, as in parentheses: Shrout & Fleiss, 1979."""
        family = [name.partition(", ")[0] for name in self._authors]
        names = " & ".join(family) if len(family) <= IN_FULL else f"{family[0]} et al."
        return f"{names}, {self._year}"

    def __str__(self) -> str:
        """The reference in APA style, as plain text."""
        fields = self.fields
        title = fields["title"]
        if "edition" in fields:
            title += f" ({fields['edition']} ed.)"
        if "version" in fields:
            title += f" (Version {fields['version']})"
        address = f"https://doi.org/{self.doi}" if self.doi else fields.get("url", "")
        parts = [f"{self._all_authors} ({self._year})", title, self._place]
        ended = [each if each.endswith("?") else f"{each}." for each in parts if each]
        return " ".join(filter(None, [*ended, address]))

    @property
    def _authors(self) -> list[str]:
        return self.fields["author"].split(" and ")

    @property
    def _year(self) -> str:
        return self.fields.get("year", "n.d.")

    @property
    def _all_authors(self) -> str:
        names = [_with_initials(name) for name in self._authors]
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, & {names[-1]}"

    @property
    def _place(self) -> str:
        """Journal, volume and pages; or proceedings or publisher."""
        fields = self.fields
        if "journal" in fields:
            number = f"({fields['number']})" if "number" in fields else ""
            volume = f"{fields['volume']}{number}"
            return ", ".join(filter(None, (fields["journal"], volume, fields.get("pages", ""))))
        if "booktitle" in fields:
            pages = f" (pp. {fields['pages']})" if "pages" in fields else ""
            return f"In {fields['booktitle']}{pages}"
        return fields.get("publisher", "")


def _with_initials(name: str) -> str:
    """A name in APA style: Shrout, P. E."""
    family, _, given = name.partition(", ")
    initials = " ".join(
        "-".join(f"{part[0]}." for part in word.split("-") if part) for word in given.split()
    )
    return f"{family}, {initials}" if initials else family


def reference(key: str) -> Reference:
    """Look up a reference.

    Parameters
    ----------
    key : str
        Key of its entry.

    Returns
    -------
    Reference

    Raises
    ------
    KeyError
        There is no such entry.
    """
    return references()[key]


@cache
def references() -> Mapping[str, Reference]:
    """All references, by key."""
    text = (Path(__file__).parent / "references.bib").read_text(encoding="utf-8")
    entries = text.replace("VERSION", version(SOFTWARE)).strip().split("\n\n")
    keys = [ENTRY.findall(entry)[0] for entry in entries]
    return {key: Reference(key, entry) for key, entry in zip(keys, entries, strict=True)}


def cited(keys: Iterable[str]) -> str:
    """Citation of several references: Cohen, 1960, 1968; Shrout & Fleiss, 1979."""
    years: dict[str, list[str]] = {}
    for key in keys:
        names, _, year = reference(key).cited.rpartition(", ")
        years.setdefault(names, []).append(year)
    return "; ".join(", ".join([names, *of_names]) for names, of_names in years.items())
