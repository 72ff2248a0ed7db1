"""The commands as one program."""

from __future__ import annotations

import signal
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import reliabayes as rb
from reliabayes import cli
from reliabayes.cli.agreeing import agree, simulate
from reliabayes.cli.fitting import compare, fit
from reliabayes.cli.looking import demo, describe, models
from reliabayes.cli.options import for_shell
from reliabayes.cli.output import BAD_INPUT, FAILURE, INTERRUPTED, stop, warnings_told
from reliabayes.cli.page import report


class Commands(TyperGroup):
    """Commands that tell what went wrong in words, and by their exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; no fault, failure or interrupt ends in a traceback."""
        try:
            with warnings_told():
                return super().invoke(ctx)
        except rb.RatingsError as error:
            stop(for_shell(error), BAD_INPUT)
        except (rb.SamplingError, OSError) as error:
            stop(error, FAILURE)
        except ValueError as error:
            stop(error, BAD_INPUT)
        except MemoryError:
            stop("there is not enough memory.", FAILURE)
        except KeyboardInterrupt:
            stop("interrupted.", INTERRUPTED)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; a request to terminate ends it as an interrupt does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="reliabayes")


def _print_version(wanted: bool) -> None:
    if wanted:
        cli.out.print("reliabayes", version("reliabayes"))
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
    """How far to trust human ratings."""


for command in (fit, compare, report, agree, simulate, describe, models, demo):
    app.command()(command)
