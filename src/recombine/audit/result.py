"""The result of an audit: five sections, as data, as a table of combinations and as files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..charts.named_charts import Charts
from ..errors import UserError
from ..files import refuse_foreign, write_or_refuse, write_table
from ..files.foreign_json import json_object
from ..files.owned_folder import hash_of
from ..files.plain_json import plain_json
from ..labels import inert, told_apart, visible
from ..notebook import table_html
from ..planning.forbidden import Forbidden
from ..spaces import find
from ..tables import Choice, Observed
from .audit_charts import figures, matrices
from .coverage import CoverageReport
from .factor_outcomes import FactorOutcomes
from .factor_probes import ApartReport
from .findings import Finding, FindingsReport, Impossible
from .outcomes import OutcomeReport
from .risk import RiskReport
from .suggestions import Suggestion

if TYPE_CHECKING:
    from .before_and_after import Changes
    from .gates import GateResult

FORMAT = 1
TOP = 200  # combinations at risk in the JSON; the table has all
MOST_IN_TABLE = 1_000_000
TABLE_NAME, CSV_NAME, JSON_NAME = "combinations.parquet", "combinations.csv", "audit.json"
PAGE_NAME = "audit.html"


@dataclass(frozen=True)
class Audit:
    """What was found about a table, and about the model if it was given: what `rc.audit` returns.

    Args:
        data: the name of the source, without its folder.
        choice: which columns are factors, and why.
        observed: the combinations of the table, and how often each was trained, tested and right.
        coverage: what the training rows cover.
        apart: factor probes: whether the factors are linearly decodable from each layer; None without activations.
        outcomes: seen against unseen combinations; None without an outcome.
        risk: which unseen combinations will fail, with reasons.
        next: suggestions: what to collect next, and what it buys.
        split: the column that marks training rows.
        notes: what else is worth knowing.
        by_factor: which factor the model is wrong about; None without outcomes of factors.
        found: what fails, given everything else that fails, and pairs that never occur.
        forbidden: what cannot be had; None where nothing was named.
        gates: what came of the conditions of `fail_if`.
        changes: what became of the findings of an earlier table; None without one.

    Example:
        >>> found = rc.audit({"color": ["red", "red", "blue"], "shape": ["box", "ball", "box"]}, ["color", "shape"])
        >>> found.factors, [one.combination for one in found.next]
        (('color', 'shape'), [{'color': 'blue', 'shape': 'ball'}])
    """

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
    by_factor: FactorOutcomes | None = None
    found: FindingsReport = field(default_factory=lambda: FindingsReport([], math.nan))
    forbidden: Forbidden | None = None
    gates: list[GateResult] = field(default_factory=list)
    changes: Changes | None = None

    @property
    def factors(self) -> tuple[str, ...]:
        return self.choice.factors

    @property
    def findings(self) -> list[Finding]:
        """What fails: the smallest patterns that explain the failures, the most failures first."""
        return self.found.findings

    @property
    def impossible(self) -> list[Impossible]:
        """Pairs of levels that never occur though they were to be expected."""
        return self.found.impossible

    @property
    def headline(self) -> str:
        """The answer to "which combinations fail?"; "" without outcomes."""
        return self.found.headline()

    @cached_property
    def charts(self) -> Charts:
        """Its charts by name, as Altair charts to edit, show and save; pairs of factors after the others."""
        found = figures(self.outcomes, self.apart, self.risk).values()
        return Charts([*found, *matrices(self.coverage, self.observed)])

    def to_json(self) -> dict[str, Any]:
        """Everything but the long table, as plain data without NaN."""
        from .. import __version__

        observed = self.observed
        return plain_json(
            {
                "kind": "recombine-audit",
                "format": FORMAT,
                "recombine": __version__,
                "data": self.data,
                "rows": observed.total,
                "rows_left_out": observed.left_out,
                "missing": observed.missing,
                "factors": {name: [str(level) for level in levels] for name, levels in observed.space.factors.items()},
                "factors_proposed": self.choice.proposed,
                "columns_left_out": self.choice.left_out,
                "split": observed.split,
                "outcome": observed.outcome,
                "weight": observed.roles.weight,
                "reading": observed.reading.to_json(),
                "notes": self.notes,
                "headline": self.headline,
                "findings": [one.to_json() for one in self.findings],
                "impossible": [one.to_json() for one in self.impossible],
                "coverage": self.coverage.to_json(),
                "held_apart": self.apart.to_json() if self.apart else None,
                "seen_against_unseen": self.outcomes.to_json() if self.outcomes else None,
                "by_factor": self.by_factor.to_json() if self.by_factor else None,
                "risk": self.risk.to_json(observed, TOP),
                "next": [one.to_json() for one in self.next],
                "forbid": self.forbidden.expressions if self.forbidden else [],
                "gates": [one.to_json() for one in self.gates],
                "changes": self.changes.to_json() if self.changes else None,
            }
        )

    @property
    def table(self) -> Any:
        """One row per combination: unseen ones first, the riskiest of them first, then seen ones. A pandas table."""
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
        reasons = ["; ".join(words) for words in risk.reasons[:n]]
        reserved = {
            "training_rows": np.where(there, observed.trained[at], 0),
            "other_rows": np.where(there, observed.tested[at], 0),
            "answers": np.where(there, observed.answers[at].sum(1), 0),
            "right": np.where(there, observed.right[at].sum(1), 0.0),
            "unseen_pairs_share": np.append(risk.features["unseen_pairs"][:n], np.zeros(m)),
            "risk": np.append(risk.probability[:n], risk.seen_probability[:m]),
            "risk_low": np.append(risk.low[:n], risk.seen_low[:m]),
            "risk_high": np.append(risk.high[:n], risk.seen_high[:m]),
            "call": np.append(risk.calls[:n], risk.seen_calls[:m]).astype(object),
            "reasons": np.array([*reasons, *[""] * (n + m - len(reasons))], dtype=object),
        }
        # a factor may have any name, also one of ours
        names = told_apart([*(spell(name) for name in observed.space.factors), *reserved])
        return pandas.DataFrame(dict(zip(names, [*levels_of, *reserved.values()], strict=True)))

    def write(self, folder: str | os.PathLike, *, force: bool = False) -> dict[str, Path]:
        """Writes audit.json and the table of combinations, as Parquet and CSV; the page: `report.write_audit`.

        Args:
            folder: where to; files of an earlier audit there are replaced, if they are as they were written.
            force: replace files of these names, whatever they are.
        """
        folder = Path(folder)
        paths = audit_files(folder)
        known = refuse_foreign_audit(folder, force)
        write_table(paths["parquet"], self.table, force)
        write_table(paths["csv"], self._table(inert), force, known)
        vouched = {CSV_NAME: hash_of(paths["csv"])}  # a CSV cannot say itself who wrote it
        text = json.dumps(self.to_json() | {"files": vouched}, allow_nan=False, indent=1) + "\n"
        write_or_refuse(paths["json"], text.encode(), force)
        return paths

    def __str__(self) -> str:
        lines = [f"{self.data}: {self.observed.total:,} rows, {self.choice.sentence()}"]
        for title, sentences in self.sections().items():
            lines += ["", title, *(f"  {sentence}" for sentence in sentences)]
        if self.notes:
            lines += ["", "Notes", *(f"  {note}" for note in self.notes)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self.findings:
            rows = [
                (one.words, f"{1 - one.rate:.0%}", f"{1 - one.high:.0%} to {1 - one.low:.0%}", f"{one.n:,.6g}")
                for one in self.findings
            ]
            found = table_html(f"{self.data}: {self.headline}", rows, ("what fails", "right", "90 %", "answers"))
        else:
            facts = list(enumerate([*([self.headline] if self.headline else []), *self.coverage.sentences()], 1))
            found = table_html(f"Audit of {self.data}", facts)
        steps = [(", ".join(one.combination.values()), f"{one.examples:,}", one.buys) for one in self.next[:3]]
        return found + (table_html("What to collect next", steps, ("combination", "examples", "why")) if steps else "")

    def sections(self) -> dict[str, list[str]]:
        """The findings in words."""
        known = {"Findings": self.found.sentences()} if self.observed.outcome else {}
        if self.gates:
            known = {"Conditions": [str(one) for one in self.gates], **known}
        if self.changes:
            known["Changes"] = self.changes.sentences()
        about = {"By factor": self.by_factor.sentences()} if self.by_factor else {}
        return {
            **known,
            "Coverage": self.coverage.sentences(),
            "Linearly decodable?": self.apart.sentences() if self.apart else ["No activations were given."],
            "Seen against unseen": self.outcomes.sentences() if self.outcomes else ["No outcome was given."],
            **about,
            "Findings": [*self.found.sentences(), *(str(one) for one in self.impossible[:3])],
            "Risk": self.risk.sentences(),
            "Next": [
                f"{', '.join(visible(level, 40) for level in one.combination.values())}: {one.buys}"
                for one in self.next[:3]
            ]
            or ["Nothing is left to add."],
            **({"Impossible, or a blind spot?": [str(one) for one in self.impossible[:10]]} if self.impossible else {}),
        }


def audit_files(folder: Path) -> dict[str, Path]:
    """What an audit writes into a folder, beside its page."""
    return {"json": folder / JSON_NAME, "parquet": folder / TABLE_NAME, "csv": folder / CSV_NAME}


def refuse_foreign_audit(folder: str | os.PathLike, force: bool = False) -> bool:
    """Raises if an audit would replace a file that is not of an earlier one; whether that vouches for the CSV there."""
    folder = Path(folder)
    if os.path.lexists(folder) and not folder.is_dir():
        raise UserError(f"{visible(folder, 200)} is a file; name a folder")
    paths = audit_files(folder)
    for path in (paths["json"], paths["parquet"], folder / PAGE_NAME):
        refuse_foreign(path, force)
    try:
        said = json_object(paths["json"].read_bytes(), JSON_NAME).get("files")
        known = isinstance(said, dict) and said.get(CSV_NAME) == hash_of(paths["csv"])
    except (OSError, UserError):
        known = False
    refuse_foreign(paths["csv"], force, known)
    return known
