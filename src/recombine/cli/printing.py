"""What commands print: JSON, and tables of verdicts, of differences and of studies."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..labels import short_place, visible

COLORS = {
    "supported": "green",
    "refuted": "red",
    "tie": "cyan",
    "open": "yellow",
    "by construction": "dim",
    "not asked": "dim",
}
NARROW = 64  # columns of a terminal, below which a table would cut its words


def print_json(data: object) -> None:
    print(json.dumps(data, allow_nan=False))


def print_text(text: object, file: Any = None) -> None:
    """Prints what may hold any letter: one that acts on a terminal or is not seen is spelled out (labels are data of
    strangers), and what the terminal does not know is shown as a question mark.
    """
    file = file or sys.stdout
    code = file.encoding or "utf-8"
    lines = "\n".join(visible(line) for line in str(text).split("\n"))
    print(lines.encode(code, "replace").decode(code), file=file)


def print_result(result, console: Console) -> None:
    """Verdicts, and the answers to questions without a threshold; a table where there is room for one."""
    extent = result.extent
    if not extent.complete:
        part = f"incomplete: {extent.done} of {extent.total} cells are here"
        console.print(f"{part}; the same command again runs what is missing", markup=False, style="bold yellow")
    table = Table(
        "verdict",
        "claim",
        "value \\[95 % sequence]",
        "threshold",
        title=f"{result.study.id}, {escape(result.scale)} scale",
    )
    for verdict in result.verdicts:
        claim = verdict.claim
        kept = ["survives e-BH at 5 % over this study"] if claim.id in result.survivors else []
        notes = [*verdict.notes, *kept, *(f"{c.cell}: {c.decision()[0]}" for c in verdict.cells if c.cell)]
        text = "\n".join([escape(claim.text), *(f"[dim]{escape(words)}[/]" for words in notes)])
        value = "\n".join([str(verdict.interval), *verdict.effect_words]) if verdict.interval.seeds else "-"
        outcome, wanted = f"[{COLORS[verdict.outcome]}]{verdict.outcome}[/]", claim.wanted
        table.add_row(outcome, text, escape(value), wanted)
        if console.width < NARROW:
            console.print(f"{outcome} {text}\n  {escape(value)}, {wanted}")
    if console.width >= NARROW:
        console.print(table)
    for one in result.changed_claims:
        console.print(f"{one}", markup=False)
    for question, interval, _ in result.measurements:
        if interval.seeds:
            console.print(f"{question.text}: {interval}", markup=False)
    console.print(f"\n{result.headline or 'Nothing was measured yet.'}", markup=False, style="bold")


def print_overview(results, console: Console) -> None:
    """One line per study: how its claims came out."""

    table = Table("study", *COLORS, "answer", title="all studies", title_justify="left")
    for result in results:
        outcomes = [verdict.outcome for verdict in result.verdicts]
        counts = [str(outcomes.count(name) or "") for name in COLORS]
        table.add_row(result.study.id, *counts, escape(result.headline))
    console.print(table)


def print_comparison(comparison, console: Console) -> None:
    """Of each reading both values, their difference, and whether it is larger than its interval."""
    for name, side in (("first", comparison.first), ("second", comparison.second)):
        extent = side.extent
        place = short_place(side.store.place) if side.store else "not stored"
        cells = f"{extent.done} cells" if extent.complete else f"{extent.done} of {extent.total} cells (incomplete)"
        console.print(f"{name}: {place}, {side.scale} scale, {extent.seeds} seeds, {cells}", markup=False)
    table = Table(title=comparison.first.study.id)
    for name in ("reading", "first", "second", "difference [95 %]", ""):
        table.add_column(escape(name), no_wrap=name != "reading")
    for one in comparison.readings:
        means = (f"{side.mean:.3f}" if side.seeds else "-" for side in (one.first, one.second))
        change = f"{one.outcomes[0]}\n-> {one.outcomes[1]}" if one.turned else ""
        mark = "[bold]differs[/]" if one.differs else "" if one.difference.seeds >= 2 else "[dim]few seeds[/]"
        difference = str(one.difference) if one.difference.seeds else "-"
        remarks = "\n".join(filter(None, (mark, change)))
        table.add_row(escape(one.text), *(values := list(means)), escape(difference), remarks)
        if console.width < NARROW:
            lines = [escape(one.text), f"  {values[0]} -> {values[1]}", escape(f"  difference {difference}")]
            console.print("\n".join([*lines, *(f"  {line}" for line in remarks.splitlines())]))
    if console.width >= NARROW:
        console.print(table)
    for name, a, b in comparison.settings:
        console.print(f"{name}: {short(a)} -> {short(b)}", markup=False)
    console.print(comparison.sentence(), markup=False, style="bold")


def short(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
