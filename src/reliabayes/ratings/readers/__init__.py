"""Readers of the files of annotation and evaluation tools, which need not be installed.

Each returns `Ratings`, whose `left_out` says how many entries of the file are no ratings, and why.
They may be those of one rater, to be joined with others. `read_ratings` and all commands find out
from its content which tool a file is of.
"""

from reliabayes.ratings.readers.argilla import argilla
from reliabayes.ratings.readers.crowdkit import crowdkit
from reliabayes.ratings.readers.deepeval import deepeval
from reliabayes.ratings.readers.doccano import doccano
from reliabayes.ratings.readers.hf_annotators import hf_annotators
from reliabayes.ratings.readers.inspect import inspect
from reliabayes.ratings.readers.label_studio import label_studio
from reliabayes.ratings.readers.langfuse import langfuse
from reliabayes.ratings.readers.mturk import mturk
from reliabayes.ratings.readers.prodigy import prodigy
from reliabayes.ratings.readers.promptfoo import promptfoo
from reliabayes.ratings.readers.toloka import toloka

__all__ = [
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
