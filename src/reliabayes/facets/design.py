"""Designs of generalizability studies, in the notation of Brennan (2001)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

# "x" crosses what stands on either side of it, with spaces around it; it may be a letter of a name.
TOKEN = re.compile(r"([():]|(?<=[\s)])x(?=[\s(]|$))")
SYNTAX = (
    'Write facets with "x" between those that are crossed and ":" after one that is nested, the '
    'object of measurement first: "item x rater x occasion" or "item x (rater:occasion)".'
)


@dataclass(frozen=True)
class Source:
    """A source of variance: a main effect or an interaction of facets.

    Attributes
    ----------
    name : str
        Such as "item x rater:occasion".
    facets : frozenset of str
        The facets that tell its levels apart, with those in which they are nested.
    """

    name: str
    facets: frozenset[str]


@dataclass(frozen=True)
class MeasurementDesign:
    """Facets that are crossed or nested, the object of measurement first.

    Attributes
    ----------
    text : str
        The design as it was written.
    facets : tuple of str
        Names of the facets in the order written.
    nested : mapping of str to frozenset of str
        The facets in which each is nested, directly or not.

    Examples
    --------
    >>> from reliabayes.facets import MeasurementDesign
    >>> design = MeasurementDesign.parse("item x (rater:occasion)")
    >>> [source.name for source in design.sources()]
    ['item', 'occasion', 'item x occasion', 'rater:occasion', 'item x rater:occasion']
    """

    text: str
    facets: tuple[str, ...]
    nested: Mapping[str, frozenset[str]]

    @classmethod
    def parse(cls, text: str) -> MeasurementDesign:
        """Read a design.

        Parameters
        ----------
        text : str
            Facets with "x" between those that are crossed, and ":" between one that is nested and
            that in which it is; the latter binds more tightly, and parentheses are allowed.

        Raises
        ------
        ValueError
            The text is no design, or names a facet twice.
        """
        parser = _Parser(text)
        names = parser.whole()
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"a design names each facet once; found {twice!r} twice in {text!r}.")
        nested = {name: frozenset(parser.nested.get(name, ())) for name in names}
        return cls(text, tuple(names), MappingProxyType(nested))

    def __reduce__(self) -> tuple[Callable[[str], MeasurementDesign], tuple[str]]:
        return MeasurementDesign.parse, (self.text,)  # a mapping proxy cannot be pickled

    @property
    def measured(self) -> frozenset[str]:
        """The object of measurement, and what it is nested in."""
        return self.nested[self.facets[0]] | {self.facets[0]}

    @property
    def whole(self) -> frozenset[str]:
        """All facets: the index of a cell of the design."""
        return frozenset(self.facets)

    def primary(self, facets: frozenset[str]) -> frozenset[str]:
        """Those of these facets in which no other of them is nested."""
        return facets - self.nested_in(facets)

    def nested_in(self, facets: frozenset[str]) -> frozenset[str]:
        """All facets in which some of these are nested."""
        return frozenset().union(*(self.nested[name] for name in facets))

    def sources(self) -> tuple[Source, ...]:
        """All main effects and interactions, those of fewer facets first."""
        found = [
            frozenset(chosen)
            for size in range(1, len(self.facets) + 1)
            for chosen in combinations(self.facets, size)
            if all(self.nested[name] <= set(chosen) for name in chosen)
        ]
        return tuple(Source(self.name(facets), facets) for facets in found)

    def name(self, facets: frozenset[str]) -> str:
        """Name of a source, such as "item x rater:occasion"."""
        primary = self.primary(facets)
        return " x ".join(self._with_nesting(name) for name in self.facets if name in primary)

    def _with_nesting(self, name: str) -> str:
        """A facet and those in which it is nested, as they are written."""
        within = self.nested[name]
        nearest = self.primary(within)
        names = [self._with_nesting(each) for each in self.facets if each in nearest]
        return ":".join([name, *names] if len(names) < 2 else [name, f"({' x '.join(names)})"])


def as_names(names: str | Collection[str]) -> tuple[str, ...]:
    """Names of facets or sources, of which one may be given alone."""
    return (names,) if isinstance(names, str) else tuple(names)


class _Parser:
    """Recursive descent over the tokens of a design."""

    def __init__(self, text: str) -> None:
        self.text = text
        spelt = text.replace("\N{MULTIPLICATION SIGN}", " x ")
        self.tokens = [token for part in TOKEN.split(spelt) if (token := part.strip())]
        self.nested: dict[str, set[str]] = {}

    def whole(self) -> list[str]:
        names = self.crossed()
        if self.tokens:
            raise self.error(f"{self.tokens[0]!r}")
        return names

    def crossed(self) -> list[str]:
        names = self.within()
        while self.tokens[:1] == ["x"]:
            del self.tokens[0]
            names += self.within()
        return names

    def within(self) -> list[str]:
        inner = self.facet()
        names = list(inner)
        while self.tokens[:1] == [":"]:
            del self.tokens[0]
            outer = self.facet()
            above = set(outer).union(*(self.nested.get(name, ()) for name in outer))
            for name in names:
                self.nested.setdefault(name, set()).update(above)
            names += outer
        return names

    def facet(self) -> list[str]:
        if not self.tokens:
            raise self.error("its end")
        token = self.tokens.pop(0)
        if token != "(":
            if token in ("x", ":", ")"):
                raise self.error(f"{token!r}")
            return [token]
        names = self.crossed()
        if self.tokens[:1] != [")"]:
            raise self.error(f"{self.tokens[0]!r}" if self.tokens else "its end")
        del self.tokens[0]
        return names

    def error(self, found: str) -> ValueError:
        return ValueError(f"{self.text!r} is no design; found {found} unexpectedly. {SYNTAX}")
