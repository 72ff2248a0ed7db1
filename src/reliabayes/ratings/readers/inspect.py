"""Inspect: logs of evaluations, as .eval or JSON."""

from __future__ import annotations

import json
import math
import pathlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, NamedTuple, Unpack

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import Export, Options, chosen_question, item_fields
from reliabayes.ratings.readers.source import Record, Source
from reliabayes.ratings.readers.tool import Tool
from reliabayes.wording import joined

TOOL = "Inspect"
LOG = ".eval"
HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"
UNCHANGED = "UNCHANGED"
Path = str | PathLike[str] | Source


def inspect(
    path: Path | Sequence[Path],
    *,
    question: str | None = None,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read logs of Inspect.

    An item is an answer of a system: model, sample and epoch, with the model as its group and the
    sample as its block. Raters are scorers, in the pool ``llm``. A score that is a list is one by
    each of its judges, if none of them is missing; one that is a dict answers a question for each
    key. A score that a person has edited is a rating by the scorer, the first value, and one by the
    author of the edit, in the pool ``human``.

    Parameters
    ----------
    path : str, path or sequence of these
        Logs, ``.eval`` or JSON; or a folder with logs ``.eval``. Those of several models, or of
        several runs of one, are read together. Logs packed with Zstandard need the package
        zstandard before Python 3.14.
    question : str, optional
        A key of scores that are dicts, or the name of a scorer, or both, such as
        ``rubric.helpful``. By default all scores that are no dicts.
    group, block : str, optional
        Fields of the samples' metadata, in place of model and sample.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Whose `left_out` counts samples without scores, scores that are NaN, lists without all
        judges, answers to other questions, and scores that are the same in another log, as one
        that was scored again repeats them.

    Raises
    ------
    RatingsError
        If it is no such file, several questions are to choose from, or zstandard is needed.
    """
    paths = [path] if isinstance(path, (str, PathLike, Source)) else list(path)
    sources = [source for each in paths for source in _sources(each)]
    if not sources:
        raise RatingsError([Fault("path", "it must name a log", "none", "Name one.")])
    export = Export(sources[0])
    logs = [log for source in sources for log in _logs(source)]
    seen = _Seen({}, set())
    with_task = len({log.task for log in logs}) > 1
    scores = [
        score
        for log in logs
        for score in _scores(log, f"{log.task}/" if with_task else "", seen, export, (group, block))
    ]
    asked = _asked(sources[0], question, scores)
    others = Counter(score.question for score in scores if not asked(score))
    for name, number in others.items():
        export.left_out[f"of another question ({name or 'single scores'})"] += number
    for score in scores:
        if not asked(score):
            continue
        if _is_nan(score.value):
            export.left_out[f"{score.scorer} unscored"] += 1
            continue
        cells = {"item": score.item, "rater": score.rater, "rating": score.value}
        export.add(**cells, pool=score.pool, **score.fields)
    _refuse_kinds(export)
    return export.ratings(**options)


def _is_record(record: Record) -> bool:
    """Whether a record is a log of Inspect."""
    return isinstance(record.get("eval"), dict) and "status" in record


def _is_archive(source: Source) -> bool:
    """Whether an archive is a log of Inspect."""
    return bool({HEADER, START} & set(source.members))


def logs_in(path: str | PathLike[str]) -> list[pathlib.Path]:
    """Return the logs in a folder, in the order of their names; a file is itself one.

    Parameters
    ----------
    path : str or path
        The folder or file.

    Returns
    -------
    list of Path
        Empty if there is no log in the folder.
    """
    found = pathlib.Path(path)
    return sorted(found.glob(f"*{LOG}")) if found.is_dir() else [found]


def _sources(path: Path) -> list[Source]:
    return [path] if isinstance(path, Source) else [Source(log) for log in logs_in(path)]


class _Log(NamedTuple):
    source: Source
    task: str
    model: str
    samples: Iterable[Record]


class _Score(NamedTuple):
    """A score of a sample, an element of its list, or a value of its dict."""

    item: str
    scorer: str
    rater: str
    question: str  # the key of a dict; empty for other scores
    value: Any
    pool: str
    fields: dict[str, Any]


def _logs(source: Source) -> Iterator[_Log]:
    with source.read_as(TOOL):
        if source.path.suffix.lower() in (LOG, ".zip"):
            names = source.members
            header = source.json_of(HEADER if HEADER in names else START)
            samples = (
                source.json_of(name)
                for name in names
                if name.startswith(SAMPLES) and name.endswith(".json")
            )
            about = header["eval"]
            yield _Log(source, str(about["task"]), str(about["model"]), samples)
            return
        for log in source.records():
            about = log["eval"]
            yield _Log(source, str(about["task"]), str(about["model"]), log.get("samples") or ())


def _scores(
    log: _Log,
    start: str,
    seen: _Seen,
    export: Export,
    named: tuple[str | None, str | None],
) -> Iterator[_Score]:
    names = dict(zip(("group", "block"), named, strict=True))
    with log.source.read_as(TOOL):
        samples = list(log.samples)
        panels = _panel_sizes(samples)
        for log.source.at, sample in enumerate(samples, start=1):
            key = f"{start}{log.model}/{sample['id']}/{sample['epoch']}"
            item = _answer(seen.runs, key, sample.get("uuid") or f"{log.source.path}")
            fields = {"group": log.model, "block": f"{start}{sample['id']}"}
            fields |= item_fields(names, sample.get("metadata") or {}, log.source)
            if not sample.get("scores"):
                export.left_out["sample without scores"] += 1
            for scorer, score in (sample.get("scores") or {}).items():
                text = json.dumps([item, scorer, score], sort_keys=True)
                if text in seen.scores:
                    export.left_out["the same in another log"] += 1
                    continue
                seen.scores.add(text)
                yield from _values(export, panels, item, scorer, score, fields)


class _Seen(NamedTuple):
    """What there was in the logs so far."""

    runs: dict[str, list[str]]  # ids of the answers by model, sample and epoch
    scores: set[str]


def _answer(seen: dict[str, list[str]], key: str, uuid: str) -> str:
    """The id of an answer: the same in a log that was scored again, another in another run."""
    runs = seen.setdefault(key, [])
    if uuid not in runs:
        runs.append(uuid)
    run = runs.index(uuid)
    return key if run == 0 else f"{key}/run {run + 1}"


def _panel_sizes(samples: Iterable[Record]) -> Counter[str]:
    """The number of judges of each scorer whose scores are lists."""
    sizes: Counter[str] = Counter()
    for sample in samples:
        for scorer, score in (sample.get("scores") or {}).items():
            if isinstance(value := _first(score), list):
                sizes[scorer] = max(sizes[scorer], len(value))
    return sizes


def _values(
    export: Export,
    panels: Counter[str],
    item: str,
    scorer: str,
    score: Record,
    fields: dict[str, Any],
) -> Iterator[_Score]:
    """The scorer's value, and those that people have put in its place."""
    for edit in score.get("history") or [score]:
        if edit["value"] == UNCHANGED:
            continue
        provenance = edit.get("provenance")
        author = (provenance or {}).get("author")
        if provenance is None:
            yield from _split(export, panels, item, scorer, scorer, edit["value"], "llm", fields)
        elif author is None:
            export.left_out["edit without author"] += 1
        else:
            yield from _split(export, panels, item, scorer, author, edit["value"], "human", fields)


def _first(score: Record) -> Any:
    history = score.get("history") or ()
    return history[0]["value"] if history else score["value"]


def _split(
    export: Export,
    panels: Counter[str],
    item: str,
    scorer: str,
    rater: str,
    value: Any,
    pool: str,
    fields: dict[str, Any],
) -> Iterator[_Score]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield _Score(item, scorer, rater, key, each, pool, fields)
    elif isinstance(value, list):
        if len(value) < panels[scorer]:
            export.left_out[f"{scorer} without all judges"] += len(value)
            return
        for place, each in enumerate(value, start=1):
            yield _Score(item, scorer, f"{rater} {place}", "", each, pool, fields)
    else:
        yield _Score(item, scorer, rater, "", value, pool, fields)


def _asked(source: Source, question: str | None, scores: Sequence[_Score]) -> Any:
    """Which scores answer the question."""
    keys = list(dict.fromkeys(score.question for score in scores if score.question))
    if question is None and any(not score.question for score in scores):
        return lambda score: not score.question
    scorers = dict.fromkeys(score.scorer for score in scores if not score.question)
    both = dict.fromkeys(f"{score.scorer}.{score.question}" for score in scores if score.question)
    known = [*keys, *scorers, *both] if question is not None else keys
    if not known:
        return lambda score: True
    name = chosen_question(source, question, known)
    if name in keys:
        return lambda score: score.question == name
    if name in scorers:
        return lambda score: not score.question and score.scorer == name
    return lambda score: f"{score.scorer}.{score.question}" == name


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _refuse_kinds(export: Export) -> None:
    """Refuse scores that are numbers by some scorers and grades by others."""
    kinds: dict[str, dict[str, None]] = {}
    columns = export.columns
    for rater, value in zip(columns.get("rater", ()), columns.get("rating", ()), strict=True):
        kind = "numbers" if isinstance(value, (int, float)) else "texts"
        kind = "true or false" if isinstance(value, bool) else kind
        kinds.setdefault(kind, {})[rater] = None
    if len(kinds) > 1:
        found = joined([f"{kind} by {', '.join(raters)}" for kind, raters in kinds.items()])
        named = next(iter(kinds.values()))
        remedy = f"Read one at a time: question={next(iter(named))!r}, for example."
        rule = "scores must be of one kind"
        raise RatingsError([Fault("question", rule, found, remedy)])


INSPECT = Tool(
    name="inspect", title=TOOL, read=inspect, is_record=_is_record, is_archive=_is_archive
)
