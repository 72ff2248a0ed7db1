"""Ratings in parts, for tables that do not fit in memory."""

from reliabayes.partitions.dataset import RatingsDataset as RatingsDataset
from reliabayes.partitions.either import READ_A_PART as READ_A_PART
from reliabayes.partitions.either import AnyRatings as AnyRatings
from reliabayes.partitions.either import in_memory as in_memory
from reliabayes.partitions.executors import cluster as cluster
from reliabayes.partitions.executors import in_turn as in_turn
from reliabayes.partitions.executors import processes as processes
