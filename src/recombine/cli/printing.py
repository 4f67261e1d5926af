"""What commands print: JSON, and tables of verdicts, of differences and of studies."""

from __future__ import annotations

import json

from rich.console import Console
from rich.markup import escape
from rich.table import Table

COLORS = {"supported": "green", "refuted": "red", "undecided": "yellow"}


def print_json(data: object) -> None:
    print(json.dumps(data, allow_nan=False))


def print_result(result, console: Console) -> None:
    """A table of verdicts and the answers to questions without a threshold."""
    table = Table(
        "verdict",
        "claim",
        "value [95 % over seeds]",
        "threshold",
        title=f"{result.study.id}, {escape(result.scale)} scale",
    )
    for verdict in result.verdicts:
        claim = verdict.claim
        text = escape(claim.text) + (f"\n[dim]{escape(verdict.why)}[/]" if verdict.why else "")
        value = str(verdict.interval) if verdict.interval.seeds else "-"
        table.add_row(
            f"[{COLORS[verdict.outcome]}]{verdict.outcome}[/]", text, escape(value), f"{claim.side} {claim.threshold:g}"
        )
    console.print(table)
    for question, interval, _ in result.answers:
        if interval.seeds:
            console.print(f"{question.text}: {interval}", markup=False)
    outcomes = {verdict.claim.id: verdict.outcome for verdict in result.verdicts}
    console.print(f"\n{result.study.answer(result.table, outcomes)}", markup=False, style="bold")


def print_overview(results, console: Console) -> None:
    """One line a study: how its claims came out."""
    table = Table("study", "supported", "refuted", "undecided", "answer", title="all studies", title_justify="left")
    for result in results:
        outcomes = {verdict.claim.id: verdict.outcome for verdict in result.verdicts}
        counts = [str(list(outcomes.values()).count(name) or "") for name in COLORS]
        table.add_row(result.study.id, *counts, escape(result.study.answer(result.table, outcomes)))
    console.print(table)


def print_comparison(comparison, console: Console) -> None:
    """A line a reading: both values, their difference, and whether it is larger than its interval."""
    table = Table(title=comparison.first.study.id)
    for name in ("reading", "first", "second", "difference [95 %]", ""):
        table.add_column(escape(name), no_wrap=name != "reading")
    for one in comparison.readings:
        means = (f"{side.mean:.3f}" if side.seeds else "-" for side in (one.first, one.second))
        change = f"{one.outcomes[0]}\n-> {one.outcomes[1]}" if one.turned else ""
        mark = "[bold]differs[/]" if one.differs else "" if one.difference.seeds >= 2 else "[dim]few seeds[/]"
        difference = str(one.difference) if one.difference.seeds else "-"
        table.add_row(escape(one.text), *means, escape(difference), "\n".join(filter(None, (mark, change))))
    console.print(table)
    for name, a, b in comparison.settings:
        console.print(f"{name}: {short(a)} -> {short(b)}", markup=False)
    console.print(comparison.sentence(), markup=False, style="bold")


def short(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
