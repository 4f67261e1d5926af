"""One audit of one planted model on one random space, against the truth: the readings of audit-truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...audit import logistic
from ...audit.features import describe
from ...audit.planted import plant
from ...audit.run import audit
from ...audit.seen import Seen, find
from ...keys import generator, key_for
from ...spaces import Product
from ...supports import registry as designs

LEAST_TESTED = 60  # unseen combinations with answers


def judge(options: dict[str, Any], seed: int, world: int) -> tuple[list[dict[str, Any]], str]:
    """Audits one planted model on one random space: rows that compare what was said with the truth, and the audit."""
    import pandas

    rng = generator(key_for(f"audit-truth-{world}", seed))
    space = _space(rng, options["combinations"])
    everything = space.enumerate()
    related = options["told"] == "related" and options["model"] == "unrelated"
    model = "binder" if related else options["model"]
    trained = _trained(space, model, options["trained"], rng)
    truth = ~plant(model, space, everything[trained], seed * 1000 + world).right(everything)  # it fails
    seen = np.zeros(space.size, bool)
    seen[trained] = True
    others = rng.permutation(np.flatnonzero(~seen))
    number = min(max(int(len(others) * options["tested"]), LEAST_TESTED), len(others) - 10)
    tested = np.zeros(space.size, bool)
    tested[others[:number]] = True
    tested[rng.permutation(np.flatnonzero(seen))[: len(trained) // 2]] = True
    told = truth[tested]
    told = rng.permutation(told) if options["told"] == "shuffled" else ~told if options["told"] == "reversed" else told
    outcome = np.full(space.size, "", dtype=object)
    outcome[tested] = np.where(told, "0", "1")
    shown = seen | tested
    frame = pandas.DataFrame({name: everything[shown, i].astype(str) for i, name in enumerate(space.factors)})
    frame["outcome"] = outcome[shown]
    frame["split"] = np.where(seen[shown], "train", "test")
    found = audit(frame, list(space.factors), outcome="outcome", split="split", seed=seed)
    return _compared(found, space, everything, seen, tested, truth), str(found)


def _compared(found: Any, space: Product, everything: Any, seen: Any, tested: Any, truth: Any) -> list[dict[str, Any]]:
    """Readings of one world: all but the answers that were told."""
    report, levels = found.risk, found.observed.space.factors
    places = [np.array([int(level) for level in own]) for own in levels.values()]  # the audit's levels are text, sorted
    back = np.stack([place[report.combinations[:, i]] for i, place in enumerate(places)], axis=1)
    at = space.rank(back.astype(space.dtype))
    mine = ~tested[at]
    probability, fails = report.probability[mine], truth[at[mine]]
    calls = report.calls[mine]
    known = ~np.isnan(probability)
    rows = [
        _row("called_fails", float(np.mean(calls == "fails"))),
        _row("beyond_rate", float(np.mean((report.low[mine] > fails.mean()) | (report.high[mine] < fails.mean())))),
        _row("called", float(np.mean(np.isin(calls, ["fails", "holds"])))),
        _row("abstained", float(np.mean(calls == "abstains"))),
        _row("failed", float(fails.mean())),
    ]
    said, failed = probability[known], fails[known]
    alike = failed.all() or not failed.any()
    if alike and report.model is not None and report.basis == "outcomes":  # then trained ones are what tells them apart
        old = np.flatnonzero(seen & ~tested)
        same = np.stack([np.argsort(place)[everything[old, i]] for i, place in enumerate(places)], axis=1)
        more = _said_of_trained(found, same)
        said, failed = np.append(said, more), np.append(failed, truth[old])
    if 0 < failed.sum() < len(failed):
        rows.append(_row("auroc", logistic.auroc(said, failed.astype(float))))
    return rows + _bins(said, failed)


def _said_of_trained(found: Any, rows: np.ndarray) -> np.ndarray:
    """The risk of trained combinations, which the audit's report leaves out."""
    observed = found.observed
    trained = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
    if (find(observed.space, trained.combinations, rows) < 0).any():
        raise ValueError("a trained combination was not found again")
    return found.risk.model.predict(describe(trained, rows))[0]


def _bins(said: np.ndarray, failed: np.ndarray) -> list[dict[str, Any]]:
    """What was said and what happened, in ten bins of risk."""
    rows = []
    which = np.minimum((said * 10).astype(int), 9)
    for number in np.unique(which):
        inside = which == number
        sums = {
            "combinations": int(inside.sum()),
            "said": float(said[inside].sum()),
            "failed": int(failed[inside].sum()),
        }
        rows.append(_row("bin", float(said[inside].mean()), reading="bin", group=str(number)) | sums)
    return rows


def _row(metric: str, value: float, reading: str = "world", group: str = "") -> dict[str, Any]:
    return {"reading": reading, "metric": metric, "group": group, "value": value}


def _space(rng: np.random.Generator, combinations: int) -> Product:
    """Three to five factors of two to nine levels, with about so many combinations."""
    while True:
        levels = rng.integers(2, 10, rng.integers(3, 6))
        if combinations / 1.5 < np.prod(levels) < combinations * 1.5 and (levels > 2).sum() > 1:
            return Product(**{f"f{i}": int(n) for i, n in enumerate(levels)})


def _trained(space: Product, model: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """Ranks of the training combinations; the connected one learns two blocks that never meet."""
    if model == "connected":
        inside = designs["disconnected"](space).train.ranks  # type: ignore[attr-defined]
        return np.sort(rng.permutation(inside)[: max(int(space.size * share), len(inside) // 2)])
    return np.sort(rng.permutation(space.size)[: int(space.size * share)])
