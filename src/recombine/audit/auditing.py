"""The audit from beginning to end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import UserError, require_int
from ..labels import listed, quoted
from ..planning.forbidden import Forbidden
from ..tables import Observed, Reading, Source, find_roles, open_source, read_combinations, reading_of, row_codes
from .activations import align, given_layers
from .before_and_after import Changes, compare_audits
from .coverage import cover
from .factor_outcomes import by_factor
from .factor_probes import ApartReport, probe_layers
from .findings import FindingsReport
from .fit_for_audit import require_factors, require_outcomes_that_differ, require_tolerance
from .found import find as find_causes
from .gates import Gate, check_gates, gates_of, judge_gates
from .outcomes import OutcomeReport, compare, evaluate
from .paired_rows import pair_rows
from .prior import load_prior, shipped_prior
from .result import Audit
from .risk import MOST, TOLERANCE, RiskReport, assess
from .risk_model import RiskModel
from .seen import Seen
from .signals import lookup, signals, unreadable
from .suggestions import next_combinations

STEPS = ("reading", "coverage", "linearly decodable?", "seen against unseen", "findings and risk", "next")


def audit(
    data: Any,
    factors: Any = None,
    *,
    outcome: str | None = None,
    label: str | None = None,
    prediction: str | None = None,
    factor_outcomes: Any = None,
    split: str | None = None,
    weight: str | None = None,
    bin: Any = None,
    date: Any = None,
    missing: str | None = None,
    activations: Any = None,
    id: str | None = None,
    confidence: str | None = None,
    members: Sequence[str] = (),
    prior: Any = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
    forbid: Any = (),
    before: Any = None,
    fail_if: Any = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """An audit: what the data cover, which combinations fail and why, and how likely any other fails.

    Args:
        data: a path or glob (.csv, .tsv, .jsonl, .parquet) or a list of them, a pandas, polars or arrow table, a data
            set of Hugging Face, a mapping of columns, or anything else with an Arrow C stream. Records in cells become
            columns by dots: "meta.weather".
        factors: columns that are combined, as a list or "a,b,c"; proposed if left out.
        outcome: the column that says whether the model was right (1 or true), or a score from 0 to 1; or an expression
            over columns, such as "abs_error < 2". It is parsed, never run as code.
        label: the column that says what is right; with prediction, in the place of outcome.
        prediction: the column of the answers: right where it says what the label says.
        factor_outcomes: outcomes of single factors, as {"color": "color_right", "shape": "shape_error < 2"}; without
            outcome, an answer is right if it is right about all of them.
        split: the column whose value "train" marks training rows; without it all rows are training rows.
        weight: the column that says how many rows a row counts as.
        bin: columns of numbers as bins: {"age": 4} of equally many rows, {"age": (18, 30, 65)} by edges.
        date: columns of dates by year, quarter, month, day, month-of-year, weekday or hour: "month" for all that hold
            dates, {"when": "month"} for one.
        missing: "level" makes a level of missing values; rows without a value are left out otherwise.
        activations: {layer: array, or a callable from a batch of rows to an array}, files, or a callable.
        id: the column with the ids that activation files carry as "ids"; without it rows are aligned by their order.
        confidence: the column that says how sure the model was, from 0 to 1: a feature of the risk.
        members: columns with the predictions of several seeds or checkpoints; how much they disagree is a feature.
        prior: True, or a file made by `recombine risk fit`: orders unseen combinations where there are too few
            outcomes. It gives no probability. True takes the one that ships.
        tolerance: by how much a combination may fail more often than seen ones do and is still said to hold.
        most: the riskiest unseen combinations that are listed; `audit.risk(rows)` says the risk of any other.
        forbid: what cannot be had, such as "weather=snow & time=noon"; or mappings from factors to levels. It is
            neither called unseen nor at risk nor suggested.
        before: an earlier table (of other data, or of another version of the model), or its `Audit`; what became of
            its findings is in `changes`. Rows are compared one by one where both tables have the id.
        fail_if: conditions such as "accuracy(weather=snow) < .9"; `gates` says which are shown to hold.
        seed: of what is drawn: folds, and repeated draws of the data.
        progress: called with the name of each step when it begins; `STEPS` has them all.

    Example:
        >>> toys = {"color": ["red", "red", "blue"], "shape": ["box", "ball", "box"]}
        >>> for sentence in rc.audit(toys, factors="color,shape").sections()["Coverage"][:2]:
        ...     print(sentence)
        3 of 4 combinations were seen in training (75.0%).
        1 of 4 pairs of levels were never seen together.
    """
    require_int("seed", seed, at_least=0)
    require_int("most", most, at_least=1)
    require_tolerance(tolerance)
    roles = {
        "split": split,
        "outcome": outcome,
        "label": label,
        "prediction": prediction,
        "factor_outcomes": factor_outcomes,
        "weight": weight,
        "id": id,
    }
    options = {"prior": _prior(prior), "tolerance": tolerance, "most": most, "seed": seed}
    asked = Asked(
        roles, reading_of(bin, date, missing), forbid, gates_of(fail_if), confidence, members, activations, options
    )
    made = audited(data, factors, asked, progress or (lambda step: None), alike=before is not None)
    return made if before is None else replace(made, changes=against(before, data, made, asked))


@dataclass(frozen=True)
class Asked:
    """What is asked of a table, beside its factors.

    Args:
        roles: of columns, as `find_roles` takes them.
        reading: how columns become factors.
        forbid: what cannot be had.
        gates: conditions on which a command fails.
        confidence: the column that says how sure the model was.
        members: columns with the predictions of several models.
        activations: of a model.
        options: of the risk: prior, tolerance, most and seed.
    """

    roles: dict[str, Any]
    reading: Reading
    forbid: Any
    gates: list[Gate]
    confidence: str | None
    members: Sequence[str]
    activations: Any
    options: dict[str, Any]


def audited(data: Any, factors: Any, asked: Asked, tell: Callable[[str], None], alike: bool = False) -> Audit:
    """The audit of one table.

    Args:
        data: as `audit` takes it.
        factors: likewise.
        asked: all the rest.
        tell: called with the name of each step.
        alike: the outcome may be the same in every row, as that of a later version of a model.
    """
    with open_source(data) as source:
        tell("reading")
        given, roles = (asked.confidence, *asked.members), find_roles(source, **asked.roles)
        observed, choice = read_combinations(source, factors, roles=roles, reading=asked.reading, taken=given)
        require_factors(choice)
        if not alike:
            require_outcomes_that_differ(observed)
        check_gates(asked.gates, observed)
        forbidden = Forbidden(observed.space, asked.forbid)
        seen = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
        tell("coverage")
        coverage = cover(observed, seen, forbidden)
        tell("linearly decodable?")
        apart = _probed(source, observed, asked) if asked.activations is not None else None
        signal_columns = signals(source, observed, asked.confidence, asked.members, asked.roles["split"])
        more = _more(observed, signal_columns, apart)
        outcomes, risk, found = _outcomes_and_risk(observed, seen, source, more, forbidden, tell, asked.options)
    tell("next")
    suggestions = next_combinations(observed, seen, risk, found.impossible, forbidden)
    notes = [*observed.notes, *coverage.notes, *(outcomes.notes if outcomes else []), *(apart.notes if apart else [])]
    return Audit(
        source.name,
        choice,
        observed,
        coverage,
        apart,
        outcomes,
        risk,
        suggestions,
        asked.roles["split"],
        notes,
        by_factor(observed, seen),
        found,
        forbidden=forbidden or None,
        gates=judge_gates(asked.gates, observed, evaluate(observed), found.overdispersion) if asked.gates else [],
    )


def against(before: Any, data: Any, made: Audit, asked: Asked) -> Changes:
    """What became of the findings of an earlier table.

    Args:
        before: that table, or its audit.
        data: the later table.
        made: its audit.
        asked: what was asked of it.
    """
    observed = made.observed
    if isinstance(before, Audit):
        if before.factors != made.factors:
            raise UserError(
                f"the earlier audit is of the factors {listed(list(map(quoted, before.factors)))}, and this one of "
                f"{listed(list(map(quoted, made.factors)))}; audit both with the same --factors"
            )
        if not before.observed.outcome:
            raise UserError(f"the earlier audit of {quoted(before.data)} has no outcome; audit it with one")
        return compare_audits(before, made, None, asked.options["tolerance"])
    if not observed.outcome:
        raise UserError(
            "before= compares answers; name --outcome, or --label and --prediction, which both tables must have"
        )
    again = replace(asked, reading=observed.reading, forbid=(), gates=[], activations=None)
    earlier = audited(before, list(made.factors), again, lambda step: None, alike=True)
    pairs = None
    if observed.roles.id:
        with open_source(before) as old, open_source(data) as new:
            pairs = pair_rows((old, earlier.observed), (new, observed))
    return compare_audits(earlier, made, pairs, asked.options["tolerance"])


def _outcomes_and_risk(
    observed: Observed,
    seen: Seen,
    source: Source,
    more: Any,
    forbidden: Forbidden,
    tell: Callable[[str], None],
    options: dict[str, Any],
) -> tuple[OutcomeReport | None, RiskReport, FindingsReport]:
    tell("seen against unseen")
    evaluated = evaluate(observed) if observed.outcome else None
    outcomes = compare(observed, seen, evaluated) if evaluated is not None else None
    tell("findings and risk")
    risk = assess(observed, seen, evaluated, more, forbidden=forbidden, **options)
    found = find_causes(observed, risk, source)
    if forbidden:
        can_be = [one for one in found.impossible if _can_be(one.pattern, observed, forbidden)]
        found = replace(found, impossible=can_be)
    return outcomes, risk, found


def _can_be(pattern: Mapping[str, str], observed: Observed, forbidden: Forbidden) -> bool:
    """Whether nobody said that levels cannot stand together."""
    names = observed.space.element_names
    return forbidden.possible([names.index(f"{factor}={level}") for factor, level in pattern.items()])


def _more(
    observed: Observed, signal_columns: dict[str, np.ndarray], apart: ApartReport | None
) -> Callable[[np.ndarray], np.ndarray] | None:
    """What else is known of combinations: signals of the model, and how well a probe reads their levels."""
    of_signals = lookup(observed, list(signal_columns.values())) if signal_columns else None
    readable = apart.readable(observed) if apart and apart.readings else None
    if of_signals is None and readable is None:
        return None

    def more(rows: np.ndarray) -> np.ndarray:
        found = [] if of_signals is None else [of_signals(rows)]
        if readable is not None:
            found.append(unreadable(observed, readable, rows)[:, None])
        return np.concatenate(found, axis=1)

    return more


def _probed(source: Source, observed: Observed, asked: Asked) -> ApartReport:
    split, id, activations = asked.roles["split"], asked.roles["id"], asked.activations
    combination, ids = row_codes(source, observed, split, id)
    layers = given_layers(activations, source, len(combination))
    if not layers:
        raise UserError("activations name no layer")
    from_arrays = not isinstance(activations, (str, os.PathLike)) and not _are_paths(activations)
    aligned = []
    for layer in layers:
        by_id = None if from_arrays and layer.ids is None else ids
        aligned.append((layer, *align(layer, len(combination), by_id, id)))
    return probe_layers(aligned, np.asarray(combination), observed, asked.options["seed"])


def _are_paths(activations: Any) -> bool:
    return isinstance(activations, (list, tuple))


def _prior(prior: Any) -> RiskModel | None:
    if prior is None or prior is False:
        return None
    if prior is True:
        return shipped_prior()
    if isinstance(prior, RiskModel):
        return prior
    if not isinstance(prior, (str, os.PathLike)):
        raise UserError(f"prior={prior!r} is neither True, nor a file made by `recombine risk fit`, nor a RiskModel")
    return load_prior(prior)
