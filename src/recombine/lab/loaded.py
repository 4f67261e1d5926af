"""load: a run that was stored, to look at: its readings as a table, and the nets of its cells."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError
from .record import Record, Table, tidy
from .store import Store

if TYPE_CHECKING:
    from ..nets import Net
    from ..training import Trained


class StoredRun:
    """A run that was stored. Nothing is computed, and nothing is changed.

    `table` has one row per reading: the place of its cell on each axis of the study, the reading, and its value.

    Args:
        store: where it is, as `rc.load` opens it.

    Example:
        >>> result = rc.run(study, "smoke", seeds=2, out="coin", quiet=True)
        >>> rc.load("coin").table.value.tolist()
        [0.9, 0.9]
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

        record = self._record(cell)
        if impossible := record.facts.get("impossible"):
            raise UserError(f"nothing was trained in cell {record.cell.id}: {impossible}")
        if (key := record.facts.get("net")) is None:
            raise UserError(f"cell {record.cell.id} is no trial, and has no net of its own")
        folders = [at for at in (self.store.nets, shared_folder()) if at is not None]
        known = isinstance(key, str) and key.isalnum()  # it comes from a file, and becomes part of a path
        found = KeptNets(folders[0], folders[-1]).find(key) if known and folders else None
        if found is None:
            raise UserError(
                f"the net of cell {record.cell.id} is not kept any more; `recombine run` to a new folder trains it"
            )
        return found

    def _record(self, cell: str) -> Record:
        """The one record whose cell begins so."""
        found = [record for record in self.records if record.cell.id.startswith(str(cell))]
        if not found:
            raise UserError(f"no cell of {self.store.place} begins with {cell!r}; the table has their ids as `cell`")
        if len(found) > 1:
            raise UserError(
                f"cell={cell!r} is the beginning of {len(found)} cells of {self.store.place}; give more of it"
            )
        return found[0]


def load(path: str | os.PathLike) -> StoredRun:
    """A run that was stored: its readings and its nets.

    Args:
        path: the folder of the run, or a URL such as s3://bucket/prefix.

    Example:
        >>> done = rc.run(study, "smoke", out="coin-smoke", quiet=True)
        >>> rc.load("coin-smoke").table.value.tolist()
        [0.9, 0.9, 0.9, 0.9]
    """
    return StoredRun(Store.open(path))
