"""The page of the app, a marimo notebook: elements, and calls of the other modules."""

# /// script
# requires-python = ">=3.11"
# dependencies = ["reliabayes"]
#
# [tool.marimo.display]
# theme = "system"
# ///

import marimo

app = marimo.App(
    width="medium",
    app_title="Can these ratings be trusted?",
    html_head_file="head.html",
)

with app.setup(hide_code=True):
    import threading

    import marimo as mo

    from reliabayes.app import elements, judging, panels, simulations, tables, tasks
    from reliabayes.app import simulation_forms as forms
    from reliabayes.app.choices import why_none
    from reliabayes.app.jobs import Session
    from reliabayes.app.proposals import changed as tick
    from reliabayes.app.proposals import notes_of
    from reliabayes.app.reading import Head, Reading
    from reliabayes.app.where_it_runs import privacy, refusal

    RATINGS, RELIABILITY, AGREEMENT, TRUTH, POOLS, JUDGES, SIMULATE, REPORT = elements.TABS


@app.cell(hide_code=True)
def _():
    mo.Html(f"{panels.style()}{panels.heading(privacy())}")
    return


@app.cell(hide_code=True)
def _():
    session = Session()
    session.keep(threading.current_thread())
    get_version, set_version = mo.state(0)  # of jobs and results
    get_text, set_text = mo.state("")
    get_ticked, set_ticked = mo.state((None, ()))  # a table, and repairs of it
    results = {}  # jobs that have ended, by what they are for
    chosen = {}  # how a table was read last

    def changed():
        set_version(lambda number: number + 1)

    def begin(name, function, *arguments):
        session.start(name, function, *arguments)
        changed()

    return (
        begin,
        changed,
        chosen,
        get_text,
        get_ticked,
        get_version,
        results,
        session,
        set_text,
        set_ticked,
    )


@app.cell(hide_code=True)
def _():
    tab = mo.ui.tabs(dict.fromkeys(elements.TABS, ""), label="")
    tab
    return (tab,)


@app.cell(hide_code=True)
def _(tab):
    mo.Html(panels.question(elements.QUESTIONS[tab.value]))
    return


# Your ratings.


@app.cell(hide_code=True)
def _(get_text, set_text):
    pasted = mo.ui.text_area(
        value=get_text(),
        label="Paste a table with its header: from a spreadsheet, CSV, or JSON lines",
        placeholder=elements.PLACEHOLDER,
        rows=8,
        full_width=True,
    )
    dropped = elements.file_area(elements.DROP)
    example = mo.ui.button(
        label="Try it with a published table", on_change=lambda _: set_text(elements.EXAMPLE)
    )
    encoding = elements.control("encoding", value="utf-8")
    return dropped, encoding, example, pasted


@app.cell(hide_code=True)
def _(dropped, encoding, pasted):
    given = elements.given(pasted, dropped, encoding)
    return (given,)


@app.cell(hide_code=True)
def _(get_ticked, given, session):
    _given, _ticked = get_ticked()
    accepted = _ticked if given is not None and _given == given else ()
    head, unreadable = None, None
    if given is not None:
        _job = session.finished(tables.head, given, accepted)
        _is_head = not _job.failure and isinstance(_job.result, Head)
        head, unreadable = (_job.result, None) if _is_head else (None, _job)
    return accepted, head, unreadable


@app.cell(hide_code=True)
def _(chosen, given, head):
    _given, _reading = chosen.get("reading", (None, None))
    _guess = head.guess if head else Reading()
    # What was chosen before a box was ticked stays chosen.
    _kept = _reading.kept(head) if head and _given == given else _guess
    columns = elements.column_form(head.columns if head else [], _kept)
    return (columns,)


@app.cell(hide_code=True)
def _(accepted, changed, chosen, columns, given, head, results, session, unreadable):
    table, faults, reading, proposals = None, "", None, ()
    session.cancel()
    results.clear()
    _job = unreadable
    if head is not None:
        reading = elements.reading_of(columns.value, head.guess)
        chosen["reading"] = (given, reading)
        _job = session.finished(tables.table, given, reading, accepted)
    if _job is not None:
        faults = panels.why_unusable(_job)
        proposals = () if _job.failure else _job.result.proposals
        table = _job.result if isinstance(_job.result, tables.Table) else None
    ratings = table.ratings if table else None
    changed()
    return faults, proposals, ratings, reading, table


@app.cell(hide_code=True)
def _(accepted, given, proposals, set_ticked):
    def _tick(ticks):
        set_ticked((given, tick(accepted, proposals, ticks)))

    boxes = elements.repair_boxes(proposals, _tick)
    return (boxes,)


