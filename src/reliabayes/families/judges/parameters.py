"""Parameters of judge panels."""

from __future__ import annotations

from reliabayes.families.judges.problem import PanelProblem
from reliabayes.inference.parameters import Parameter

# Those of a population are there if it has several units. Levels are log odds of errors.
ALL_PARAMETERS = (
    Parameter("prevalence_location", "real", ("contrast",)),
    Parameter("prevalence_spread", "positive", ("all",)),
    Parameter("prevalence_log_odds", "real", ("group", "contrast")),
    Parameter("people_location", "real", ("level",)),
    Parameter("people_spread", "positive", ("all",)),
    Parameter("people_log_odds", "real", ("person", "level")),
    Parameter("misreading_location", "real", ("family", "level")),
    Parameter("misreading_spread", "positive", ("family",)),
    Parameter("misreading_log_odds", "real", ("read_group", "family", "level")),
    Parameter("own_log_odds", "real", ("own_judge", "level")),
    Parameter("slip_log_odds", "real", ("run_judge", "level")),
    Parameter("popularity", "real", ("population", "contrast")),
    Parameter("log_decay", "real", ("population",)),
)


def declared(problem: PanelProblem) -> tuple[Parameter, ...]:
    """Parameters that a problem has, in the order of the Stan program."""
    kinds = ("prevalence", "people", "misreading")
    left_out = {
        f"{kind}_{what}"
        for kind, is_pooled in zip(kinds, problem.pooled, strict=True)
        if not is_pooled
        for what in ("location", "spread")
    }
    if problem.is_free:
        left_out.add("popularity")
    if not problem.is_ordered:
        left_out.add("log_decay")
    return tuple(each for each in ALL_PARAMETERS if each.name not in left_out)
