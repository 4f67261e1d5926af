"""A study of fruit, whose labels are hostile, with records, a result and a store: what pages are made of in tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recombine.charts.figure import Figure
from recombine.lab.cells import Cell
from recombine.lab.record import Record
from recombine.lab.reopening import Run, conclude
from recombine.lab.scales import Scale
from recombine.lab.store import Store
from recombine.lab.study import Study, Texts
from recombine.lab.study_result import Result
from recombine.lab.study_table import PreconditionFailed
from recombine.lab.verdicts import Bound, Claim, Measurement, at_least, at_most

HOSTILE = """</script><script>alert(1)</script><!-- "'><img src=x onerror=alert(2)> & {{ 7 * 7 }}"""


def _mean(t: Any) -> float:
    return t.value.mean()


def _unmet(t: Any) -> float:
    raise PreconditionFailed(f"not learned {HOSTILE}")


def _figures(table: Any) -> list[Figure]:
    rows = [{"name": HOSTILE, "value": float("nan")}, {"name": "x", "value": table.value.iloc[0]}]  # a numpy number
    x = {"field": "value", "type": "quantitative"}
    spec = {"data": {"values": rows}, "mark": "point", "encoding": {"x": x}}
    return [Figure(f"chart {HOSTILE}", f"caption {HOSTILE}", spec)]


def _certificates(records: Any) -> dict[str, str]:
    return {f"{r.cell.spec['at']['kind']}, seed {r.cell.spec['seed']}": r.facts["certificate"] for r in records}


def _claim(id: str, reading: Any, bound: Bound, text: str, description: str, source: str) -> Claim:
    return Claim(id, reading, bound, text, "none", description, source)


class Fruit(Study):
    """A study whose every word is hostile."""

    def __init__(self, **changes: Any):
        words: dict[str, Any] = dict(
            id="fruit",
            version=3,
            title=f"title {HOSTILE}",
            question=f"question {HOSTILE}",
            source=f"source {HOSTILE}",
            options={"size": Scale(1, 2, 2, 3), "sweet": False, "kind": "apple", "note": f"help {HOSTILE}"},
            vary={"options.kind": Scale(["apple"], ["apple", "pear"], ["apple"], ["apple"])},
            controls={"none": {}},
            claims=[
                _claim("high", _mean, at_least(0.5), f"claim {HOSTILE}", HOSTILE, f"first {HOSTILE}"),
                _claim("low", _mean, at_most(0.25), "at most a quarter", "the mean", "second source"),
                _claim("unmet", _unmet, at_most(0.25), "never decided", "nothing", "third source"),
            ],
            measurements=[
                Measurement("how-much", _mean, f"asked {HOSTILE}", "the mean"),
                Measurement("nothing", _unmet, "asked in vain", "nothing"),
            ],
            label_of=lambda spec: f"{spec['at']['kind']} {HOSTILE}",
            headline=lambda table, outcomes: f"answer {outcomes['high']} {HOSTILE}",
            charts=[_figures],
            texts=Texts("Certificates", "What each net was trained on, checked and not assumed.", _certificates),
        )
        super().__init__(**words | changes)


OPTIONS = {"size": 2, "sweet": False, "note": f"help {HOSTILE}"}


def fruit_record(seed: int, kind: str, **provenance: str) -> Record:
    cell = Cell("fruit", 3, {"seed": seed, "at": {"kind": kind}, "options": OPTIONS | {"kind": kind}})
    rows = [{"reading": "score", "value": 0.8 + 0.01 * seed}]
    facts = {"certificate": f"certificate of {kind} {seed} {HOSTILE}", "content": f"{seed:064d}", "seconds": 61.5}
    return Record(cell, rows, facts, {"jax": "1.0", "processor": HOSTILE} | provenance)


def fruit_result(records: list[Record] | None = None, store: Store | None = None, scale: str = "laptop") -> Result:
    records = [fruit_record(s, k) for s in range(3) for k in ("apple", "pear")] if records is None else records
    return fruit_conclusion(Fruit(), records, store, scale)


def fruit_conclusion(study: Study, records: list[Record], store: Store | None = None, scale: str = "laptop") -> Result:
    settings = study.settings(scale)
    seeds = store.about["seeds"] if store is not None else 1 + max((r.cell.spec["seed"] for r in records), default=0)
    cells = study.cells(settings, seeds) if records or store is not None else []
    return conclude(Run(study, scale, settings, cells, store), records, [])


def fruit_store(folder: Path, seeds: int = 3) -> Store:
    about = {"study": "fruit", "version": 3, "scale": "laptop", "settings": Fruit().settings("laptop"), "seeds": seeds}
    return Store.create(folder, about)
