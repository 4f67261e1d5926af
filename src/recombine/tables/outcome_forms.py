"""Forms of outcomes: a column, an expression, a label and its prediction, one outcome per factor; and weights of rows.

Every form becomes SQL that gives a number from 0 to 1 per row, or NULL where the row has no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UserError, unknown
from ..labels import listed, quoted, visible
from .base import Source
from .expression_sql import Cells, Translation, same
from .expressions import Name, Part, parse, wrong


@dataclass(frozen=True)
class Outcome:
    """What says how right an answer was.

    Args:
        name: what it is called: the column, or the expression as it was written.
        tree: the expression.
        uses: columns that it reads.
        label: the column of labels, where they are compared with predictions.
        prediction: the column of predictions.
    """

    name: str
    tree: Part
    uses: tuple[str, ...]
    label: str | None = None
    prediction: str | None = None

    def sql(self, cells: Cells) -> tuple[str, dict[str, str]]:
        """SQL of a DOUBLE or NULL, and for each column that has to be read in some way SQL of a cell that cannot be."""
        if self.label is not None and self.prediction is not None:
            agree = same(cells.text(self.label), cells.text(self.prediction))
            return f"CASE {agree} WHEN TRUE THEN 1.0 WHEN FALSE THEN 0.0 END", {}
        translation = Translation(self.name, "the outcome", cells)
        return translation.outcome(self.tree), translation.bad


@dataclass(frozen=True)
class Roles:
    """The columns of a table that are no factors.

    Args:
        split: marks training rows.
        outcome: how right the answers are.
        by_factor: how right they are about each of some factors.
        weight: how many rows a row stands for.
        id: names rows.
    """

    split: str | None = None
    outcome: Outcome | None = None
    by_factor: Mapping[str, Outcome] = field(default_factory=dict)
    weight: str | None = None
    id: str | None = None

    @property
    def taken(self) -> set[str]:
        """Columns that cannot be factors."""
        outcomes = [] if self.outcome is None else [self.outcome]
        plain = {one.name for one in (*outcomes, *self.by_factor.values()) if one.uses == (one.name,)}
        predicted = {one.prediction for one in outcomes if one.prediction}
        return plain | predicted | {name for name in (self.split, self.weight, self.id) if name}

    @property
    def used(self) -> dict[str, str]:
        """Columns that are proposed as factors by nobody, and why."""
        found: dict[str, str] = {}
        for one in (*([] if self.outcome is None else [self.outcome]), *self.by_factor.values()):
            for name in one.uses:
                found.setdefault(name, "the label" if name == one.label else f"part of the outcome {quoted(one.name)}")
        return {name: why for name, why in found.items() if name not in self.taken}


def find_roles(
    source: Source,
    *,
    split: Any = None,
    outcome: Any = None,
    label: Any = None,
    prediction: Any = None,
    factor_outcomes: Any = None,
    weight: Any = None,
    id: Any = None,
) -> Roles:
    """The roles that a user gave to columns, checked.

    Args:
        source: the table.
        split: the column that marks training rows.
        outcome: a column, or an expression such as "abs_error < 2".
        label: a column that says what is right; with prediction instead of an outcome.
        prediction: the column with the answers.
        factor_outcomes: {factor: column or expression}, or texts such as "color=color_right".
        weight: the column that says how many rows a row counts as.
        id: the column that names rows.
    """
    plain = {"split": split, "weight": weight, "id": id}
    for role, name in plain.items():
        if name is not None:
            plain_column(source, name, role)
    if (label is None) != (prediction is None):
        given, lacks = ("label", "prediction") if prediction is None else ("prediction", "label")
        raise UserError(
            f"{given}={(label if prediction is None else prediction)!r} needs the column of the {lacks}, too"
        )
    if label is not None and outcome is not None:
        raise UserError(f"outcome={outcome!r} and label={label!r} say twice what is right; give one of them")
    found = None if outcome is None else outcome_of(source, outcome)
    if label is not None:
        found = _agreement(source, label, prediction)
    roles = Roles(split, found, _by_factor(source, factor_outcomes), weight, id)
    named = [name for name in (split, weight, id, None if outcome is None else outcome) if name is not None]
    named += [name for name in (label, prediction) if name is not None]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise UserError(
            f"{quoted(twice)} has two roles; the split, the outcome, the weight and the id must be different columns"
        )
    return roles


def plain_column(source: Source, name: Any, role: str) -> str:
    """The name of a column with one plain value per row."""
    if not isinstance(name, str):
        raise UserError(f"{role}={name!r} is not the name of a column")
    if source.column(name, f"the {role}").kind == "nested":
        raise UserError(f"the {role} {name!r} holds lists or records; one plain value per row is needed")
    return name


# -- outcomes ---------------------------------------------------------------------------------------------------------
def outcome_of(source: Source, given: Any) -> Outcome:
    """The outcome for the name of a column, or for an expression."""
    if not isinstance(given, str):
        raise UserError(f"outcome={given!r} is neither the name of a column nor an expression such as 'abs_error < 2'")
    text = given.strip()
    if given in source.columns or text.replace("_", "").isalnum() or not text:
        name = plain_column(source, given, "outcome")
        return Outcome(name, Name(1, name), (name,))
    used: dict[str, None] = {}

    def column(word: str, at: int) -> str:
        if word not in source.columns:
            known = [visible(name, 80) for name in source.columns]
            near = str(unknown("column", visible(word, 80), known))
            raise wrong(given, "the outcome", at, f"{near}; a value stands in single quotes")
        if source.columns[word].kind == "nested":
            held = f"{quoted(word)} holds lists or records"
            raise wrong(given, "the outcome", at, f"{held}; name one plain value per row")
        used[word] = None
        return word

    tree = parse(given, "the outcome", column)
    if not used:
        raise UserError(f"the outcome {quoted(given, 120)} names no column, so it is the same in every row")
    outcome = Outcome(text, tree, tuple(used))
    outcome.sql(Cells(source))  # what is compared with what is checked before anything is read
    return outcome


def _agreement(source: Source, label: Any, prediction: Any) -> Outcome:
    for name, role in ((label, "label"), (prediction, "prediction")):
        plain_column(source, name, role)
    return Outcome(f"{prediction} = {label}", Name(1, label), (label, prediction), label, prediction)


def _by_factor(source: Source, given: Any) -> dict[str, Outcome]:
    if given is None:
        return {}
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Mapping):
        given = paired(given, "factor_outcomes", "color=color_right")
    found = {}
    for factor, one in given.items():
        source.column(str(factor), "a factor in factor_outcomes")
        found[str(factor)] = outcome_of(source, one)
    return found


def paired(given: Any, what: str, example: str) -> dict[str, str]:
    """Texts "name=value" as a mapping."""
    if not isinstance(given, Iterable):
        raise UserError(f"{what}={given!r} is neither a mapping nor texts such as {example!r}")
    found: dict[str, str] = {}
    for one in given:
        name, sign, value = str(one).partition("=")
        if not (sign and name.strip() and value.strip()):
            raise UserError(f"{what} {quoted(one)} must be written as {example!r}")
        if name.strip() in found:
            raise UserError(f"{what} names {quoted(name.strip())} twice")
        found[name.strip()] = value.strip()
    return found


# -- what the rows say ------------------------------------------------------------------------------------------------
def check_agreement(source: Source, outcome: Outcome, right: float) -> None:
    """Raises if no label is among the predictions: they are written in two ways."""
    if right or outcome.label is None or outcome.prediction is None:
        return
    shown = []
    for name in (outcome.label, outcome.prediction):
        relation, parameters = source.relation([name], plain=True)
        rows = source.run(f"SELECT DISTINCT v0 FROM {relation} WHERE v0 IS NOT NULL ORDER BY 1 LIMIT 3", parameters)
        shown.append(f"{quoted(name)} has {listed([quoted(row[0], 30) for row in rows.fetchall()])}")
    raise UserError(
        f"no prediction is the label of its row ({'; '.join(shown)}); write both in the same way, or name other columns"
    )
