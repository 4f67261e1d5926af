"""The queue: which cell a worker gets next.

Cells of one program (they differ in seeds, rates, supports of equal shape) are a group. A worker stays with its group,
so that a program is compiled once; a worker without one opens the group that takes longest; when every group is open,
it helps where most is left. So compilation is paid once per program, and long cells start first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence

from ..cells import Cell
from ..study import Study
from .stop import Stop

TakeLock = Callable[[Cell], bool]


class _Group:
    """Cells of one program that wait, the longest first."""

    def __init__(self, program: str):
        self.program = program
        self.cells: deque[tuple[float, Cell]] = deque()
        self.left = 0.0

    def pop(self) -> Cell:
        cost, cell = self.cells.popleft()
        self.left -= cost
        return cell


class Queue:
    """Hands out cells. Gives nothing more once `stop` was asked; cells that `lock` refuses are set aside.

    seconds: what cells of a program took before, by program; scales the estimates of the study.
    """

    def __init__(
        self,
        study: Study,
        cells: Sequence[Cell],
        stop: Stop | None = None,
        lock: TakeLock | None = None,
        seconds: Mapping[str, float] | None = None,
    ):
        self.stop = stop or Stop()
        self.lock = lock or (lambda cell: True)
        self.refused: list[Cell] = []
        self.costs = estimates(study, cells, seconds or {})
        self._program = {cell.id: study.program(cell.spec) for cell in cells}
        self._groups: dict[str, _Group] = {}
        for cell in sorted(cells, key=lambda cell: -self.costs[cell.id]):  # stable: seeds stay in order
            group = self._groups.setdefault(self._program[cell.id], _Group(self._program[cell.id]))
            group.cells.append((self.costs[cell.id], cell))
            group.left += self.costs[cell.id]
        self._unopened = deque(self._groups.values())  # by their longest cell, as they were made
        self._at: dict[Hashable, _Group] = {}
        self._waiting = len(cells)

    def __len__(self) -> int:
        """Cells that nobody has taken."""
        return self._waiting

    def take(self, worker: Hashable = None) -> Cell | None:
        """The next cell for a worker, locked for it; None if there is none, or none is to be begun any more."""
        while self._waiting and not self.stop.asked:
            cell = self._group_for(worker).pop()
            self._waiting -= 1
            if self.lock(cell):
                return cell
            self.refused.append(cell)
        self.leave(worker)
        return None

    def put_back(self, cell: Cell) -> None:
        """A cell that was taken and not computed, through no fault of its own: it is next in its group."""
        group = self._groups[self._program[cell.id]]
        group.cells.appendleft((self.costs[cell.id], cell))
        group.left += self.costs[cell.id]
        self._waiting += 1
        if group not in self._unopened and group not in self._at.values():
            self._unopened.appendleft(group)

    def leave(self, worker: Hashable) -> None:
        """A worker that is gone; its group is open to others."""
        group = self._at.pop(worker, None)
        if group is not None and group.cells and group not in self._at.values():
            self._unopened.appendleft(group)

    def _group_for(self, worker: Hashable) -> _Group:
        group = self._at.get(worker)
        if group is None or not group.cells:
            self._at.pop(worker, None)
            while self._unopened and not self._unopened[0].cells:
                self._unopened.popleft()
            # at most as many groups are open as there are workers
            group = self._unopened.popleft() if self._unopened else max(self._open(), key=lambda group: group.left)
            self._at[worker] = group
        return group

    def _open(self) -> list[_Group]:
        return [group for group in self._at.values() if group.cells]


def estimates(study: Study, cells: Sequence[Cell], seconds: Mapping[str, float]) -> dict[str, float]:
    """What each cell will take, by id: as measured where its program was, else the study's guess on the same scale."""
    guesses = {cell.id: max(study.cost(cell.spec), 1e-9) for cell in cells}
    programs = {cell.id: study.program(cell.spec) for cell in cells}
    known = sorted(seconds[programs[id]] / guess for id, guess in guesses.items() if programs[id] in seconds)
    scale = known[len(known) // 2] if known else 1.0
    return {id: seconds.get(programs[id], guess * scale) for id, guess in guesses.items()}
