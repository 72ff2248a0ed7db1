"""DeepEval: test runs as JSON."""

from __future__ import annotations

from collections import Counter
from os import PathLike
from typing import Unpack

from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import Export, Options, chosen_question
from reliabayes.ratings.readers.source import Record, Source
from reliabayes.ratings.readers.tool import Tool

TOOL = "DeepEval"
VERDICTS = ("score", "success")
CASES = ("testCases", "conversationalTestCases")


def deepeval(
    path: str | PathLike[str] | Source, *, question: str = "score", **options: Unpack[Options]
) -> Ratings:
    """Read the scores of metrics on test cases of DeepEval.

    A rater is a metric with the model that evaluates it.

    Parameters
    ----------
    path : str or path
        JSON of a test run.
    question : {"score", "success"}, default "score"
        Whether ratings are scores, or whether they reached the threshold.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of test cases, whose `left_out` counts metrics that failed.

    Raises
    ------
    RatingsError
        If it is no such file.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as(TOOL):
        asked = chosen_question(source, question, VERDICTS)
        for run in source.records():
            if not set(CASES) & set(run):
                raise KeyError("testCases")
            cases = [case for name in CASES for case in run.get(name) or ()]
            times = Counter(case["name"] for case in cases)
            for place, case in enumerate(cases):
                order = case.get("order", place)
                item = case["name"] if times[case["name"]] == 1 else f"{case['name']}/{order}"
                for metric in case.get("metricsData") or ():
                    model = metric.get("evaluationModel")
                    rater = f"{metric['name']} ({model})" if model else metric["name"]
                    if metric.get("error") or metric.get(asked) is None:
                        export.left_out["metric failed"] += 1
                    else:
                        export.add(item=item, rater=rater, rating=metric[asked])
    return export.ratings(**options)


def _is_record(record: Record) -> bool:
    """Whether a record is a test run of DeepEval."""
    return any(isinstance(record.get(name), list) for name in CASES)


DEEPEVAL = Tool(
    name="deepeval",
    title=TOOL,
    read=deepeval,
    takes=frozenset({"question"}),
    is_record=_is_record,
)
