"""Promptfoo: results as JSON or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from typing import Any, Unpack

from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import Export, Options, chosen_question
from reliabayes.ratings.readers.source import Record, Source
from reliabayes.ratings.readers.tool import Tool

TOOL = "promptfoo"
VERDICTS = ("pass", "score")
# Types of assertions whose verdict is by a model; a "not-" may stand before them.
JUDGES = {
    "agent-rubric", "answer-relevance", "context-faithfulness", "context-recall",
    "context-relevance", "conversation-relevance", "factuality", "g-eval", "llm-rubric",
    "model-graded-closedqa", "model-graded-factuality", "search-rubric", "trajectory:goal-success",
}  # fmt: skip


def promptfoo(
    path: str | PathLike[str] | Source, *, question: str = "pass", **options: Unpack[Options]
) -> Ratings:
    """Read verdicts of models that judge in promptfoo.

    An item is a provider's answer to a prompt and a test; a repeat of it is another answer. Its
    group is the provider, its block the variables of the test. A rater is the metric of a
    model-graded assertion, or else the text of its rubric.

    Parameters
    ----------
    path : str or path
        JSON of ``promptfoo eval --output``, or JSON lines.
    question : {"pass", "score"}, default "pass"
        Whether ratings are verdicts or scores.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Whose `left_out` counts verdicts of other assertions, and judges that failed.

    Raises
    ------
    RatingsError
        If it is no such file, or there is no verdict of a model.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as(TOOL):
        asked = chosen_question(source, question, VERDICTS)
        tests: dict[str, str] = {}
        for result in _results(source):
            provider, place = _provider(result["provider"]), str(result["testIdx"])
            asks = (result.get("testCase") or {}).get("vars", result.get("vars"))
            block = tests.setdefault(json.dumps(asks or place, sort_keys=True), place)
            cells = {"item": f"{provider}/{result['promptIdx']}/{place}", "group": provider}
            graded = result.get("gradingResult") or {}
            for verdict in _verdicts(graded):
                assertion = verdict.get("assertion") or {}
                kind = str(assertion.get("type", "an assertion without type"))
                if kind.removeprefix("not-") not in JUDGES:
                    export.left_out[f"{kind} is no judge"] += 1
                elif (verdict.get("metadata") or {}).get("graderError"):
                    export.left_out["judge failed"] += 1
                else:
                    rater = assertion.get("metric") or assertion.get("value") or kind
                    export.add(**cells, block=block, rater=rater, rating=verdict[asked])
    return export.ratings(**options)


def _is_record(record: Record) -> bool:
    """Whether a record is a file of promptfoo, or one of its results."""
    results = record.get("results")
    is_file = isinstance(results, dict) and isinstance(results.get("results"), list)
    return is_file or {"promptIdx", "testIdx", "gradingResult"} <= set(record)


def _results(source: Source) -> Iterator[Record]:
    for record in source.records():
        if "testIdx" in record:
            yield record
        else:
            results = record["results"]
            results = results["results"] if isinstance(results, dict) else results
            for source.at, result in enumerate(results, start=1):
                yield result


def _provider(provider: Any) -> str:
    if isinstance(provider, dict):
        return str(provider.get("label") or provider["id"])
    return str(provider)


def _verdicts(graded: Record) -> Iterator[Record]:
    """The verdicts on single assertions, also those of sets."""
    for component in graded.get("componentResults") or ():
        if component and component.get("componentResults"):
            yield from _verdicts(component)
        elif component:
            yield component


PROMPTFOO = Tool(
    name="promptfoo",
    title=TOOL,
    read=promptfoo,
    takes=frozenset({"question"}),
    is_record=_is_record,
)
