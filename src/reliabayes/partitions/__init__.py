"""Ratings in parts, for tables that do not fit in memory."""

from reliabayes.partitions.dataset import RatingsDataset as RatingsDataset
from reliabayes.partitions.executors import cluster as cluster
from reliabayes.partitions.executors import in_turn as in_turn
from reliabayes.partitions.executors import processes as processes
