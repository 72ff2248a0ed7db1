"""Sections of a study of judges: what to know first, requirements, systems, judges and people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from reliabayes.families.judges.conclusions import Better, Conclusions
from reliabayes.families.judges.identification import Of
from reliabayes.families.judges.scores import have_views
from reliabayes.html_report.blocks import Block, Facts, Heading, Section, Text
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import table
from reliabayes.judge_study import JudgeStudy
from reliabayes.plots.judge_rates import judge_rates
from reliabayes.results.estimates import estimate_text

if TYPE_CHECKING:
    from reliabayes.families.judges.requirements import Verdict

ALIKE = (
    "The variance is that of scores, in squared points; the proportion is its share of the "
    "variance of all that the family sees alike in answers. More judges of a family do not average "
    "it out."
)
MOST_PAIRED = 6  # systems, all pairs of which are compared
RATES: dict[Of, str] = {
    "people": "Share of answers that a person would rate so",
    "truth": "Share of answers that are truly so",
}
SAVED = (
    "The column people only has what the labels of people say without judges. Labels saved are the "
    "further labels that would make its interval as short."
)
ADVANTAGE = (
    "The advantage of a judge is how often it agrees with the other people at least as often as "
    "the person that is left out."
)


def cautions(study: JudgeStudy) -> Section:
    """Who is who, what is determined, and on what the answers do not speak.

    Parameters
    ----------
    study : JudgeStudy
        The study.

    Returns
    -------
    Section
    """
    known = [Text(each) for each in study.cautions if each not in study.warnings]
    checks = [Text(each) for each in study.checks()]
    return Section("first", "What to know first", [*known, *checks])


def requirements(verdicts: Sequence[Verdict]) -> Section:
    """Verdicts on requirements.

    Parameters
    ----------
    verdicts : sequence of Verdict
        The verdicts.

    Returns
    -------
    Section
        Without blocks if there are none.
    """
    rows = {
        each.requirement.text: {
            "verdict": each.outcome,
            "Pr": f"{each.pr:.3f}",
            "estimate (95% interval)": "{:.3f} ({:.3f} to {:.3f})".format(
                each.estimate, *each.interval
            ),
            "what would decide": each.needs or "-",
        }
        for each in verdicts
    }
    if not rows:
        return Section("requirements", "Requirements")
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("requirement")
    caption = "Requirements"
    return Section("requirements", "Requirements", [table("requirements-0", caption, frame)])


def systems(study: JudgeStudy, found: Conclusions) -> Section:
    """Rates of systems with and without judges, and differences between them.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    found : Conclusions
        Its conclusions.

    Returns
    -------
    Section
    """
    blocks = [*_picture(study, found), *_rates(study, found.prob), *_contrasts(found)]
    return Section("systems", "Systems", blocks)


def judges(study: JudgeStudy, found: Conclusions) -> Section:
    """Errors of judges and families, and whether judges may stand in for a person.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    found : Conclusions
        Its conclusions.

    Returns
    -------
    Section
        Without blocks if there are no judges.
    """
    has_judges = found.results.problem.size("judge") > 0
    blocks = [*_judges(found), *_seen_alike(study, found)] if has_judges else []
    return Section("judges", "Judges", blocks)


def people(study: JudgeStudy, prob: float) -> Section:
    """How often pairs of people agree, and should.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    prob : float
        Probability of the intervals.

    Returns
    -------
    Section
        Without blocks if there are not two people.
    """
    found = study.people_agreement(prob)
    if found.empty or not found["items"].any():
        return Section("people", "People")
    frame = found[["items", "observed"]].assign(
        expected=_with_intervals(found, "median", prob), less=found["pr_less"]
    )
    frame = frame.rename(columns={"less": "Pr(expected is lower)"})
    note = (
        "Expected is what the model says of two people who err independently. If people agree more "
        "often, they may err together, which looks like truth."
    )
    return Section(
        "people", "People", [table("people-0", "How often two people agree", frame, note=note)]
    )


def determined(study: JudgeStudy, source: Mapping[str, str]) -> Section:
    """What the files can answer, and what not.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    source : mapping of str to str
        More facts about the data, by name.

    Returns
    -------
    Section
    """
    found = study.identified()
    facts = [
        *source.items(),
        ("rates of ratings by people", found.people_rate),
        ("rates of true categories", found.truth),
        ("people on an item, at most", str(found.people)),
        ("families of judges on it", str(found.families)),
        ("known answers", f"{found.gold:,}"),
    ]
    return Section(
        "determined",
        "What the files can answer",
        [*map(Text, study.answerable()), Facts(facts), Text(found.why)],
    )


def _picture(study: JudgeStudy, found: Conclusions) -> Iterator[Block]:
    if not found.is_comparing:
        return
    alone = None
    if study.people_only is not None:
        alone = Better(study.people_only.panel, found.good, found.prob)
        alone = alone if alone.of == found.better.of else None
    yield picture(partial(judge_rates, found.better, alone))


def _rates(study: JudgeStudy, prob: float) -> Iterator[Block]:
    found = study.identified()
    verdicts: dict[Of, str] = {"people": found.people_rate, "truth": found.truth}
    for of, verdict in verdicts.items():
        if verdict == "no":
            continue
        estimates = study.rates(of, prob=prob)
        frame = pd.DataFrame({"share": _with_intervals(estimates, "median", prob)})
        if "people_only" in estimates:
            frame["people only"] = _with_intervals(estimates, "people_only", prob, "people_only_")
            frame["labels saved"] = estimates["labels_saved"].clip(lower=0)
        note = SAVED if "people_only" in estimates else ""
        yield table(f"rates-of-{of}", RATES[of], frame, note=note, decimals={"labels saved": 0})


def _contrasts(found: Conclusions) -> Iterator[Block]:
    if not found.is_comparing:
        return
    better, prob = found.better, found.prob
    yield Heading("Which system is better?", "contrasts")
    number = len(better.order)
    if number > 2:
        ranks = better.ranks
        frame = pd.DataFrame({"rank": _with_intervals(ranks, "median", prob, form=".0f")})
        frame["Pr(first)"] = ranks["pr_first"]
        blocks = int(ranks["blocks"].iloc[0])
        note = f"Ranks are on the {blocks} blocks that any two systems share." if blocks else ""
        yield table("ranks", "Ranks", frame, note=note)
    if number > MOST_PAIRED:
        yield Text(f"Of {number} systems, the first two are compared above.")
        return
    rows = {}
    for one, other in combinations(better.order, 2):
        draws = better.difference(one, other)
        pairs = found.results.is_paired(one, other)
        rows[better.name(one), better.name(other)] = {
            "difference": estimate_text(draws, prob, "+.2f"),
            "Pr(better)": float((draws > 0).mean()),
            "compared": "within blocks" if pairs else "over all answers",
        }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(list(rows), names=["system", "against"])
    what = f"share rated {better.category}" if better.is_rate else "mean score"
    yield table("contrasts-0", f"Differences of the {what}", frame)


def _judges(found: Conclusions) -> Iterator[Block]:
    results, prob = found.results, found.prob
    if found.is_testing:
        rows = found.stand_ins
        frame = pd.DataFrame({
            "Pr(may stand in)": rows["pr_replaceable"],
            "wins against people": rows["winning_rate"],
            "advantage": _with_intervals(rows, "median", prob),
        })  # fmt: skip
        caption = "May a judge stand in for a person?"
        yield table("stand-ins", caption, frame, note=ADVANTAGE)
    each = results.judges(prob)
    names = [name for name in map(str, each) if f"{name}_lower_{100 * prob:g}" in each]
    columns: dict[str, Any] = {"family": each["family"]}
    columns |= {name: _with_intervals(each, name, prob, f"{name}_") for name in names}
    columns["reruns differ"] = each["reruns_flip"]
    if "informative" in each:
        columns["Pr(informative)"] = each["informative"]
    columns["missing"] = each["missing"]
    note = "Each is of a single answer. Informative judges tell more than nothing of the truth."
    yield table("judges-0", "Errors of judges", pd.DataFrame(columns), note=note)
    votes = {
        "independent votes (Kish)": "kish",
        "independent judges that tell as much": "information",
    }
    if results.problem.size("judge") > 1:
        facts = []
        for name, kind in votes.items():
            found_votes = results.effective_votes(kind, prob)
            lower, upper = found_votes.iloc[-2:]
            facts.append((name, f"{found_votes['median']:.2f} ({lower:.2f} to {upper:.2f})"))
        yield Heading("What the judges are worth together", "votes")
        yield Facts([("judges", f"{results.problem.size('judge')}"), *facts])
    misread = results.misreadings(prob)
    frame = pd.DataFrame({"probability": _with_intervals(misread, "median", prob)})
    yield table("misreadings", "What families of judges misread", frame)
    missing = results.missing()
    caption = "Missing answers of judges"
    yield table("missing", caption, missing.rename(columns={"pr_differs": "Pr(differs)"}))


def _seen_alike(study: JudgeStudy, found: Conclusions) -> Iterator[Block]:
    """Variance of scores that families see alike and people do not, if there are scores."""
    if not have_views(found.results.problem):
        return
    rows = study.family_variance(found.prob)
    frame = rows[["judges"]].assign(
        variance=_with_intervals(rows, "median", found.prob), proportion=rows["proportion"]
    )
    yield table(
        "family-variance",
        "What a family of judges sees alike, and people do not",
        frame,
        note=ALIKE,
    )
    if study.scores.doubt:
        yield Text(f"Of the variances above: {study.scores.doubt}", caution=True)


def _with_intervals(
    frame: pd.DataFrame, name: str, prob: float, prefix: str = "", form: str = ".2f"
) -> pd.Series[str]:
    """Estimates with their intervals, as texts."""
    lower, upper = (frame[f"{prefix}{end}_{100 * prob:g}"] for end in ("lower", "upper"))
    return pd.Series(
        [
            "-" if pd.isna(x) else f"{x:{form}} ({a:{form}} to {b:{form}})"
            for x, a, b in zip(frame[name], lower, upper, strict=True)
        ],
        index=frame.index,
    )
