"""The result of planning: ordered combinations, each with what it buys in words and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..files import write_or_refuse, write_table
from ..labels import inert, quoted, thousands, told_apart, visible
from ..notebook import table_html
from ..spaces import Space
from .covered import Covered

_IN_NOTEBOOKS = 20  # steps that a notebook shows
TUPLES = {1: "level", 2: "pair", 3: "triple"}


@dataclass(frozen=True)
class Step:
    """One combination to add.

    Args:
        row: the combination.
        stage: "levels", "connect", "cover" or "risk": the first that was not done when it was chosen.
        levels: elements trained for the first time.
        joined: components fewer, where an untrained element is one.
        tuples: t-tuples seen for the first time.
        cost: of the combination.
        risk: that it fails as things are; NaN if not known.
        lowered: how much the sum of risks falls; NaN if not known.
        rarest: how often its rarest pair was seen, where that is why it was chosen.
        new_levels: names of the elements trained for the first time.
        groups: an element of each group that it joins.
        new_tuples: the first few of those seen for the first time.

    Example:
        >>> first = rc.planning.plan_space(rc.Product(color=3, shape=4), budget=1).steps[0]
        >>> first.stage, first.levels, first.tuples
        ('levels', 2, 1)
    """

    row: np.ndarray
    stage: str
    levels: int
    joined: int
    tuples: int
    cost: float
    risk: float
    lowered: float
    rarest: int | None
    new_levels: list[str]
    groups: list[str]
    new_tuples: list[tuple[str, ...]]

    def words(self, strength: int) -> str:
        """What it buys, as a sentence."""
        said = []
        name = TUPLES.get(strength, f"set of {strength}")
        if self.levels:
            names = ", ".join(visible(level, 40) for level in self.new_levels[:4])
            said.append(f"trains {_count(self.levels, 'new level')} ({names}{', ...' if self.levels > 4 else ''})")
        old = [g for g in self.groups if g not in self.new_levels]
        if len(old) > 1:
            said.append(
                f"joins {len(old)} groups that were never combined (of {', '.join(visible(g, 40) for g in old)})"
            )
        if self.tuples and strength > 1:
            shown = "; ".join(" with ".join(visible(level, 40) for level in one) for one in self.new_tuples)
            more = "; ..." if self.tuples > len(self.new_tuples) else ""
            said.append(f"shows {_count(self.tuples, f'new {name}')} ({shown}{more})")
        if not math.isnan(self.risk):
            said.append(f"fails with probability {self.risk:.2f} as things are")
        if not math.isnan(self.lowered) and self.lowered != self.risk:
            said.append(f"lowers the expected number of failing combinations by {self.lowered:.3g}")
        if self.rarest is not None:
            said.append(f"evens out: its rarest pair was seen {_count(self.rarest, 'time')}")
        return "; ".join(said) or "nothing new; it is the best of those left"


@dataclass
class Plan:
    """Combinations to add, in order. `table` is a pandas table; `rows` are combinations of the space.

    Args:
        space: what is combined.
        covered: what is covered once all are added.
        already: combinations that were covered before.
        steps: one per combination to add.
        notes: what a user should know.
        covered_at: after so many combinations all that can be covered is; None if a budget ends before.
        apart: groups that cannot be joined.

    Example:
        >>> made = rc.planning.plan_space(rc.Product(color=3, shape=4), budget=2)
        >>> len(made.table), made.before["unseen"], made.after["unseen"]
        (2, 12, 10)
    """

    space: Space
    covered: Covered
    already: int
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    covered_at: int | None = None
    apart: int | None = None
    before: dict[str, int] = field(init=False)
    after: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.before = self._counts()
        self.after = self.before

    def _counts(self) -> dict[str, int]:
        covered = self.covered
        return {
            "untrained": int((~covered.trained).sum()),
            "groups": covered.parts(),
            "unseen": covered.left(),
        }

    def add(self, step: Step) -> None:
        self.steps.append(step)

    def finish(self) -> None:
        """Once nothing is added any more."""
        self.after = self._counts()
        if self.apart is not None:
            self.notes.append(
                f"{self.apart} groups of levels cannot be joined: every combination across them is forbidden."
            )
        never = np.flatnonzero(self.covered.never & ~self.covered.trained)
        if len(never):
            names = ", ".join(visible(self.space.element_names[e], 40) for e in never[:5])
            self.notes.append(f"{_count(len(never), 'level')} cannot be trained, all with them is forbidden: {names}.")
        if self.covered.n_impossible:
            name = TUPLES.get(self.strength, f"set of {self.strength}")
            first = self.covered.impossible[0]
            names = " with ".join(visible(self.space.element_names[e], 40) for e in first)
            self.notes.append(
                f"{_count(self.covered.n_impossible, f'{name}')} cannot be covered; "
                f"the first: {names}, {visible(self.covered.forbidden.why(first), 200)}."
            )

    @property
    def strength(self) -> int:
        return self.covered.strength

    @property
    def rows(self) -> np.ndarray:
        """(n, width) the combinations."""
        if not self.steps:
            return np.zeros((0, self.space.width), self.space.dtype)
        return np.stack([step.row for step in self.steps])

    @property
    def cost(self) -> float:
        return math.fsum(step.cost for step in self.steps)

    @property
    def cost_to_cover(self) -> float:
        """What it costs until all that can be covered is; infinite if it never is."""
        return math.inf if self.covered_at is None else math.fsum(step.cost for step in self.steps[: self.covered_at])

    @property
    def impossible(self) -> list[dict[str, Any]]:
        """t-tuples that cannot be covered (the first hundred), and why."""
        names = self.space.element_names
        return [
            {"elements": [names[e] for e in one], "why": self.covered.forbidden.why(one)}
            for one in self.covered.impossible
        ]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, at: int) -> Step:
        return self.steps[at]

    # -- in words ----------------------------------------------------------------------------------------------------
    def sentences(self) -> list[str]:
        """What is lacking, and what the plan does about it."""
        b, a = self.before, self.after
        name = TUPLES.get(self.strength, f"set of {self.strength}")
        lacks = [f"{_count(b['untrained'], 'level')} never trained"] if b["untrained"] else []
        lacks += [f"{b['groups']} groups never combined"] if b["groups"] > 1 else []
        possible = self.covered.possible
        if self.strength > 1:
            lacks.append(f"{b['unseen']:,} of {possible:,} {name}s unseen")
        trained = f"{self.already:,} of {thousands(self.space.size)} combinations trained"
        said = [f"Before: {trained}; {', '.join(lacks) or 'all covered'}."]
        made = f"After {_count(len(self), 'more combination')}"
        if any(step.cost != 1 for step in self.steps):
            made += f" (cost {self.cost:g})"
        left = [f"{_count(a['untrained'], 'level')} untrained"] if a["untrained"] else ["every level trained"]
        left.append("one group" if a["groups"] == 1 else f"{a['groups']} groups")
        if self.strength > 1:
            left.append(f"{a['unseen']:,} {name}s unseen")
        said.append(f"{made}: {', '.join(left)}.")
        return said + self.notes

    def __str__(self) -> str:
        lines = self.sentences()
        for i, step in enumerate(self.steps[:20], 1):
            shown = ", ".join(visible(level, 40) for level in self.labels(step.row).values())
            lines.append(f"{i:>4}  {shown}: {step.words(self.strength)}")
        if len(self) > 20:
            lines.append(f"      ... {len(self) - 20:,} more")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = [
            (i, ", ".join(self.labels(step.row).values()), step.stage, step.words(self.strength))
            for i, step in enumerate(self.steps[:_IN_NOTEBOOKS], 1)
        ]
        more = f" (the first {len(shown):,} of {len(self):,})" if len(self) > len(shown) else ""
        title = f"Plan: {' '.join(self.sentences()[:2])}{more}"
        return table_html(title, shown, ("", "combination", "stage", "buys"))

    def labels(self, row: np.ndarray) -> dict[str, str]:
        """A combination as column -> text."""
        if self.space.columns:
            pairs = zip(self.space.columns.items(), row.tolist(), strict=True)
            return {name: str(levels[i]) for (name, levels), i in pairs}
        return {"modules": " ".join(self.space.element_names[e] for e in row if e >= 0)}

    # -- as data ----------------------------------------------------------------------------------------------------
    @property
    def table(self) -> Any:
        """One row per combination, in order. A pandas table."""
        return self._table(lambda label: label)

    def _table(self, spell: Any) -> Any:
        import pandas

        names = list(self.space.columns) or ["modules"]
        labels = [self.labels(step.row) for step in self.steps]
        levels = [[spell(one[name]) for one in labels] for name in names]
        total = np.cumsum([step.cost for step in self.steps]).tolist()
        own = {
            "order": list(range(1, len(self) + 1)),
            "stage": [step.stage for step in self.steps],
            "new_levels": [step.levels for step in self.steps],
            "joined": [step.joined for step in self.steps],
            "cost": [step.cost for step in self.steps],
            "total_cost": total,
            "risk": [step.risk for step in self.steps],
            "risk_lowered": [step.lowered for step in self.steps],
            "buys": [step.words(self.strength) for step in self.steps],
        }
        if self.strength > 1:
            own[f"new_{TUPLES.get(self.strength, 'tuple')}s"] = [step.tuples for step in self.steps]
        # a factor may have any name, also one of ours
        names = told_apart([*map(spell, names), *own])
        return pandas.DataFrame(dict(zip(names, [*levels, *own.values()], strict=True)))

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data without NaN."""

        def number(value: float) -> float | None:
            return None if math.isnan(value) else value

        return {
            "kind": "recombine-plan",
            "strength": self.strength,
            "combinations": self.space.size,
            "already": self.already,
            "before": self.before,
            "after": self.after,
            "cost": self.cost,
            "covered_at": self.covered_at,
            "summary": self.sentences(),
            "impossible": self.impossible,
            "steps": [
                {
                    "combination": self.labels(s.row),
                    "stage": s.stage,
                    "new_levels": s.levels,
                    "joined": s.joined,
                    "new_tuples": s.tuples,
                    "cost": s.cost,
                    "risk": number(s.risk),
                    "risk_lowered": number(s.lowered),
                    "buys": s.words(self.strength),
                }
                for s in self.steps
            ],
        }

    def write(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the plan in the kind that the name of the file asks for: .csv, .parquet or .json.

        Args:
            path: of the file.
            force: replace what is there. Without it, only a plan that was written here and not changed is replaced; as
                a CSV cannot say who wrote it, none is.
        """
        kind = require_plan_name(path)
        if kind == ".csv":
            write_table(Path(path), self._table(inert), force)  # formulas get an apostrophe
        elif kind == ".parquet":
            write_table(Path(path), self.table, force)  # labels as they are
        else:
            text = json.dumps(self.to_json(), allow_nan=False, indent=1) + "\n"
            write_or_refuse(Path(path), text.encode(), force)


def require_plan_name(path: str | Path) -> str:
    """The ending of a file's name, if a plan can be written so."""
    kind = Path(path).suffix.lower()
    if kind not in (".csv", ".parquet", ".json"):
        raise UserError(f"{quoted(path, 200)} is no name for a plan; it must end in .csv, .parquet or .json")
    return kind


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
