"""The program with all its commands."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import reliabayes as rb
from reliabayes.cli.agreement_commands import agree, simulate
from reliabayes.cli.app_command import app as open_app
from reliabayes.cli.design_command import design
from reliabayes.cli.fit_commands import compare, fit
from reliabayes.cli.judge_command import judge
from reliabayes.cli.output import (
    BAD_INPUT,
    FAILURE,
    INTERRUPTED,
    exit_with,
    print_text,
    warnings_as_messages,
)
from reliabayes.cli.overview_commands import demo, describe, models
from reliabayes.cli.partition_command import partition
from reliabayes.cli.ratings_file import with_option_names
from reliabayes.cli.report_command import report
from reliabayes.cli.tidy_command import tidy

ClickException: Any = typer.BadParameter.__mro__[2]  # of click, or of what typer has instead
# Names of errors, one of this package and one of Dask, whose import takes long.
WORKERS_DIED = ("WorkerError", "KilledWorker")


class Commands(TyperGroup):
    """Commands that report errors as messages, with an exit status for each kind."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; errors and interrupts end it without a traceback."""
        try:
            with warnings_as_messages():
                return super().invoke(ctx)
        except rb.RatingsError as error:
            exit_with(with_option_names(error), BAD_INPUT)
        except BrokenPipeError:  # whoever reads the output has seen enough; typer ends quietly
            raise
        except (rb.SamplingError, OSError) as error:
            exit_with(error, FAILURE)
        except ValueError as error:
            exit_with(error, BAD_INPUT)
        except MemoryError:
            exit_with("there is not enough memory.", FAILURE)
        except KeyboardInterrupt:
            exit_with("interrupted.", INTERRUPTED)
        except (typer.Exit, typer.Abort, ClickException):
            raise
        except Exception as error:
            if os.environ.get("RELIABAYES_TRACEBACK"):
                raise
            kind = type(error).__name__
            if kind in WORKERS_DIED:
                exit_with(error, FAILURE)
            text = f"this should not happen, please report it: {kind}: {error}"
            exit_with(f"{text} (RELIABAYES_TRACEBACK=1 shows where.)", FAILURE)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print_text(f"reliabayes {rb.__version__}")
        raise typer.Exit


@app.callback()
def options(
    print_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Estimate the reliability and validity of human ratings."""


COMMANDS = (
    fit, compare, report, judge, agree, tidy, partition, simulate, design, describe, models, demo,
)  # fmt: skip
for command in COMMANDS:
    app.command()(command)
app.command("app")(open_app)
