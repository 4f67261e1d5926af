"""An audit as Markdown, for a wiki or a pull request: words and tables in one file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..audit import Audit
from .markdown import plain

NEXT = 10  # suggestions


def audit_markdown(audit: Audit) -> str:
    """The audit as text. The same audit gives the same text.

    Args:
        audit: what `rc.audit` gave.
    """
    parts = [f"# Audit of {plain(audit.data)}", f"**{plain(audit.headline or audit.coverage.sentences()[0])}**"]
    parts.append(plain(f"{audit.observed.total:,} rows; {audit.choice.sentence()}"))
    parts += _gates(audit) + _findings(audit) + _changes(audit) + _next(audit)
    for title, sentences in audit.sections().items():
        if title not in ("Findings", "Next", "Changes"):
            parts += [f"## {plain(title)}", _list(sentences)]
    if audit.notes:
        parts += ["## Notes", _list(audit.notes)]
    return "\n\n".join(parts) + "\n"


def _gates(audit: Audit) -> list[str]:
    return ["## Conditions", _list([str(one) for one in audit.gates])] if audit.gates else []


def _findings(audit: Audit) -> list[str]:
    if not audit.observed.outcome:
        return []
    if not audit.findings:
        return ["## Findings", plain(audit.headline)]
    rows = [
        (
            one.words,
            _percent(1 - one.rate),
            f"{_percent(1 - one.high)} to {_percent(1 - one.low)}",
            f"{one.n:,.6g}",
            f"{one.combinations:,}",
            f"{one.rows:,.6g}",
        )
        for one in audit.findings
    ]
    heads = ("what fails", "right", "90 % interval", "answers", "combinations", "rows")
    return ["## Findings", _table(heads, rows)]


def _changes(audit: Audit) -> list[str]:
    if audit.changes is None:
        return []
    parts = [f"## Since {plain(audit.changes.data)}", _list(audit.changes.sentences()[:1] + audit.changes.notes)]
    rows = [
        (
            one.finding.words,
            one.verdict,
            _percent(one.before.right),
            _percent(one.after.right),
            _points(one.change[0]),
            f"{_points(one.change[1])} to {_points(one.change[2])}",
        )
        for one in audit.changes.changes
    ]
    heads = ("finding", "", "right before", "right now", "difference in points", "corrected interval")
    return [*parts, _table(heads, rows)] if rows else parts


def _next(audit: Audit) -> list[str]:
    if not audit.next:
        return []
    rows = [(*one.combination.values(), f"{one.examples:,}", one.buys) for one in audit.next[:NEXT]]
    return ["## What to collect next", _table((*audit.factors, "examples", "why"), rows)]


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [f"| {' | '.join(plain(one) for one in heads)} |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *(f"| {' | '.join(plain(str(one)) for one in row)} |" for row in rows)])


def _list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {plain(one)}" for one in sentences)


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.0f} %"


def _points(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:+.1f}"
