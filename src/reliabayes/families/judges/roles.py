"""Which raters are people, which are judges, and which judges are of one family."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Codes, Mask
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import joined, listed

PEOPLE = ("human", "humans", "people")  # names of pools that need no argument
# Words in names of models, by provider. A word ends where letters end.
MODELS = {
    "openai": ("openai", "gpt", "chatgpt", "o1", "o3", "o4", "davinci"),
    "anthropic": ("anthropic", "claude"),
    "google": ("google", "gemini", "gemma", "palm", "bard"),
    "meta": ("meta", "llama"),
    "mistral": ("mistral", "mistralai", "mixtral", "ministral"),
    "alibaba": ("alibaba", "qwen", "qwq"),
    "deepseek": ("deepseek",),
    "microsoft": ("microsoft", "phi"),
    "cohere": ("cohere", "command"),
    "xai": ("xai", "grok"),
    "tii": ("tii", "falcon"),
    "nvidia": ("nvidia", "nemotron"),
    "amazon": ("amazon", "bedrock", "titan", "nova"),
}
PROVIDER = {word: provider for provider, words in MODELS.items() for word in words}
NO_POOL = "judges"  # family of judges without a known provider, if there are no pools


@dataclass(frozen=True, eq=False)
class Roles:
    """People, and judges with their families.

    Attributes
    ----------
    is_person : array of bool, shape (R,)
        Which raters are people.
    families : Index, shape (F,)
        Names of the families, sorted.
    family : array of int, shape (R,)
        Position of each judge's family; -1 for people.
    how : str
        How both were found, in a sentence.
    """

    is_person: Mask
    families: pd.Index[Any]
    family: Codes
    how: str


def roles_of(
    ratings: Ratings, human: Collection[Any] | None, family: Mapping[Any, str] | None
) -> Roles:
    """Tell people from judges, and find the families of these.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    human : collection, optional
        Names of the pools of people, or ids of raters who are people. By default the pool named
        human, humans or people, or else all raters that are no models by their names.
    family : mapping, optional
        Family of each judge. By default the provider in its name; judges without one are of one
        family, that of their pool.

    Returns
    -------
    Roles

    Raises
    ------
    RatingsError
        It is not clear who is a person, or a judge has no family.
    """
    providers = [provider_of(str(rater)) for rater in ratings.raters]
    is_person, how = _people(ratings, human, np.array([bool(name) for name in providers]))
    judges = ratings.raters[~is_person]
    if family is not None:
        if (is_missing := ~judges.isin(list(family))).any():
            rule = "family must name the family of each judge"
            raise RatingsError(
                [Fault("family", rule, f"none for {listed(judges[is_missing])}", "Add these.")]
            )
        names = [str(family.get(rater, "")) for rater in ratings.raters]
    else:
        names = [provider or _pool_name(ratings, at) for at, provider in enumerate(providers)]
    of_judges = pd.Series(names, dtype=object).mask(is_person)
    codes, families = pd.factorize(of_judges, sort=True)
    said = "; ".join(
        f"{name}: {joined(list(map(str, ratings.raters[codes == at])))}"
        for at, name in enumerate(families)
    )
    source = "as given" if family is not None else "by the providers in their names"
    if said:
        how += f" Families of judges, {source}: {said}."
    return Roles(is_person, pd.Index(families), codes.astype(np.int32), how)


def provider_of(name: str) -> str:
    """Provider of a model by its name, such as ``openai`` of ``azure/gpt-4o``; empty if none.

    Parameters
    ----------
    name : str
        Name of a rater.

    Examples
    --------
    >>> provider_of("ChatGPT/Vanilla"), provider_of("rater 3")
    ('openai', '')
    """
    words = re.findall(r"o[134](?![0-9])|[a-z]+", name.lower())
    return next((PROVIDER[word] for word in words if word in PROVIDER), "")


def _people(ratings: Ratings, human: Collection[Any] | None, is_model: Mask) -> tuple[Mask, str]:
    """Which raters are people, and how that is known."""
    names = ratings.pools.map(str)
    if human is not None:
        wanted = list(human)
        if not wanted:
            return np.zeros(ratings.n_raters, bool), "No rater is a person."
        if ratings.rater_pool is not None and ratings.pools.isin(wanted).sum() == len(wanted):
            found = ratings.pools.isin(wanted)[ratings.rater_pool]
            return found, f"People are the raters of the pool {joined(list(map(str, wanted)))}."
        found = ratings.raters.isin(wanted)
        if found.sum() == len(wanted):
            return found, f"People, as given: {joined(list(map(str, wanted)))}."
        choice = f"pools are {listed(list(names))}" if len(names) else "there are no pools"
        rule = "human must name pools or raters"
        raise RatingsError(
            [Fault("human", rule, f"{listed(wanted)}; {choice}", "Name those who are people.")]
        )
    is_people = names.str.lower().isin(PEOPLE) if len(names) else np.zeros(0, bool)
    if ratings.rater_pool is not None and is_people.any():
        found = is_people[ratings.rater_pool]
        return found, f"People are the raters of the pool {joined(list(names[is_people]))}."
    if is_model.any():
        return ~is_model, "People are all raters whose names are not those of models."
    rule = "it must be clear which raters are people"
    found_text = "no pool named human, and no rater with the name of a model"
    remedy = "Let their pool be human, or name their pools or ids in the argument human."
    raise RatingsError([Fault("human", rule, found_text, remedy)])


def _pool_name(ratings: Ratings, rater: int) -> str:
    return NO_POOL if ratings.rater_pool is None else str(ratings.pools[ratings.rater_pool[rater]])
