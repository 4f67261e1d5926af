"""Gates: conditions such as "accuracy(weather=snow) < .9" on which a command fails, for continuous integration.

A condition holds where the whole interval is on its side: "< .9" asks whether the upper end is below. So a gate fails
on what is shown, and neither on noise nor on a pattern with few answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import quoted, visible
from ..planning.forbidden import inside_any
from ..planning.forbidden_expressions import clauses_of
from ..tables import Observed
from .outcomes import Evaluated
from .pattern_rates import LEVEL, Share, share

EXAMPLE = "accuracy(weather=snow) < .9"
_LONGEST = 10_000
_FORM = re.compile(r"\s*(\w+)\s*\((.*)\)\s*(<=|>=|<|>)\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", re.DOTALL)


@dataclass(frozen=True)
class Gate:
    """A condition on the accuracy of a part of the combinations.

    Args:
        text: as it was written.
        pattern: which combinations, in the language of --forbid; "" for all.
        sign: "<", "<=", ">" or ">=".
        limit: from 0 to 1.
    """

    text: str
    pattern: str
    sign: str
    limit: float

    def holds(self, found: Share) -> bool:
        """Whether the whole interval lies on the side that the condition names."""
        if not found.n:
            return False
        low, high, limit = found.low, found.high, self.limit
        return {"<": high < limit, "<=": high <= limit, ">": low > limit, ">=": low >= limit}[self.sign]

    def looks_so(self, found: Share) -> bool:
        """Whether the share itself is on that side."""
        right, limit = found.right, self.limit
        return {"<": right < limit, "<=": right <= limit, ">": right > limit, ">=": right >= limit}[self.sign]


@dataclass(frozen=True)
class GateResult:
    """What came of a gate: it failed if its condition is shown to hold."""

    gate: Gate
    found: Share

    @property
    def failed(self) -> bool:
        return self.gate.holds(self.found)

    def __str__(self) -> str:
        what, limit = visible(self.gate.text.strip(), 200), f"{self.gate.limit:g}"
        if not self.found.n:
            return f"undecided: {what}: no answer counts there"
        end = "upper" if self.gate.sign[0] == "<" else "lower"
        value = self.found.high if end == "upper" else self.found.low
        said = f"{what}: {self.found}, {self.found.n:,.6g} answers on {self.found.combinations:,} combinations"
        if self.failed:
            return f"FAILED: {said}: the {end} end, {value:.1%}, is {self.gate.sign} {limit}"
        if self.gate.looks_so(self.found):
            return f"undecided: {said}: the interval includes {limit}"
        return f"passed: {said}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self.gate) | self.found.to_json() | {"failed": self.failed, "said": str(self)}


def gates_of(texts: Any) -> list[Gate]:
    """The gates that a user wrote; their patterns are read once there is a table.

    Args:
        texts: one text or several, such as "accuracy(weather=snow) < .9" or "accuracy() < 90 %".
    """
    if texts is None:
        return []
    if isinstance(texts, str):
        texts = [texts]
    if not isinstance(texts, Iterable):
        raise UserError(f"fail_if={texts!r} is no condition such as {EXAMPLE!r}")
    return [_gate(text) for text in texts]


def _gate(text: Any) -> Gate:
    if not isinstance(text, str):
        raise UserError(f"fail_if={text!r} is no condition such as {EXAMPLE!r}")
    found = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise UserError(
            f"the condition {quoted(text, 120)} cannot be read; write accuracy, a pattern, a sign and a number, as in "
            f"{EXAMPLE!r}, or 'accuracy() < .9' for all answers"
        )
    name, pattern, sign, number, percent = found.groups()
    if name != "accuracy":
        raise UserError(f"the condition {quoted(text, 120)} asks for {quoted(name)}; only accuracy can be asked")
    limit = float(number) / (100 if percent else 1)
    if limit > 1:
        raise UserError(
            f"the condition {quoted(text, 120)} compares a share of right answers with {number}{percent}, which is "
            "above 1; write .9 or 90 %"
        )
    return Gate(text, pattern.strip(), sign, limit)


def check_gates(gates: list[Gate], observed: Observed) -> None:
    """Raises where a gate cannot be asked of a table: before anything takes long.

    Args:
        gates: what is asked.
        observed: the table.
    """
    for gate in gates:
        if observed.outcome is None:
            raise UserError(
                f"the condition {quoted(gate.text, 120)} needs to know which answers were right; name --outcome, or "
                "--label and --prediction"
            )
        _covers(gate, observed, observed.rows)


def judge_gates(
    gates: list[Gate], observed: Observed, evaluated: Evaluated, overdispersion: float = 0.0
) -> list[GateResult]:
    """What each gate comes to on the answers of an audit.

    Args:
        gates: that can be asked of it.
        observed: the table.
        evaluated: its answers that count.
        overdispersion: how much alike answers on one combination are.
    """
    rho = overdispersion if math.isfinite(overdispersion) else 0.0
    rows = observed.rows[evaluated.at]
    return [GateResult(gate, share(evaluated, _covers(gate, observed, rows), rho, LEVEL)) for gate in gates]


def _covers(gate: Gate, observed: Observed, rows: np.ndarray) -> np.ndarray:
    if not gate.pattern:
        return np.ones(len(rows), bool)
    return inside_any(observed.space, clauses_of(gate.pattern, observed.space), rows)
