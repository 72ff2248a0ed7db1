"""The answer of a study of judges: both questions, each as a claim, and their main numbers."""

from __future__ import annotations

from collections.abc import Iterator

from reliabayes.families.judges.checking import agreement_in_words, disagrees
from reliabayes.families.judges.conclusions import Conclusions, chance
from reliabayes.html_report.answers.figures import Answer, Claim, Figure, number_figure
from reliabayes.judge_study import JudgeStudy
from reliabayes.results.estimates import estimate_text
from reliabayes.wording import joined

MOST_NAMED = 6  # systems whose rates are told in a sentence
STAND_IN = (
    "A judge may stand in for a person if it agrees with the other people about as well as that "
    "person does, with an allowance of {epsilon:g}, for at least half of the people."
)


def judges_answer(study: JudgeStudy, found: Conclusions) -> Answer:
    """Which system is better, and which judge may stand in for a person.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    found : Conclusions
        Its conclusions.

    Returns
    -------
    Answer
    """
    systems, judges = (text.removesuffix(".") for text in found.sentences)
    caution = " ".join(_alarms(study)).removesuffix(".")
    claims = Claim(systems, caution), Claim(judges)
    return Answer(claims, tuple(_figures(found)), tuple(_sentences(found)))


def _alarms(study: JudgeStudy) -> list[str]:
    """What puts both answers in doubt, in sentences."""
    agreement = study.people_agreement()
    said = agreement_in_words(agreement) if disagrees(agreement) else []
    return [*said, *study.warnings]


def _figures(found: Conclusions) -> Iterator[Figure]:
    results, prob = found.results, found.prob
    if found.is_comparing:
        one, other = (found.better.name(at) for at in found.better.order[:2])
        draws = found.better.lead
        value = chance(float((draws > 0).mean()))
        yield Figure(f"probability that {one} is better than {other}", value)
        yield number_figure(f"{one} minus {other}", draws, prob, has_bar=False)
    if found.is_testing:
        best = found.stand_ins.iloc[0]
        value = chance(float(best["pr_replaceable"]))
        yield Figure(f"probability that {best.name} may stand in for a person", value)
    if (number := results.problem.size("judge")) > 1:
        votes = results.effective_votes(prob=prob)
        lower, upper = votes.iloc[-2:]
        name = f"independent votes that {number} judges are worth"
        yield Figure(name, f"{votes['median']:.1f}", f"{lower:.1f} to {upper:.1f}")


def _sentences(found: Conclusions) -> Iterator[str]:
    if found.is_comparing:
        better, few = found.better, found.better.order[:MOST_NAMED]
        form = ".0%" if better.is_rate else ".2f"
        values = [
            f"{better.name(at)} {estimate_text(better.value(at), found.prob, form)}" for at in few
        ]
        what = (
            f"share of answers {'rated' if better.of == 'people' else 'truly'} {better.category}"
            if better.is_rate
            else "mean score"
        )
        yield f"The {what}: {joined(values)}."
        if needs := better.needs:
            yield needs
    if found.is_testing:
        yield STAND_IN.format(epsilon=found.epsilon)
