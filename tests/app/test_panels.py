"""What the page shows: faults beside their lines, choices of models, and names that do nothing."""

from __future__ import annotations

import re
from html import escape

import pytest

import reliabayes as rb
from reliabayes.app import panels, tasks
from reliabayes.app.choices import Question, model_choices, why_none
from reliabayes.app.faults import shown_faults, with_controls
from reliabayes.app.given import Given
from reliabayes.app.jobs import Job
from reliabayes.app.reading import Reading, guessed_reading, head_of
from reliabayes.errors import RatingsError
from reliabayes.html_report.answers import answer
from reliabayes.html_report.fragment import fragment_style
from tests.app.tables import FAULTY, IMAGE, SCRIPT, SHROUT_FLEISS
from tests.plots.test_plots import rated


def error_of(table: str, reading: Reading | None = None) -> tuple[RatingsError, Given]:
    given = Given.pasted(table)
    with pytest.raises(RatingsError) as caught:
        (reading or guessed_reading(given)).ratings(given)
    return caught.value, given


@pytest.fixture(scope="module")
def answered() -> tasks.Answered:
    """A fit of Shrout & Fleiss's table, with hostile names."""
    image = IMAGE.replace('"', "'")
    table = SHROUT_FLEISS.replace("J2", SCRIPT).replace("\n1\t", f"\n{image}\t")
    ratings = Reading(item="target", shape="wide").ratings(Given.pasted(table))
    return tasks.fitted(rb.GaussianICC(), ratings)


def test_each_fault_has_the_lines_that_it_concerns() -> None:
    (repeated,) = shown_faults(*error_of(FAULTY))

    assert repeated.lines == ((2, "1,A,3"), (3, "1,A,4"))


def test_faults_name_the_controls_of_the_page() -> None:
    (repeated,) = shown_faults(*error_of(FAULTY))

    assert "choose “Repeated ratings: keep”" in repeated.text
    assert not re.search(r"\w=|frame\.", repeated.text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('Pass twins="join" to join them.', "Choose “Spellings: join” to join them."),
        ("Pass encoding=..., or not.", "Choose “Encoding”, or not."),
        ("Pass facets=['day'], for example.", "Choose “Further columns”, for example."),
        ('shape="long" reads rows.', "“Layout: one rating per row” reads rows."),
        ("Correct them.", "Correct them."),
    ],
)
def test_arguments_become_controls(text: str, shown: str) -> None:
    assert with_controls(text) == shown


@pytest.mark.slow
def test_hostile_names_are_only_text_wherever_they_are_shown(answered: tasks.Answered) -> None:
    table = f"item,rater,rating,{SCRIPT}\n{IMAGE},A,3,1\n{IMAGE},A,4,1\n{SCRIPT},B,,1\n"
    error, given = error_of(table)

    rows = head_of(given, {}).first_rows
    shown = panels.faults(shown_faults(error, given)) + panels.first_rows(rows)
    shown += "".join(panels.part(answered, name, 0.8) for name in ("Answer", *panels.SECTIONS))

    assert "<script>document" not in shown
    assert "<img src=x" not in shown
    assert escape(SCRIPT, quote=False).replace("'", "&#39;") in shown


def test_the_answer_is_that_of_the_report(answered: tasks.Answered) -> None:
    headline = answer(answered.fit, misfit=answered.report_fit.misfit).headline

    assert f'<h2 id="headline">{headline}</h2>' in panels.part(answered, "Answer", 0.8)


def test_another_target_changes_the_answer_and_computes_no_checks(
    answered: tasks.Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rb.Fit, "check", lambda *_: pytest.fail("computed again"))

    assert "ratings an item for a reliability of 0.9" in panels.part(answered, "Answer", 0.9)


def test_fragments_are_styled_only_within_themselves() -> None:
    style = fragment_style()

    assert style.count("\n.reliabayes {") == 1
    assert re.findall(r"^[^\s/}].*", style, re.M) == [".reliabayes {"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("reliability", ["GaussianICC", "OrdinalICC"]),
        ("truth", []),
        ("pools", []),
    ],
)
def test_scores_have_models_of_reliability(question: Question, names: list[str]) -> None:
    given = Given.pasted(SHROUT_FLEISS)
    ratings = guessed_reading(given).ratings(given)

    choices = model_choices(ratings, question)

    assert [choice.name for choice in choices] == names
    assert bool(why_none(ratings, question))


@pytest.mark.parametrize(
    ("question", "first"),
    [("reliability", "LogitICC"), ("truth", "DawidSkene"), ("pools", "LogitXCC")],
)
def test_yes_or_no_by_pools_answers_all_questions(question: Question, first: str) -> None:
    frame = rated(60, 5, 5, "J{}")
    frame["pool"] = frame["rater"].map(lambda name: "a" if name in ("J0", "J1") else "b")
    frame["rating"] = frame["rating"] > frame["rating"].median()
    ratings = rb.Ratings.from_frame(frame, pool="pool")

    choices = model_choices(ratings, question)

    assert choices[0].name == first
    assert choices[0].sentence.startswith("Recommended: ")


def test_unordered_categories_say_where_pools_are_compared() -> None:
    frame = rated(40, 4, 4, "J{}")
    frame["pool"] = frame["rater"].map(lambda name: "a" if name in ("J0", "J1") else "b")
    frame["rating"] = (frame["rating"].rank() % 3).map({0: "cat", 1: "dog", 2: "bird"})
    frame["rating"] = frame["rating"].fillna("cat")
    ratings = rb.Ratings.from_frame(frame, pool="pool")

    assert model_choices(ratings, "pools") == ()
    assert "kappa_x" in why_none(ratings, "pools")


def test_progress_says_how_much_is_done() -> None:
    assert 'value="40"' in panels.progress(Job("x", done=0.4))
    assert "preparing" in panels.progress(Job("x"))
    assert "computing the answer" in panels.progress(Job("x", done=1.0))


def test_failures_are_shown_as_text() -> None:
    failed = Job("x", failure="no <b>memory</b>", is_running=False)

    assert "no &lt;b&gt;memory&lt;/b&gt;" in panels.result(failed)


def test_code_repeats_the_analysis(answered: tasks.Answered) -> None:
    code = panels.code([answered], "rb.read_ratings('ratings.csv')", 0.9)

    assert code.startswith("import reliabayes as rb\n\nratings = rb.read_ratings('ratings.csv')\n")
    assert "rb.GaussianICC().fit(ratings, chains=4" in code
    assert code.endswith('rb.report(ratings, fits, "report.html", reliability=0.9)')
