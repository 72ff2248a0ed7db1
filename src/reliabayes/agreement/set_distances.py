"""Distances of sets of labels: Jaccard's and MASI."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp

from reliabayes.agreement.arithmetic import ratio
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.ratings.label_sets import label_set
from reliabayes.wording import listed

SetMetric = Literal["jaccard", "masi"]


def set_distances(sets: Sequence[Set[Hashable]], name: str) -> Array:
    r"""Distances of any two sets of labels, in [0, 1].

    .. math:: \delta(A, B) = 1 - m \frac{|A \cap B|}{|A \cup B|}

    where m is 1 for "jaccard". For "masi" it is 1 if the sets are equal, 2/3 if one contains the
    other, 1/3 if they overlap otherwise, and 0 if they have no label in common. The empty set has
    the distance 1 from all others.

    Parameters
    ----------
    sets : sequence of set, K values
        The sets.
    name : {"jaccard", "masi"}
        The distance.

    Returns
    -------
    array of float, shape (K, K)
        The distances.

    References
    ----------
    Passonneau (2006), Measuring agreement on set-valued items (MASI) for semantic and pragmatic
    annotation. https://aclanthology.org/L06-1392/
    """
    size = np.array([len(each) for each in sets], np.float64)
    place = np.repeat(np.arange(len(sets)), size.astype(np.intp))
    label, known = pd.factorize(np.array([one for each in sets for one in each], dtype=object))
    holds = sp.csr_array((np.ones(len(label)), (place, label)), (len(sets), max(1, len(known))))
    common = (holds @ holds.T).toarray()
    least, most = np.minimum(size[:, None], size), np.maximum(size[:, None], size)
    similar = ratio(common, size[:, None] + size - common, 1.0)
    if name == "jaccard":
        return 1 - similar
    is_same, is_within = common == most, common == least
    return 1 - similar * np.where(is_same, 1.0, np.where(is_within, 2 / 3, 1 / 3))


def sets_of(ratings: Ratings, purpose: str) -> list[frozenset[str]]:
    """Return the categories of ratings that are sets of labels.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    purpose : str
        What needs sets, for the message.

    Returns
    -------
    list of frozenset, K values
        The labels of each category.

    Raises
    ------
    RatingsError
        The ratings are no sets.
    """
    if ratings.separator is None:
        rule = f"each rating must be a set of labels for {purpose}"
        found = f"the {ratings.scale} categories {listed(ratings.categories)}"
        remedy = 'Read them with separator=";", or from lists of labels.'
        raise RatingsError([Fault("rating", rule, found, remedy)])
    return [label_set(text, ratings.separator) for text in ratings.categories]
