"""The result of an audit: five sections, as data, as a table of combinations and as files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..files import write_or_refuse, write_table
from ..labels import inert, told_apart, visible
from .apart import ApartReport
from .coverage import CoverageReport
from .data import Observed
from .factors import Choice
from .next import Suggestion
from .outcomes import OutcomeReport
from .risk import RiskReport
from .seen import find

FORMAT = 1
TOP = 200  # combinations at risk in the JSON; the table has all
MOST_IN_TABLE = 1_000_000
TABLE_NAME, CSV_NAME, JSON_NAME = "combinations.parquet", "combinations.csv", "audit.json"


@dataclass(frozen=True)
class Audit:
    """What was found about a table, and about the model if it was given."""

    data: str  # the name of the source, without its folder
    choice: Choice
    observed: Observed
    coverage: CoverageReport
    apart: ApartReport | None
    outcomes: OutcomeReport | None
    risk: RiskReport
    next: list[Suggestion]
    split: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def factors(self) -> tuple[str, ...]:
        return self.choice.factors

    def to_json(self) -> dict[str, Any]:
        """Everything but the long table, as plain data without NaN."""
        from .. import __version__

        observed = self.observed
        return _plain({
            "kind": "recombine-audit", "format": FORMAT, "recombine": __version__, "data": self.data,
            "rows": observed.total, "rows_left_out": observed.left_out, "missing": observed.missing,
            "factors": {name: [str(level) for level in levels] for name, levels in observed.space.factors.items()},
            "factors_proposed": self.choice.proposed, "columns_left_out": self.choice.left_out,
            "split": observed.split, "outcome": observed.outcome, "notes": self.notes,
            "coverage": self.coverage.to_json(),
            "held_apart": self.apart.to_json() if self.apart else None,
            "seen_against_unseen": self.outcomes.to_json() if self.outcomes else None,
            "risk": self.risk.to_json(observed, TOP),
            "next": [one.to_json() for one in self.next],
        })  # fmt: skip

    @property
    def table(self) -> Any:
        """One row a combination: those at risk first, then those seen. A pandas table."""
        return self._table(lambda label: label)

    def _table(self, spell: Callable[[str], str]) -> Any:
        """The table with every label of the user's spelled in some way."""
        import pandas

        risk, observed = self.risk, self.observed
        n = min(len(risk.combinations), MOST_IN_TABLE)
        m = min(int(observed.seen.sum()), MOST_IN_TABLE - n)
        seen_at = np.flatnonzero(observed.seen)[:m]
        rows = np.concatenate([risk.combinations[:n], observed.rows[seen_at]])
        place = find(observed.space, observed.rows, risk.combinations[:n])
        at = np.concatenate([place, seen_at])
        there = at >= 0
        levels_of = [
            np.array([spell(str(level)) for level in levels], dtype=object)[rows[:, i]]
            for i, levels in enumerate(observed.space.factors.values())
        ]
        reserved = {
            "training_rows": np.where(there, observed.trained[at], 0),
            "other_rows": np.where(there, observed.tested[at], 0),
            "answers": np.where(there, observed.answers[at].sum(1), 0),
            "right": np.where(there, observed.right[at].sum(1), 0.0),
            "unseen_pairs_share": np.append(risk.features["unseen_pairs"][:n], np.zeros(m)),
            "risk": np.append(risk.probability[:n], np.full(m, math.nan)),
            "risk_low": np.append(risk.low[:n], np.full(m, math.nan)),
            "risk_high": np.append(risk.high[:n], np.full(m, math.nan)),
            "call": np.append(risk.calls[:n].astype(object), np.full(m, "seen", dtype=object)),
            "reasons": np.array(
                [*("; ".join(words) for words in risk.reasons[:n]), *[""] * (n + m - min(n, len(risk.reasons)))],
                dtype=object,
            ),
        }
        # a factor may have any name, also one of ours
        names = told_apart([*(spell(name) for name in observed.space.factors), *reserved])
        return pandas.DataFrame(dict(zip(names, [*levels_of, *reserved.values()], strict=True)))

    def write(self, folder: str | os.PathLike) -> dict[str, Path]:
        """Writes audit.json and the table of combinations, as Parquet and CSV; the page: `report.write_audit`."""
        folder = Path(folder)
        paths = {"json": folder / JSON_NAME, "parquet": folder / TABLE_NAME, "csv": folder / CSV_NAME}
        write_or_refuse(paths["json"], (json.dumps(self.to_json(), allow_nan=False, indent=1) + "\n").encode())
        write_table(paths["parquet"], self.table)
        write_table(paths["csv"], self._table(inert))
        return paths

    def __str__(self) -> str:
        lines = [f"{self.data}: {self.observed.total:,} rows, {self.choice.sentence()}"]
        for title, sentences in self.sections().items():
            lines += ["", title, *(f"  {sentence}" for sentence in sentences)]
        if self.notes:
            lines += ["", "Notes", *(f"  {note}" for note in self.notes)]
        return "\n".join(lines)

    __repr__ = __str__

    def sections(self) -> dict[str, list[str]]:
        """The findings in words."""
        return {
            "Coverage": self.coverage.sentences(),
            "Held apart?": self.apart.sentences() if self.apart else ["No activations were given."],
            "Seen against unseen": self.outcomes.sentences() if self.outcomes else ["No outcome was given."],
            "Risk": self.risk.sentences(),
            "Next": [
                f"{', '.join(visible(level, 40) for level in one.combination.values())}: {one.buys}"
                for one in self.next[:3]
            ]
            or ["Nothing is left to add."],
        }


def _plain(data: Any) -> Any:
    """Plain data: numpy's numbers as Python's, what is undefined as null."""
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    if hasattr(data, "item"):
        data = data.item()
    return None if isinstance(data, float) and not math.isfinite(data) else data
