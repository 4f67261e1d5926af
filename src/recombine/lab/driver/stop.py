"""How a run is told to stop: once to finish what runs, twice to stop now. Signals end here, not in engines."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

SOON = b"\nstopping: cells that run are finished first; Ctrl-C once more stops now\n"


class Interrupted(KeyboardInterrupt):
    """A run ended early because it was asked to; what was finished is kept."""

    def __init__(self, number: int = signal.SIGINT):
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.exit_code = 128 + number


class Stop:
    """Whether a run was asked to stop. `asked` is looked at before a cell is begun; who asks twice interrupts."""

    def __init__(self, over: Callable[[], bool] | None = None):
        self.signal: int | None = None
        self.over = over or (lambda: False)  # whether the time for this is used up: then no cell is begun either

    @property
    def asked(self) -> bool:
        return self.signal is not None or self.over()

    def ask(self, number: int = signal.SIGINT) -> None:
        """Begin no further cell. A second SIGINT raises, wherever the main thread is; SIGTERM never does."""
        if self.signal is not None and number == signal.SIGINT:
            raise Interrupted(number)
        if self.signal is None:
            self.signal = number


@contextlib.contextmanager
def handle_signals(stop: Stop, quiet: bool = False) -> Iterator[None]:
    """While the block runs, SIGINT and SIGTERM ask `stop`. Only the main thread can: elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: object) -> None:
        if stop.signal is None and not quiet:
            with contextlib.suppress(OSError):
                os.write(2, SOON)  # and not print: a handler may interrupt a print
        stop.ask(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heeded = {number: old for number, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in heeded:  # who ignores a signal, as a background job does, has decided so
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, old in heeded.items():
            signal.signal(number, old)
