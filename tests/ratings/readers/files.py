"""Small exports of each tool, which tests write in the form that the tool documents."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

LABELS = {1: {"ann": "good", "bo": "bad"}, 2: {"ann": "good", "bo": "good"}, 3: {"bo": "bad"}}
ROWS = [(item, who, label) for item, of_item in LABELS.items() for who, label in of_item.items()]


def label_studio(path: Path, **changes: Any) -> Path:
    """JSON of tasks, whose data have a system."""
    tasks = [
        {
            "id": item,
            "data": {"text": f"Text {item}", "system": f"v{item % 2}"},
            "annotations": [
                {
                    "completed_by": {"email": who},
                    "result": [choice(label)],
                    "was_cancelled": False,
                    "ground_truth": False,
                }
                | changes
                for who, label in of_item.items()
            ],
            "predictions": [],
        }
        for item, of_item in LABELS.items()
    ]
    return written(path, tasks)


def choice(label: str, question: str = "quality") -> dict[str, Any]:
    value = {"choices": [label]}
    return {"from_name": question, "to_name": "text", "type": "choices", "value": value}


def argilla(path: Path) -> Path:
    return written(
        path,
        [
            {
                "id": f"rec-{item}",
                "text": f"Text {item}",
                "quality.responses": list(of_item.values()),
                "quality.responses.users": list(of_item),
                "quality.responses.status": ["submitted"] * len(of_item),
                "quality.suggestion": None,
                "quality.suggestion.agent": None,
            }
            for item, of_item in LABELS.items()
        ],
    )


def prodigy(path: Path) -> Path:
    return lines(
        path,
        [
            {"_input_hash": item, "_annotator_id": who, "answer": "accept", "accept": [label]}
            | {"options": [{"id": "good"}, {"id": "bad"}], "meta": {"system": f"v{item % 2}"}}
            for item, who, label in ROWS
        ],
    )


def doccano(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for who in ("ann", "bo"):
            rows = [
                json.dumps({"id": item, "text": f"Text {item}", "label": [label]})
                for item, rater, label in ROWS
                if rater == who
            ]
            archive.writestr(f"{who}.jsonl", "\n".join(rows))
    return path


def langfuse(path: Path) -> Path:
    rows = [
        {
            "traceId": f"t{item}",
            "source": "ANNOTATION",
            "name": "quality",
            "dataType": "CATEGORICAL",
            "value": 0,
            "stringValue": label,
            "observationId": None,
            "traceName": f"v{item % 2}",
            "authorUserName": who,
        }
        for item, who, label in ROWS
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def promptfoo(path: Path) -> Path:
    results = [
        {
            "provider": {"id": "file://system.js", "label": f"v{item % 2}"},
            "promptIdx": 0,
            "testIdx": item,
            "testCase": {"vars": {"q": f"Question {item}"}},
            "gradingResult": {
                "componentResults": [
                    {
                        "assertion": {"type": "llm-rubric", "metric": who, "value": "kind"},
                        "pass": label == "good",
                        "score": float(label == "good"),
                    }
                    for who, label in of_item.items()
                ]
            },
        }
        for item, of_item in LABELS.items()
    ]
    return written(path, {"evalId": "e", "results": {"version": 3, "results": results}})


def deepeval(path: Path) -> Path:
    cases = [
        {
            "name": f"case {item}",
            "metricsData": [
                {"name": who, "score": 0.9 if label == "good" else 0.1, "evaluationModel": "gpt"}
                for who, label in of_item.items()
            ],
        }
        for item, of_item in LABELS.items()
    ]
    return written(path, {"testCases": cases})


def log(samples: Iterable[Mapping[str, Any]], model: str = "lab/v1") -> dict[str, Any]:
    """A log of Inspect."""
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "helpdesk", "model": model},
        "samples": list(samples),
    }


def sample(item: int, scores: Mapping[str, Any], **about: Any) -> dict[str, Any]:
    values = {scorer: {"value": value} for scorer, value in scores.items()}
    return {"id": item, "epoch": 1, "uuid": f"u{item}", "scores": values} | about


def inspect(path: Path) -> Path:
    """A log packed as Inspect did before it used Zstandard."""
    grades = {"good": "C", "bad": "I"}
    found = log(
        sample(item, {who: grades[label] for who, label in of_item.items()})
        for item, of_item in LABELS.items()
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in found.pop("samples"):
            archive.writestr(f"samples/{each['id']}_epoch_1.json", json.dumps(each))
        archive.writestr("header.json", json.dumps(found))
    return path


def mturk(path: Path) -> Path:
    columns = ["HITId", "WorkerId", "Answer.quality.label"]
    table = pd.DataFrame(ROWS, columns=columns).assign(AssignmentStatus="Approved")
    table["Input.system"] = "v" + (table["HITId"] % 2).astype(str)
    table.to_csv(path, index=False)
    return path


def toloka(path: Path) -> Path:
    columns = ["INPUT:text", "ASSIGNMENT:worker_id", "OUTPUT:quality"]
    table = pd.DataFrame(ROWS, columns=columns).assign(**{"ASSIGNMENT:status": "APPROVED"})
    table["GOLDEN:quality"] = table["INPUT:text"].map({1: "good"})
    table.to_csv(path, index=False, sep="\t")
    return path


def crowdkit(path: Path) -> Path:
    pd.DataFrame(ROWS, columns=["task", "worker", "label"]).to_csv(path, index=False)
    return path


def hf_annotators(path: Path) -> Path:
    return lines(
        path,
        [
            {"id": item, "annotators": list(of_item), "annotations": list(of_item.values())}
            for item, of_item in LABELS.items()
        ],
    )


# The tools, and the ends of their files' names.
WRITERS: Mapping[str, tuple[Any, str]] = {
    "label_studio": (label_studio, ".json"),
    "argilla": (argilla, ".json"),
    "prodigy": (prodigy, ".jsonl"),
    "doccano": (doccano, ".zip"),
    "langfuse": (langfuse, ".csv"),
    "promptfoo": (promptfoo, ".json"),
    "deepeval": (deepeval, ".json"),
    "inspect": (inspect, ".eval"),
    "mturk": (mturk, ".csv"),
    "toloka": (toloka, ".tsv"),
    "crowdkit": (crowdkit, ".csv"),
    "hf_annotators": (hf_annotators, ".jsonl"),
}


def export(tool: str, folder: Path) -> Path:
    write, suffix = WRITERS[tool]
    path: Path = write(folder / f"export{suffix}")
    return path


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def lines(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def bomb(path: Path, member: str, size: int) -> Path:
    """A zip file that becomes much larger when it is unpacked."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, bytes(size))
    path.write_bytes(content.getvalue())
    return path
