"""What `recombine audit` prints: the answer, tables of findings, changes and suggestions, and the rest in sentences."""

from __future__ import annotations

import io
import math
import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..audit import Audit
from ..labels import visible
from .printing import NARROW

SUGGESTED = 5  # of what to collect next
_LETTERS = 40  # of a label


def audit_text(audit: Audit, width: int | None = None) -> str:
    """An audit for a terminal: tables where there is room for them.

    Args:
        audit: what `rc.audit` gave.
        width: of the terminal, in letters.
    """
    width = width or shutil.get_terminal_size((100, 24)).columns
    parts = [f"{audit.data}: {audit.observed.total:,} rows, {audit.choice.sentence()}"]
    parts += [audit.headline] if audit.headline else []
    for title, lines in audit.sections().items():
        made = _tables(audit, title, width) if width >= NARROW else None
        parts.append("\n".join([title, *(made or [f"  {line}" for line in lines])]))
    if audit.notes:
        parts.append("\n".join(["Notes", *(f"  {note}" for note in audit.notes)]))
    return "\n\n".join(parts)


def _tables(audit: Audit, title: str, width: int) -> list[str] | None:
    """The lines of a section that is a table."""
    if title == "Findings" and audit.findings:
        return _lines(_findings(audit), width)
    if title == "Changes" and audit.changes is not None and audit.changes.changes:
        return [f"  {audit.changes.sentences()[0]}", *_lines(_changes(audit), width)]
    if title == "Next" and audit.next:
        return _lines(_next(audit), width)
    return None


def _findings(audit: Audit) -> Table:
    table = _table(("what fails", False), ("right", True), ("90 %", True), ("answers", True), ("combinations", True))
    for one in audit.findings:
        interval = f"{1 - one.high:.0%} to {1 - one.low:.0%}"
        _add(table, one.words, f"{1 - one.rate:.0%}", interval, f"{one.n:,.6g}", f"{one.combinations:,}")
    return table


def _changes(audit: Audit) -> Table:
    assert audit.changes is not None
    heads = (("finding", False), ("", False), ("before", True), ("now", True), ("points", True), ("corrected", True))
    table = _table(*heads)
    for one in audit.changes.changes:
        mean, low, high = one.change
        change, interval = _points(mean), f"{_points(low)} to {_points(high)}"
        _add(table, one.finding.words, one.verdict, _share(one.before.right), _share(one.after.right), change, interval)
    return table


def _next(audit: Audit) -> Table:
    table = _table(("", True), ("combination", False), ("examples", True), ("why", False))
    for number, one in enumerate(audit.next[:SUGGESTED], 1):
        levels = ", ".join(visible(level, _LETTERS) for level in one.combination.values())
        _add(table, number, levels, f"{one.examples:,}", one.buys)
    return table


# -- tables ------------------------------------------------------------------------------------------------------------
def _table(*heads: tuple[str, bool]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="", padding=(0, 2, 0, 0))
    for name, number in heads:
        table.add_column(Text(name), justify="right" if number else "left", no_wrap=number)
    return table


def _add(table: Table, *cells: Any) -> None:
    table.add_row(*(Text(visible(str(cell))) for cell in cells))


def _lines(table: Table, width: int) -> list[str]:
    """A table as lines of plain text: what a terminal could act on is spelled out later, with all the rest."""
    out = io.StringIO()
    Console(file=out, width=width - 2, color_system=None, force_terminal=False, legacy_windows=False).print(table)
    return [f"  {line.rstrip()}" for line in _whole(out.getvalue().splitlines())]


def _whole(lines: Sequence[str]) -> Iterable[str]:
    return (line for line in lines if line.strip())


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.0%}"


def _points(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:+.1f}"
