"""Ratings in parts, for tables that do not fit in memory."""

from reliabayes.partitions.dataset import RatingsDataset as RatingsDataset
