"""The command that decides between systems and on judges: judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree import ElementTree

import typer

import reliabayes as rb
from reliabayes.choices import Trust
from reliabayes.cli.option_groups import with_option_groups
from reliabayes.cli.options import Methods, writable
from reliabayes.cli.output import print_message, print_methods, print_text, write_text
from reliabayes.cli.ratings_file import TableOptions, in_options, print_notes
from reliabayes.cli.seeds import METAVAR, seed_of

if TYPE_CHECKING:
    from reliabayes.families.judges.requirements import Verdict

CONTRADICTED, UNDECIDED = 3, 4  # exit statuses
SETTINGS = Path("pyproject.toml")


class OnUndecided(StrEnum):
    """What an undecided requirement does to the exit status."""

    FAIL = "fail"
    PASS = "pass"


@dataclass(frozen=True)
class Asked:
    """What is asked, from options and from ``[tool.reliabayes.judge]`` in pyproject.toml."""

    files: list[Path]
    human: list[Path]
    require: list[str]
    table: TableOptions
    undecided: str


@with_option_groups
def judge(
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            show_default=False,
            help="What judges said: logs of Inspect (.eval), exports of promptfoo or DeepEval, or "
            "tables with one rating per row.",
        ),
    ] = None,
    human: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Label sheet of people, with the columns item and rating, and rater if there are "
            "several. Can be repeated.",
        ),
    ] = None,
    table: TableOptions,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help='Requirement, such as "rate[v4] - rate[v3] > -0.02 with 0.95" or '
            '"kappa[judge-a, people] > 0.6 with 0.9". Can be repeated.',
        ),
    ] = None,
    undecided: Annotated[
        OnUndecided | None,
        typer.Option(show_default=False, help="Whether an undecided requirement fails (status 4)."),
    ] = None,
    junit_xml: Annotated[
        Path | None, typer.Option(metavar="OUT.xml", help="Write verdicts as JUnit XML.")
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="OUT.md", help="Append verdicts as Markdown to a file."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="OUT.html", help="Write a report, which begins with both answers."),
    ] = None,
    trust: Annotated[
        Trust, typer.Option(help="Whether the labels of the only person are true.")
    ] = "none",
    good: Annotated[
        str | None,
        typer.Option(
            metavar="CATEGORY",
            help="Rating that the better system has more often, for the report; by default the "
            "second of two, unless its name says that it is the worse one.",
        ),
    ] = None,
    methods: Methods = False,
    seed: Annotated[
        int, typer.Option(parser=seed_of, metavar=METAVAR, help="Seed of the sampler.")
    ] = 1,
) -> None:
    """Decide whether a system is better, and whether LLM judges may be trusted beside people.

    Status 0: all requirements are supported; 3: one is contradicted; 4: one is undecided; 1: it
    failed, or draws may not represent the posterior; 2: bad input. Options may also stand in the
    table tool.reliabayes.judge of pyproject.toml.
    """
    from reliabayes.families.judges.requirements import Requirement
    from reliabayes.ratings.judged_files import pools_of_people

    asked = _asked(files, human, require, table, undecided)
    targets = {"junit": writable(junit_xml), "report": writable(report)}
    for text in asked.require:
        Requirement.parse(text)  # before a fit
    ratings = rb.read_judged(asked.files, asked.human, **asked.table.arguments)
    print_notes(ratings)
    study = rb.JudgeStudy(
        ratings,
        human=pools_of_people(ratings),
        trust=trust,
        fit={"seed": seed, "progress": False},
    )
    for caution in study.cautions:
        print_message(in_options(caution))
    if not asked.require:
        is_fitted = methods or targets["report"] is not None
        both = study.answers(good=good) if is_fitted else study.answerable()
        print_text(in_options("\n".join(both)))
        verdicts = []
    else:
        verdicts = [study.supports(text) for text in asked.require]
        print_text("\n".join(map(repr, verdicts)))
        for said in study.checks():
            print_message(said)
    if methods:
        print_methods(study.methods())
    if targets["report"] is not None:
        source = {"files": ", ".join(map(str, (*asked.files, *asked.human)))}
        study.report(targets["report"], require=asked.require, good=good, source=source)
    if targets["junit"] is not None:
        write_text(_junit(verdicts), targets["junit"])
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(_markdown(verdicts, study))
    outcomes = {each.outcome for each in verdicts}
    if "contradicted" in outcomes:
        raise typer.Exit(CONTRADICTED)
    if "undecided" in outcomes and asked.undecided != "pass":
        raise typer.Exit(UNDECIDED)


def _asked(
    files: list[Path] | None,
    human: list[Path] | None,
    require: list[str] | None,
    table: TableOptions,
    undecided: OnUndecided | None,
) -> Asked:
    """Options, and settings in place of those that are not given."""
    settings = _settings()

    def given(name: str, value: Any, default: Any) -> Any:
        return value if value else settings.get(name, default)

    paths = {
        name: [Path(path) for path in _several(given(name, value, []))]
        for name, value in (("files", files), ("human", human))
    }
    if not paths["files"]:
        raise typer.BadParameter("name at least one file of what judges said.")
    for path in (*paths["files"], *paths["human"]):
        if not path.exists():
            raise typer.BadParameter(f"there is no file {path}.")
    columns = {name: given(name, getattr(table, name), None) for name in ("group", "block")}
    return Asked(
        paths["files"],
        paths["human"],
        list(_several(given("require", require, []))),
        replace(table, **columns),
        str(given("undecided", undecided and undecided.value, "fail")),
    )


def _several(value: Any) -> list[Any]:
    return [value] if isinstance(value, (str, Path)) else list(value)


def _settings() -> dict[str, Any]:
    """The table [tool.reliabayes.judge] of pyproject.toml in the working folder."""
    if not SETTINGS.is_file():
        return {}
    import tomllib

    try:
        found = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise typer.BadParameter(f"{SETTINGS} cannot be read: {error}.") from error
    table: dict[str, Any] = found.get("tool", {}).get("reliabayes", {}).get("judge", {})
    known = ("files", "human", "require", "group", "block", "undecided")
    if unknown := sorted(set(table) - set(known)):
        raise typer.BadParameter(
            f"[tool.reliabayes.judge] takes {', '.join(known)}, not {', '.join(unknown)}."
        )
    return table


def _junit(verdicts: list[Verdict]) -> str:
    """Verdicts as JUnit XML, in which undecided ones are skipped."""
    counts = {
        "tests": len(verdicts),
        "failures": sum(each.outcome == "contradicted" for each in verdicts),
        "skipped": sum(each.outcome == "undecided" for each in verdicts),
    }
    suite = ElementTree.Element(
        "testsuite", {"name": "reliabayes judge", **{name: str(n) for name, n in counts.items()}}
    )
    for each in verdicts:
        name = each.requirement.text
        case = ElementTree.SubElement(suite, "testcase", classname="requirement", name=name)
        if each.outcome != "supported":
            kind = "failure" if each.outcome == "contradicted" else "skipped"
            ElementTree.SubElement(case, kind, message=repr(each))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _markdown(verdicts: list[Verdict], study: rb.JudgeStudy) -> str:
    rows = [
        f"| `{each.requirement.text}` | {each.outcome} | {each.pr:.3f} | {each.estimate:.3f} | "
        f"{each.needs} |"
        for each in verdicts
    ]
    header = [
        "| requirement | verdict | Pr | estimate | what would decide |",
        "|---|---|---|---|---|",
    ]
    said = [] if verdicts else map(in_options, study.answerable())
    return "\n".join(
        ["## LLM judges beside people", "", *(header if rows else said), *rows, "", ""]
    )