@app.cell(hide_code=True)
def _(faults, given, proposals, ratings, tab):
    mo.stop(tab.value != RATINGS or given is None)
    _is_open = any(not each.is_ticked for each in proposals)
    mo.Html(panels.read_message(ratings, is_open=_is_open) + faults)
    return


@app.cell(hide_code=True)
def _(boxes, proposals, tab):
    mo.stop(tab.value != RATINGS or not proposals)
    _shown = [mo.Html(panels.about_repairs(proposals))]
    for _box, _proposal in zip(boxes, proposals, strict=True):
        _shown += [_box, mo.Html(panels.repair(_proposal))]
    mo.vstack(_shown, gap=0.3)
    return


@app.cell(hide_code=True)
def _(dropped, encoding, example, pasted, tab):
    mo.stop(tab.value != RATINGS)
    mo.vstack([pasted, example, dropped, *([encoding] if dropped.value else [])], gap=1.2)
    return


@app.cell(hide_code=True)
def _(columns, head, proposals, ratings, tab):
    mo.stop(tab.value != RATINGS or head is None)
    _found = []
    if head.columns:
        _found += [elements.arranged(columns), mo.Html(panels.first_rows(head.first_rows))]
    if ratings is not None:
        _found.append(mo.Html(panels.what_was_read(ratings, notes_of(proposals))))
    mo.vstack(_found, gap=1.2)
    return


# Jobs: their start, progress and end.


@app.cell(hide_code=True)
def _(changed, clock, results, session):
    clock.value
    _job = session.poll()
    _shown = None
    if _job is not None and _job.is_running:
        _shown = mo.Html(panels.progress(_job))
    elif _job is not None:
        results[_job.name] = _job
        session.job = None
        changed()
    _shown
    return


@app.cell(hide_code=True)
def _(changed, get_version, session):
    get_version()
    clock = mo.ui.refresh(default_interval=0.4)

    def _cancel(_):
        session.cancel()
        changed()

    cancel = mo.ui.button(label="Cancel", kind="warn", on_change=_cancel)
    _is_running = session.job is not None and session.job.is_running
    mo.vstack([cancel, elements.unseen(clock)]) if _is_running else None
    return (clock,)


# Elements that keep their state whatever the ratings are.


@app.cell(hide_code=True)
def _():
    fit, agree, judge, make_report, one, many, tap = (
        mo.ui.run_button(label=label, kind="success") for label in elements.BUTTONS
    )
    part = mo.ui.dropdown(elements.PARTS, value="Answer", label="Show", allow_select_none=False)
    guideline = elements.guideline()
    matrices, knowers = forms.matrix_form(), forms.tap_form()
    return agree, fit, guideline, judge, knowers, make_report, many, matrices, one, part, tap


# Reliability, Who is right and Groups: each fits models of its own.


@app.cell(hide_code=True)
def _(table):
    questions = {RELIABILITY: "reliability", TRUTH: "truth", POOLS: "pools"}
    choices = {
        name: table.choices[question] if table else () for name, question in questions.items()
    }
    models = mo.ui.dictionary({name: elements.model_dropdown(choices[name]) for name in choices})
    target = mo.ui.slider(
        0.5, 0.95, 0.05, value=0.8, show_value=True, debounce=True, label="Target reliability"
    )
    return choices, models, questions, target


@app.cell(hide_code=True)
def _(begin, choices, fit, models, ratings, tab):
    if fit.value and ratings is not None and choices.get(tab.value):
        _chosen = elements.chosen(choices[tab.value], models.value[tab.value])
        if not refusal(_chosen.model):
            begin(tab.value, tasks.fitted, _chosen.model, ratings)
    return


@app.cell(hide_code=True)
def _(choices, fit, get_version, models, part, questions, ratings, results, tab, target):
    get_version()
    mo.stop(tab.value not in questions)
    mo.stop(ratings is None, mo.Html(panels.message(elements.FIRST)))
    mo.stop(
        not choices[tab.value], mo.Html(panels.message(why_none(ratings, questions[tab.value])))
    )
    _chosen = elements.chosen(choices[tab.value], models.value[tab.value])
    _refused = refusal(_chosen.model)
    _shown = [
        mo.hstack([models[tab.value], fit], justify="start", align="end", wrap=True),
        mo.Html(panels.message(_refused or _chosen.sentence, caution=bool(_refused))),
    ]
    if (_job := results.get(tab.value)) is not None:
        if _job.failure:
            _shown.append(mo.Html(panels.message(_job.failure, caution=True)))
        else:
            _shown += [part] if tab.value == TRUTH else [target, part]
            _shown.append(mo.Html(panels.part(_job.result, part.value, target.value)))
            _shown.append(elements.table_downloads(_job.result, part.value))
    mo.vstack([each for each in _shown if each is not None], gap=1)
    return


