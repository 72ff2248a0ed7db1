"""The tab Judges takes two files, and says in the words of the page what is wrong with them."""

from __future__ import annotations

import pytest

from reliabayes.app.given import Given
from reliabayes.app.judging import judged
from tests.html_report.test_judge_report import table

FORM = {"group": "system", "block": None, "twins": "error", "good": ""}


def files(**labels: str) -> tuple[Given, Given]:
    """What judges said, and labels of people with other names of categories."""
    frame = table({"v3": 0.5, "v4": 0.9}, {"Ann": 0.05, "judge": 0.1}).drop(columns="pool")
    is_person = frame["rater"] == "Ann"
    people = frame.loc[is_person, ["item", "rating"]].replace({"rating": labels})
    return (
        Given.dropped("run.csv", frame[~is_person].to_csv(index=False).encode()),
        Given.dropped("sheet.csv", people.to_csv(index=False, sep=";").encode()),
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"pass": "Pass "}, "rating, between files: .*Choose “Spellings: join” to join them"),
        ({"pass": "1", "fail": "0"}, "0, 1 by people, and 'fail', 'pass' by judges"),
    ],
)
def test_faults_are_in_the_words_of_the_page(labels: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        judged(*files(**labels), FORM)
