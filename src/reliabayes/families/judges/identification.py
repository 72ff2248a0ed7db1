"""What answers can tell: how many independent views of an item there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.ratings import Ratings

Of: TypeAlias = Literal["people", "truth"]
Verdict: TypeAlias = Literal["yes", "just", "if families are independent", "no"]

GENERIC = 3  # independent views that determine two true categories and all errors
GOLD = "gold=... for a random part of the items"
REMEDY = f'Pass {GOLD}, or trust="person" if the person is always right.'
WITHOUT_PEOPLE = f"Pass human=... for labels by people, or {GOLD}."


@dataclass(frozen=True)
class Identification:
    """What the answers determine, before any numbers.

    Attributes
    ----------
    people, families, gold : int
        Independent views of an item, at most: people and families of judges on the items that have
        most of them; and items whose true category is known.
    truth, people_rate : str
        Whether the rates of true categories, and of people's ratings, are determined.
    why : str
        The reason, in sentences.
    """

    people: int
    families: int
    gold: int
    truth: Verdict
    people_rate: Verdict
    why: str

    def table(self) -> pd.DataFrame:
        """A row for each quantity: views, verdict and reason."""
        row = {"people": self.people, "families": self.families, "gold": self.gold}
        rows = {"truth": self.truth, "people": self.people_rate}
        return pd.DataFrame(
            [{**row, "identified": verdict, "why": self.why} for verdict in rows.values()],
            index=pd.Index(rows, name="of"),
        )

    def require(self, of: Of) -> None:
        """Refuse rates that the answers do not determine.

        Raises
        ------
        ValueError
            They do not.
        """
        if (self.truth if of == "truth" else self.people_rate) == "no":
            what = "true categories" if of == "truth" else "ratings by people"
            raise ValueError(f"the rates of {what} cannot be told from these answers. {self.why}")


def identification(ratings: Ratings, problem: PanelProblem) -> Identification:
    """What the answers determine.

    Parameters
    ----------
    ratings : Ratings
        The answers.
    problem : PanelProblem
        What the model makes of them.
    """
    roles = problem.roles
    by_person = roles.is_person[ratings.rater]
    people = _views(ratings.item[by_person], ratings.rater[by_person], ratings.n_items)
    family = roles.family[ratings.rater[~by_person]]
    families = _views(ratings.item[~by_person], family, ratings.n_items)
    best = int(np.argmax((people + families) * 1000 + people))  # people first among as many views
    n_people, n_families = int(people[best]), int(families[best])
    n_gold = 0 if ratings.gold_category is None else int((ratings.gold_category >= 0).sum())
    views = f"No item has more than {_people(n_people)} and {_families(n_families)}."
    if not by_person.any():
        if n_gold:
            why = "No people rated: known answers alone say how often judges err."
            return Identification(0, n_families, n_gold, "yes", "no", why)
        why = f"There are judges only, who may all err together. {WITHOUT_PEOPLE}"
        return Identification(0, n_families, 0, "no", "no", why)
    if problem.trusts_person:
        return Identification(
            n_people, n_families, n_gold, "yes", "yes", "The person is taken to be always right."
        )
    if n_gold:
        why = "Known answers settle true categories, if they are a random part of the items."
        return Identification(n_people, n_families, n_gold, "yes", "yes", why)
    if n_people + n_families >= GENERIC:
        if n_people >= 2:
            few = n_people + n_families == GENERIC and n_families == 1
            why = f"{views} Each person and each family is a view of its own."
            return Identification(
                n_people, n_families, 0, "just" if few else "yes", "yes",
                why + (" These just suffice." if few else ""),
            )  # fmt: skip
        why = f"{views} True categories follow only if families of judges err independently."
        return Identification(n_people, n_families, 0, "if families are independent", "yes", why)
    why = f"{views} Less than three independent views do not tell errors from true categories. "
    return Identification(n_people, n_families, 0, "no", "yes", why + REMEDY)


def _views(item: Codes, view: Codes, n_items: int) -> Codes:
    """Number (I,) of different views of each item."""
    pairs = np.unique(item.astype(np.int64) * (int(view.max(initial=0)) + 1) + view)
    return np.bincount(pairs // (int(view.max(initial=0)) + 1), minlength=n_items)


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number} people"


def _families(number: int) -> str:
    return "1 family of judges" if number == 1 else f"{number} families of judges"
