"""Signals that ask the program to end, as an interrupt that cannot be lost."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Any

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN = 0.1  # seconds until an interrupt that nobody handles is raised again


class Interrupt(BaseException):
    """An interrupt by one of these signals, apart from the one that libraries end in silence."""


class Ending:
    """Handlers of these signals, which raise an interrupt until it has been handled.

    Python runs a handler wherever the program is just then. An exception that the handler raises
    within a callback of the garbage collector, or within code that catches everything, goes no
    further, and the program would run on as if no signal had come.
    """

    def __init__(self) -> None:
        self._raised: BaseException | None = None
        self._hook = sys.unraisablehook

    def await_signals(self) -> None:
        """Take over the signals that are not ignored, as `nohup` has it for one of them."""
        sys.unraisablehook = self._print_unless_interrupt
        signal.signal(signal.SIGALRM, self._handle)
        for number in ASKING:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, self._handle)

    def leave(self) -> None:
        """Let the signals end the process at once from now on, since nothing is left to lose."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number in (*ASKING, signal.SIGALRM):
            if signal.getsignal(number) == self._handle:
                signal.signal(number, signal.SIG_DFL)
        sys.unraisablehook = self._hook

    def _handle(self, number: int, frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        # A second Ctrl-C is for whoever will not wait for what the first one has to tidy up.
        if number == signal.SIGINT or not self._is_being_handled():
            self._raised = Interrupt()
            raise self._raised

    def _is_being_handled(self) -> bool:
        """Whether the code that was just running is in an `except` or `finally` of the last one."""
        handled = sys.exception()
        while handled is not None and handled is not self._raised:
            handled = handled.__context__
        return handled is not None

    def _print_unless_interrupt(self, lost: Any) -> None:
        if not isinstance(lost.exc_value, Interrupt):  # those come again
            self._hook(lost)
