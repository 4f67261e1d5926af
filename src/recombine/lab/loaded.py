"""load: a run that was stored, to look at: its readings as a table, and the nets of its cells."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError
from .store import Record, Store, Table, tidy

if TYPE_CHECKING:
    from ..nets import Net
    from ..training import Trained


class StoredRun:
    """A run that was stored. Nothing is computed, and nothing is changed.

    `table` has one row per reading: the place of its cell on each axis of the study, the reading, and its value.
    """

    def __init__(self, store: Store):
        self.store = store

    @functools.cached_property
    def records(self) -> list[Record]:
        return self.store.records()

    @functools.cached_property
    def table(self) -> Table:
        """Everything that was measured, as a tidy pandas table."""
        return tidy(self.records)

    def query(self, sql: str) -> Table:
        """SQL over everything that was measured; the table is called `readings`."""
        import duckdb

        connection = duckdb.connect(":memory:")
        try:
            # a query is the user's own, but it has no business with files
            connection.execute("SET enable_external_access=false")
            connection.register("readings", self.table)
            return connection.execute(sql).df()
        except duckdb.Error as problem:
            raise UserError(f"the query failed: {str(problem).splitlines()[0]}") from problem
        finally:
            connection.close()

    def trained(self, cell: str) -> Trained:
        """What was trained in a cell: its net with its world and its split, its scores and its history.

        Args:
            cell: its id, or the beginning of it; the table has it as `cell`.
        """
        from ..trials import load_kept

        return load_kept(self._file(cell))

    def net(self, cell: str) -> Net:
        """The net that was trained in a cell.

        Args:
            cell: its id, or the beginning of it; the table has it as `cell`.
        """
        return self.trained(cell).nets[0]

    def _file(self, cell: str) -> Path:
        from ..trials.kept import KeptNets, shared_folder

        records = [record for record in self.records if record.cell.id.startswith(cell)]
        if len(records) != 1:
            raise UserError(
                f"cell={cell!r} is the beginning of {len(records)} cells of {self.store.place}; give more of its id"
            )
        key = records[0].facts.get("net")
        nets = KeptNets(self.store.path / "nets", shared_folder())
        found = nets.find(key) if isinstance(key, str) and key.isalnum() else None
        if found is None:
            raise UserError(
                f"the net of cell {records[0].cell.id} is not kept any more; `recombine run` trains it again"
            )
        return found


def load(path: str | os.PathLike) -> StoredRun:
    """A run that was stored: its readings and its nets.

    Args:
        path: the folder of the run, or a URL such as s3://bucket/prefix.

    Example:
        run = rc.load("runs/supports-laptop"); run.table; run.net("3f2a")
    """
    return StoredRun(Store.open(path))
