"""Ratings in parts, for tables that do not fit in memory, and what calls functions of parts."""

from reliabayes.partitions.dataset import RatingsDataset as RatingsDataset
from reliabayes.partitions.either import READ_A_PART as READ_A_PART
from reliabayes.partitions.either import WRITE_ITEMS as WRITE_ITEMS
from reliabayes.partitions.either import AnyRatings as AnyRatings
from reliabayes.partitions.either import example_of as example_of
from reliabayes.partitions.either import in_memory as in_memory
from reliabayes.partitions.either import with_one_vote_each as with_one_vote_each
from reliabayes.partitions.executors import cluster, in_turn, processes
from reliabayes.partitions.shared_items import SharedItems as SharedItems

__all__ = ["cluster", "in_turn", "processes"]


def __dir__() -> list[str]:
    return __all__
