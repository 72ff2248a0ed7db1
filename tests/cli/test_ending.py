"""A signal ends the program, wherever it comes."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent, indent

import pytest

MAIN = """
import gc, os, signal, sys, time, weakref
from types import ModuleType

class Thing:
    pass

class App(ModuleType):
    def app(self, prog_name):
        def here(*_):
            os.kill(os.getpid(), signal.{number})
            for _ in range(1000):
                pass

{body}

sys.modules["reliabayes.cli.app"] = App("app")
from reliabayes.cli import main
main()
"""
LOST = {
    "in a weakref callback": """
        thing = Thing()
        reference = weakref.ref(thing, here)
        del thing
    """,
    "in __del__": """
        Thing.__del__ = here
        Thing()
    """,
    "in a callback of the garbage collector": """
        gc.callbacks.append(here)
        gc.collect()
        gc.callbacks.remove(here)
    """,
    "in code that catches everything": """
        try:
            here()
        except:
            pass
    """,
    "in code that handles another error": """
        try:
            raise ValueError
        except ValueError:
            Thing.__del__ = here
            Thing()
            time.sleep(120)
    """,
}


def ended(body: str, number: str) -> tuple[int, str, str]:
    lines = indent(dedent(body), 8 * " ")
    done = subprocess.run(
        [sys.executable, "-c", MAIN.format(number=number, body=lines)],
        capture_output=True,
        text=True,
        timeout=240,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("where", LOST)
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_an_interrupt_that_python_loses_is_raised_again(where: str, number: str) -> None:
    found = ended(dedent(LOST[where]) + "\ntime.sleep(120)\nprint('lost')", number)

    assert found == (130, "", "reliabayes: interrupted.\n")


@pytest.mark.slow
@pytest.mark.parametrize("where", ["parse_args", "invoke"])
def test_an_interrupt_that_the_parser_of_options_would_end_in_silence_has_its_message(
    where: str,
) -> None:
    body = f"""
from typer.core import TyperGroup
setattr(TyperGroup, "{where}", here)
del sys.modules["reliabayes.cli.app"]
from reliabayes.cli.app import app
app(prog_name)
"""

    assert ended(body, "SIGTERM") == (130, "", "reliabayes: interrupted.\n")


def test_a_further_signal_does_not_cut_short_what_the_first_tidies_up() -> None:
    body = """
try:
    here()
finally:
    here()
    time.sleep(0.5)
    print("tidied up")
"""

    assert ended(body, "SIGTERM") == (130, "tidied up\n", "reliabayes: interrupted.\n")


def test_a_second_interrupt_by_the_keyboard_does() -> None:
    body = """
try:
    here()
finally:
    here()
    print("tidied up")
"""

    assert ended(body, "SIGINT") == (130, "", "reliabayes: interrupted.\n")


def test_a_signal_after_the_command_ends_the_process_at_once() -> None:
    body = """
import atexit
atexit.register(here)
"""

    assert ended(body, "SIGTERM") == (-15, "", "")
