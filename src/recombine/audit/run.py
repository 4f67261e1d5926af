"""The audit from beginning to end."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UserError, require_int
from . import factors as choosing
from .activations import align, given_layers
from .apart import ApartReport, probe_layers
from .coverage import cover
from .data import Observed, code, observe, row_codes
from .factors import Choice
from .next import next_combinations
from .outcomes import compare, evaluate
from .prior import load_prior, shipped_prior
from .result import Audit
from .risk import assess
from .risk_model import RiskModel
from .seen import Seen
from .sources import Source, open_source

STEPS = ("reading", "coverage", "held apart?", "seen against unseen", "risk", "next")


def audit(
    data: Any,
    factors: Any = None,
    *,
    outcome: str | None = None,
    split: str | None = None,
    activations: Any = None,
    id: str | None = None,
    prior: Any = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """What training data cover, whether a model holds its factors apart, and which unseen combinations will fail.

    data: a path or glob (.csv, .tsv, .jsonl, .parquet), a pandas, polars or arrow table, or a mapping of columns.
    factors: columns that are combined, as a list or "a,b,c"; proposed if left out.
    outcome: the column that says whether the model was right (1 or true), or a score from 0 to 1.
    split: the column whose value "train" marks training rows; without it all rows are training rows.
    activations: {layer: array, or a callable from a batch of rows to an array}, files, or a callable.
    id: the column with the ids that activation files carry as "ids"; without it rows are aligned by their order.
    prior: a file made by `recombine risk fit`, used where there are too few outcomes.
    """
    require_int("seed", seed, at_least=0)
    tell = progress or (lambda step: None)
    roles = {"split": split, "outcome": outcome, "id": id}
    with open_source(data) as source:
        tell("reading")
        taken = [name for name in roles.values() if name is not None]
        for role, name in roles.items():
            if name is not None:
                _check_role(source, role, name)
        if len(set(taken)) < len(taken):
            raise UserError("the split, the outcome and the id must be different columns")
        observed, choice = _observe(source, factors, roles)
        seen = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
        tell("coverage")
        coverage = cover(observed, seen)
        tell("held apart?")
        apart = None if activations is None else _probed(source, observed, split, id, activations, seed)
    tell("seen against unseen")
    evaluated = evaluate(observed) if outcome else None
    outcomes = compare(observed, seen, evaluated) if evaluated is not None else None
    tell("risk")
    readable = apart.readable(observed) if apart and apart.readings else None
    risk = assess(observed, seen, evaluated, readable, _prior(prior), seed)
    tell("next")
    suggestions = next_combinations(observed, seen, risk)
    notes = [*observed.notes, *coverage.notes, *(outcomes.notes if outcomes else []), *(apart.notes if apart else [])]
    return Audit(source.name, choice, observed, coverage, apart, outcomes, risk, suggestions, split, notes)


def _check_role(source: Source, role: str, name: Any) -> None:
    if not isinstance(name, str):
        raise UserError(f"{role}={name!r} is not the name of a column")
    if source.column(name, f"the {role}").kind == "nested":
        raise UserError(f"the {role} {name!r} holds lists or records; one plain value a row is needed")


def _observe(source: Source, factors: Any, roles: dict[str, Any]) -> tuple[Observed, Choice]:
    split, outcome = roles["split"], roles["outcome"]
    if factors is not None:
        names = choosing.named(source, factors, roles.values())
        return observe(code(source, names, split, outcome), names, split, outcome), Choice(tuple(names), False, {})
    names, left_out = choosing.candidates(source, list(roles.values()))
    if not names:
        names_of = ", ".join(f"{name}: {why}" for name, why in list(left_out.items())[:4])
        raise UserError(f"no column could be proposed as a factor ({names_of}); name some with --factors")
    coded = code(source, names, split, outcome)
    choice = choosing.propose(coded, left_out, outcome)
    return observe(coded, choice.factors, split, outcome), choice


def _probed(
    source: Source, observed: Observed, split: str | None, id: str | None, activations: Any, seed: int
) -> ApartReport:
    combination, ids = row_codes(source, observed, split, id)
    layers = given_layers(activations, source, len(combination))
    if not layers:
        raise UserError("activations name no layer")
    from_arrays = not isinstance(activations, (str, os.PathLike)) and not _are_paths(activations)
    aligned = []
    for layer in layers:
        by_id = None if from_arrays and layer.ids is None else ids
        aligned.append((layer, *align(layer, len(combination), by_id, id)))
    return probe_layers(aligned, np.asarray(combination), observed, seed)


def _are_paths(activations: Any) -> bool:
    return isinstance(activations, (list, tuple))


def _prior(prior: Any) -> RiskModel | None:
    if prior is None:
        return shipped_prior()
    if isinstance(prior, RiskModel):
        return prior
    if not isinstance(prior, (str, os.PathLike)):
        raise UserError(f"prior={prior!r} is neither a file made by `recombine risk fit` nor a RiskModel")
    return load_prior(prior)
