"""The page of the app, a marimo notebook: elements, and calls of the other modules."""

# /// script
# requires-python = ">=3.11"
# dependencies = ["reliabayes"]
#
# [tool.marimo.display]
# theme = "system"
# ///

import marimo

app = marimo.App(width="medium", app_title="How far can these ratings be trusted?")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    return (mo,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("# How far can these ratings be trusted?")
    return


if __name__ == "__main__":
    app.run()
