"""Arguments that are one of a few words, apart from the modules that take them.

The command line needs these words for its help, which must not import the rest of the package.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Scale: TypeAlias = Literal["nominal", "ordered", "numeric"]  # how categories relate
Replicates: TypeAlias = Literal["error", "keep"]  # what happens if a rater rates an item twice
Repeats: TypeAlias = Literal["independent", "one_vote"]  # what several ratings of an item count as
Missing: TypeAlias = Literal["error", "drop"]  # what happens to rows without a rating
Twins: TypeAlias = Literal["error", "join"]  # what happens to values that differ only in writing
Duplicates: TypeAlias = Literal["error", "drop_exact"]  # what happens to rows that are all equal
Shape: TypeAlias = Literal[  # one rating per row, a column per rater, or counts of two raters
    "long", "wide", "table"
]
Decimal: TypeAlias = Literal[".", ","]  # what separates the decimals of a number in a text file
Format: TypeAlias = Literal[  # the tool that a file is of
    "table",
    "argilla",
    "crowdkit",
    "deepeval",
    "doccano",
    "hf_annotators",
    "inspect",
    "label_studio",
    "langfuse",
    "mturk",
    "prodigy",
    "promptfoo",
    "toloka",
]
LabelFormat: TypeAlias = Literal["label_studio", "argilla", "csv", "xlsx"]  # of written labels
Over: TypeAlias = Literal["items", "raters", "both"]  # what is a sample of a larger population
Method: TypeAlias = Literal[  # of intervals
    "model", "log", "percentile", "bca", "jackknife", "analytic"
]
Reference: TypeAlias = Literal["t", "normal", "chi-squared", "binomial"]  # of a test statistic
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]  # what a test is against
NullError: TypeAlias = Literal["analytic", "null"]  # standard error at the value, or at 0
MarginTest: TypeAlias = Literal[  # of how often raters use the categories
    "stuart-maxwell", "bhapkar", "bowker", "mcnemar", "mcnemar-exact", "rater-bias", "cochran"
]
LimitsMethod: TypeAlias = Literal["exact", "mover", "approximate"]  # of limits of agreement
AnyMethod: TypeAlias = Method | LimitsMethod | Literal["lin", "chi-squared"]
Repeated: TypeAlias = Literal["constant", "linked"]  # what two methods measured repeatedly
ErrorKind: TypeAlias = Literal["absolute", "consistency", "within"]  # of measurement
Irr: TypeAlias = Literal["alpha", "kappa"]  # what measures the agreement within a pool
Sampler: TypeAlias = Literal["auto", "nuts", "hmc", "gibbs", "independence"]  # of posteriors
Family: TypeAlias = Literal["gaussian", "logit", "ordinal"]  # distribution of ratings
Match: TypeAlias = Literal["observed"]  # which agreement simulated ratings have exactly
Stated: TypeAlias = Literal["model", "honest"]  # how sure labels and raters are said to be
Trust: TypeAlias = Literal["none", "person"]  # whose labels of a panel are true
