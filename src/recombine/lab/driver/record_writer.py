"""The record writer: keeps records beside the run, several at once: a disk makes many durable in the time of one."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable

from ..cells import Cell
from ..record import Failure, Record
from ..store import Store

AT_ONCE = 64  # records that wait at most: then the run waits, too


class RecordWriter:
    """Keeps what it is given; `kept` is called (in the writer's thread) when a cell's outcome is durable."""

    def __init__(self, store: Store, kept: Callable[[Cell], None]):
        self.store, self.kept = store, kept
        self._failed_before = store.failed()
        self._waiting: queue.Queue[Record | Failure | None] = queue.Queue(AT_ONCE)
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def keep(self, outcome: Record | Failure) -> None:
        """Takes what is to be kept; raises what went wrong with something before."""
        self.check()
        self._waiting.put(outcome)

    def check(self) -> None:
        if self._problem is not None:
            raise self._problem

    def close(self) -> None:
        """Returns when everything is durable, or raises why it is not."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()
        self.check()

    def _work(self) -> None:
        over = False
        while not over:
            batch = [self._waiting.get()]
            with contextlib.suppress(queue.Empty):
                while len(batch) < AT_ONCE:
                    batch.append(self._waiting.get_nowait())
            over = None in batch
            if self._problem is None:  # else: go on taking, so that nobody waits for us
                try:
                    self._keep([outcome for outcome in batch if outcome is not None])
                except BaseException as problem:  # raised where the run is, whatever it is
                    self._problem = problem

    def _keep(self, outcomes: list[Record | Failure]) -> None:
        records = [outcome for outcome in outcomes if isinstance(outcome, Record)]
        if records:
            self.store.put_all(records)
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                self.store.put_failure(outcome)
            elif outcome.cell.id in self._failed_before:
                self.store.forget_failure(outcome.cell)
            self.kept(outcome.cell)