# Agreement.


@app.cell(hide_code=True)
def _(agree, begin, guideline, ratings):
    if agree.value and ratings is not None:
        begin(AGREEMENT, tasks.agreement, ratings, guideline.value)
    return


@app.cell(hide_code=True)
def _(agree, get_version, guideline, ratings, results, tab):
    get_version()
    mo.stop(tab.value != AGREEMENT)
    mo.stop(ratings is None, mo.Html(panels.message(elements.FIRST)))
    mo.vstack(
        [
            mo.hstack([guideline, agree], justify="start", align="end", wrap=True),
            mo.Html(panels.result(results.get(AGREEMENT))),
        ]
    )
    return


# Judges: two files of their own.


@app.cell(hide_code=True)
def _():
    said, labelled = map(elements.file_area, elements.JUDGE_FILES)
    return labelled, said


@app.cell(hide_code=True)
def _(said, session):
    said_by_judges, misread, _columns = elements.in_area(said), None, []
    if said_by_judges is not None:
        _job = session.finished(tables.head, said_by_judges)
        _is_head = not _job.failure and isinstance(_job.result, Head)
        misread, _columns = (None, _job.result.columns) if _is_head else (_job, [])
    judge_form = elements.judge_form(_columns)
    return judge_form, misread, said_by_judges


@app.cell(hide_code=True)
def _(begin, judge, judge_form, labelled, misread, said_by_judges):
    if judge.value and said_by_judges is not None and misread is None:
        begin(JUDGES, judging.judged, said_by_judges, elements.in_area(labelled), judge_form.value)
    return


@app.cell(hide_code=True)
def _(get_version, judge, judge_form, labelled, misread, results, said, said_by_judges, tab):
    get_version()
    mo.stop(tab.value != JUDGES)
    _shown = [mo.Html(panels.about_judges()), said, labelled]
    if misread is not None:
        _shown.append(mo.Html(panels.why_unusable(misread)))
    elif said_by_judges is not None:
        _shown += [mo.hstack(judge_form.values(), justify="start", wrap=True, gap=1), judge]
    if (_job := results.get(JUDGES)) is not None:
        _shown.append(mo.Html(panels.judged(_job)))
        _shown += [] if _job.failure else [elements.report_download(_job)]
    mo.vstack(_shown, gap=1)
    return


# Simulate.


@app.cell(hide_code=True)
def _(begin, knowers, many, matrices, one, tap):
    _design, *_regression = forms.matrix_design(matrices.value)
    if one.value:
        begin("matrix", simulations.matrix_coefficients, _design)
    if many.value:
        begin("study", simulations.study_picture, _design, *_regression)
    if tap.value:
        begin("tap", simulations.tap_recovery_table, forms.tap_design(knowers.value))
    return


@app.cell(hide_code=True)
def _(get_version, knowers, many, matrices, one, results, tab, tap):
    get_version()
    mo.stop(tab.value != SIMULATE)
    mo.vstack(
        [
            mo.Html(panels.about_matrices()),
            forms.in_rows(matrices),
            mo.hstack([one, many], justify="start", wrap=True),
            mo.Html(panels.result(results.get("matrix"))),
            mo.Html(panels.result(results.get("study"))),
            mo.Html(panels.about_tap()),
            forms.in_rows(knowers),
            tap,
            mo.Html(panels.result(results.get("tap"))),
        ]
    )
    return


# Report.


@app.cell(hide_code=True)
def _(given, questions, reading, results, target):
    def analysis():
        jobs = [results[name] for name in questions if name in results]
        answers = [job.result for job in jobs if not job.failure]
        return answers, panels.code(answers, reading.code(given), target.value)

    return (analysis,)


@app.cell(hide_code=True)
def _(analysis, begin, make_report, ratings, target):
    if make_report.value and ratings is not None:
        _answers, _code = analysis()
        _fits = {each.name: each.fit for each in _answers}
        if _fits:
            begin(REPORT, tasks.page, ratings, _fits, _code, target.value)
    return


@app.cell(hide_code=True)
def _(analysis, get_version, make_report, ratings, results, tab):
    get_version()
    mo.stop(tab.value != REPORT)
    mo.stop(ratings is None, mo.Html(panels.message(elements.FIRST)))
    _answers, _code = analysis()
    _shown = [
        mo.Html(panels.about_report(_answers) if _answers else panels.message(elements.FIT_FIRST))
    ]
    if _answers:
        _shown.append(make_report)
    if (_job := results.get(REPORT)) is not None:
        _shown.append(elements.report_download(_job))
    _shown.append(mo.Html(panels.code_block(_code)))
    mo.vstack(_shown, gap=1)
    return


if __name__ == "__main__":
    app.run()
