"""What the static page asks of Python inside the browser: requests and answers as JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from reliabayes.app import panels, simulations, tables, tasks
from reliabayes.app.choices import ModelChoice, why_none
from reliabayes.app.given import FORMATS, Given
from reliabayes.app.proposals import Proposal, changed, notes_of
from reliabayes.app.reading import Head, Reading
from reliabayes.app.tasks import Answered
from reliabayes.app.where_it_runs import privacy, refusal
from reliabayes.app.worker import outcome
from reliabayes.html_report.blocks import Block, Text
from reliabayes.html_report.fragment import blocks_fragment
from reliabayes.html_report.tables import table

MOST_RATINGS = 20_000  # that a browser computes with in seconds
TOO_MANY = (
    f"This page takes at most {MOST_RATINGS:,} ratings, because it computes inside your browser; "
    "the table has {size:,}. Install reliabayes on a computer, where any number can be fitted: "
    "`pip install 'reliabayes[app]'` and `reliabayes app` open the same page, and "
    "`reliabayes report ratings.csv` writes a report. Or paste a sample of the items here."
)
ESTIMATES = (
    "Estimates by EM, without intervals: {model} is sampled by compiled code, which does not run "
    "inside a browser. On a computer, `reliabayes app` adds the uncertainty."
)

Json = dict[str, Any]


def serve(page: StaticPage, request: Path, response: Path) -> None:
    """Answer the request in a file by a file.

    Parameters
    ----------
    page : StaticPage
        The page that asks.
    request : Path
        JSON with the name of a question and its arguments.
    response : Path
        JSON with the kind of the answer, ``"result"`` or ``"failure"``, and its value.
    """
    asked = json.loads(request.read_text(encoding="utf-8"))
    kind, value = outcome(page.questions[asked["name"]], tuple(asked["arguments"]))
    response.write_text(json.dumps({"kind": kind, "value": value}), encoding="utf-8")


class StaticPage:
    """State of a page: its table and its fits."""

    def __init__(self) -> None:
        self.given: Given | None = None
        self.reading = Reading()
        self.head: Head | None = None
        self.table: tables.Table | None = None
        self.answers: dict[str, Answered] = {}
        self.accepted: tuple[Proposal, ...] = ()
        self.proposals: tuple[Proposal, ...] = ()

    @cached_property
    def questions(self) -> Mapping[str, Callable[..., Any]]:
        """What the page may ask, by name."""
        return {
            "begin": self.begin,
            "paste": self.paste,
            "drop": self.drop,
            "read": self.read,
            "tick": self.tick,
            "fit": self.fit,
            "show": self.show,
            "agreement": self.agreement,
            "estimate": self.estimate,
            "matrix": self.matrix,
            "study": self.study,
            "tap": self.tap,
            "report": self.report,
        }

    def begin(self) -> Json:
        """Style sheet, heading and formats."""
        return {
            "style": panels.style(),
            "heading": panels.heading(privacy()),
            "formats": list(FORMATS),
        }

    def paste(self, text: str) -> Json:
        """Take a pasted table, and read it as is guessed."""
        return self._take(Given.pasted(text))

    def drop(self, name: str, content: str) -> Json:
        """Take a file, in base 64, and read it as is guessed."""
        return self._take(Given.dropped(name, base64.b64decode(content)))

    def read(self, chosen: Mapping[str, Any]) -> Json:
        """Read the table again, with other columns or options."""
        if self.given is None:
            return {"html": ""}
        fields = asdict(self.reading) | {name: value or None for name, value in chosen.items()}
        fields["facets"] = tuple(fields["facets"] or ())
        fields["is_guessed_shape"] &= "shape" not in chosen
        self.reading, self.table = Reading(**fields), None
        self.answers.clear()
        return self._found()

    def tick(self, ticks: Sequence[bool]) -> Json:
        """Read the table again, with the repairs whose boxes are ticked."""
        if self.given is None:
            return {"html": ""}
        self.accepted = changed(self.accepted, self.proposals, ticks)
        return self._read(self.given)

    def fit(self, question: str, name: str, reliability: float) -> str:
        """The answer of a model."""
        chosen = self._choices("reliability")[name]
        if refused := refusal(chosen.model):
            return panels.message(refused, caution=True)
        self.answers[question] = tasks.fitted(chosen.model, self._known().ratings)
        return self.show(question, "", reliability)

    def show(self, question: str, part: str, reliability: float) -> str:
        """A part of an answer, for a target reliability."""
        answered = self.answers.get(question)
        return "" if answered is None else panels.part(answered, part, reliability)

    def agreement(self) -> str:
        """Classical coefficients with intervals."""
        return tasks.agreement(self._known().ratings, None)

    def estimate(self, name: str) -> str:
        """Point estimates of a model of true categories."""
        model: Any = self._choices("truth")[name].model
        estimate = model.em(self._known().ratings)
        blocks: list[Block] = [
            Text(ESTIMATES.format(model=name)),
            table("estimates", "The model as a whole", estimate.summary()),
            table("raters", "Raters", estimate.raters()),
            table("items", "Items", estimate.items()),
        ]
        return blocks_fragment(blocks)

    def matrix(self, design: Mapping[str, Any]) -> str:
        """Coefficients of a simulated matrix."""
        return simulations.matrix_coefficients(simulations.MatrixDesign(**design))

    def study(self, design: Mapping[str, Any], own: Mapping[str, Any]) -> str:
        """Regression of a coefficient on the agreement of simulated matrices."""
        chosen, found = simulations.MatrixDesign(**design), simulations.OwnResult(**own)
        return simulations.study_picture(chosen, "ICC(1,1)", "linear", found, matrices=5)

    def tap(self, design: Mapping[str, Any]) -> str:
        """Parameters of simulated t-a-p ratings, and what comes back."""
        return simulations.tap_recovery_table(simulations.TAPDesign(**design))

    def report(self, reliability: float) -> Json:
        """The report, in base 64, and the Python that repeats the analysis."""
        ratings, answers = self._known().ratings, [*self.answers.values()]
        assert self.given is not None
        code = panels.code(answers, self.reading.code(self.given), reliability)
        fits = {each.name: each.fit for each in answers}
        page = tasks.page(ratings, fits, code, reliability) if fits else b""
        return {"code": panels.code_block(code), "page": base64.b64encode(page).decode("ascii")}

    def _take(self, given: Given) -> Json:
        self.accepted, self.reading = (), Reading()
        return self._read(given)

    def _read(self, given: Given) -> Json:
        """Read a table as is guessed, with the repairs that were accepted."""
        before = self.reading if given == self.given else None
        self.given, self.head, self.table = given, None, None
        self.answers.clear()
        found = tables.head(given, self.accepted)
        if not isinstance(found, Head):
            return {"html": panels.faults(found.faults) + self._boxes(found.proposals)}
        kept = found.guess if before is None else before.kept(found)
        self.head, self.reading = found, replace(kept, accepted=found.guess.accepted)
        return self._found()

    def _boxes(self, proposals: tuple[Proposal, ...]) -> str:
        self.proposals = proposals
        return panels.repair_list(proposals)

    def _found(self) -> Json:
        """What was read, the columns, and the models that suit."""
        assert self.given is not None
        assert self.head is not None
        faults = ""
        found = tables.table(self.given, self.reading, self.accepted)
        if not isinstance(found, tables.Table):
            faults = panels.faults(found.faults)
        elif len(found.ratings) > MOST_RATINGS:
            faults = panels.message(TOO_MANY.format(size=len(found.ratings)), caution=True)
        else:
            self.table = found
        ratings = None if self.table is None else self.table.ratings
        is_open = any(not each.is_ticked for each in found.proposals)
        shown = [panels.read_message(ratings, is_open=is_open), faults]
        shown.append(self._boxes(found.proposals))
        repaired = notes_of(found.proposals)
        shown += [panels.what_was_read(ratings, repaired)] if ratings is not None else []
        return {
            "html": "".join([*shown, self._first_rows()]),
            "columns": self.head.columns,
            "reading": asdict(self.reading),
            "usable": ratings is not None,
            "models": {question: self._offered(question) for question in ("reliability", "truth")},
        }

    def _first_rows(self) -> str:
        assert self.head is not None
        return panels.first_rows(self.head.first_rows) if self.head.columns else ""

    def _offered(self, question: Any) -> Json:
        """Models that answer a question, those that run here first; or why there are none."""
        if self.table is None:
            return {"models": [], "none": ""}
        choices = self._choices(question)
        models = [
            {"name": name, "why": panels.message(each.sentence), "refusal": refusal(each.model)}
            for name, each in choices.items()
        ]
        models.sort(key=lambda each: bool(each["refusal"]))
        none = "" if models else panels.message(why_none(self.table.ratings, question))
        return {"models": models, "none": none}

    def _choices(self, question: Any) -> dict[str, ModelChoice]:
        found = self._known().choices[question]
        return {type(each.model).__name__: each for each in found}

    def _known(self) -> tables.Table:
        if self.table is None:
            raise ValueError("Paste or drop a table on the first tab.")
        return self.table
