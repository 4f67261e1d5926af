"""check_study and check_power: what any study must pass. Our tests run them; run them on your own.

from recombine.testing import check_power, check_study
check_study(study)
check_power(study, "wider-is-better", holds=lambda at: {"held_out": at["width"] / 100}, fails=lambda at: ...)
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from .charts.figure import Figure
from .context import Context
from .intervals import over_seeds
from .lab.cells import Cell, canonical
from .lab.controls import ERROR
from .lab.run import Result, Run, conclude, run_study
from .lab.store import Record, tidy
from .lab.study import SCALES, Study
from .lab.verdicts import Claim, judge, values_by_seed
from .report.html import render
from .report.images import picture_svg
from .report.paper import figures
from .report.pictures import pictures
from .testing_nets import must as _must

#: where a cell is on each axis (and its seed) -> its readings: rows, or final scores by stream
Planted = Callable[[dict[str, Any]], list[dict[str, Any]] | dict[str, float]]
PLANTED_SEEDS = 4
JITTER = 1e-3  # between planted seeds
SMOKE_SECONDS, CONTROL_SECONDS = 20.0, 15.0  # core-seconds that a smoke grid, and a control, may take
CONTROL_SEEDS = 4


def check_study(study: Study, *, controls: bool = True, control_claims: int | None = None) -> None:
    """Cells are data, a cell gives the same readings twice, verdicts come out, and controls are not supported.

    Args:
        study: what is checked, at smoke scale.
        controls: run the control of every claim, too.
        control_claims: how many claims are checked in their controls in this run, over all studies; the error is held
            over all of them together. Those of this study, if none is given.
    """
    ids = [claim.id for claim in study.claims]
    for claim in study.claims:
        _must(claim.source and claim.text and claim.description, f"claim {claim.id!r} lacks words")
        study.control(claim.false_in)  # refused by name where it is not there
    for scale in SCALES:
        cells = study.cells(study.settings(scale), 3)
        _must(len({cell.id for cell in cells}) == len(cells), f"two cells at {scale} scale are the same")
        _must(study.running_time(scale), f"no running time at {scale} scale")
        for cell in cells:
            canonical(cell.to_json())
    result = _run_within(study, "the smoke grid", SMOKE_SECONDS)
    first = result.records[0]
    second = study.compute(first.cell, Context())
    _must(same_rows(first.rows, second.rows), "a cell gives other readings the second time")
    _must([verdict.claim.id for verdict in result.verdicts] == ids, "not every claim got a verdict")
    few = result.table[result.table.seed < 2]
    outcomes = {judge(claim, few, "smoke").outcome for claim in study.claims}
    _must(outcomes <= {"undecided", "not asked"}, "a verdict was given on fewer than three seeds")
    check_pictures(result)
    check_undefined(result)
    if controls:
        for name in study.control_names():
            check_control(study, name, control_claims or len(ids))


def check_control(study: Study, name: str, control_claims: int) -> None:
    """In a world where claims are false by construction, none of them may come out as supported.

    Over all `control_claims` of a run together, the error is at most .05: each is tested at its share of it.
    """
    result = _run_within(study, f"control {name!r}", CONTROL_SECONDS, study.control(name), CONTROL_SEEDS)
    for claim in study.claims:
        if claim.false_in != name:
            continue
        values, _ = values_by_seed(claim.reading, result.table)
        _must(
            not supported_beyond_chance(claim, list(values.values()), ERROR / control_claims),
            f"claim {claim.id!r} is supported in its control {name!r}: {sorted(values.values())}, "
            f"{claim.side} {claim.threshold:g}",
        )


def supported_beyond_chance(claim: Claim, values: Sequence[float], level: float) -> bool:
    """Whether readings lie on the side of a claim, by a one-sided test over seeds at a level."""
    if len(values) < 3:
        return False
    interval = over_seeds(values, 1 - 2 * level)
    return interval.low >= claim.threshold if claim.side == "at least" else interval.high <= claim.threshold


def _run_within(
    study: Study, what: str, seconds: float, changes: dict[str, Any] | None = None, seeds: int = 3
) -> Result:
    """A run at smoke scale that takes at most so many core-seconds."""
    began = time.process_time()
    result = run_study(study, "smoke", seeds=seeds, changes=changes, quiet=True)
    took = time.process_time() - began
    _must(not result.failures, f"{what}: a cell failed: {[failure.error for failure in result.failures][:1]}")
    _must(took <= seconds, f"{what} of {study.id} took {took:.0f} core-seconds, and {seconds:g} is the most")
    return result


def check_pictures(result: Result) -> None:
    """Every chart, plate and split can be drawn for the page, and for a paper where matplotlib is installed."""
    found = pictures(result)
    _must(any(isinstance(picture.source, Figure) for picture in found), "no chart shows the result")
    for picture in found:
        _must(picture.title and picture.caption, f"picture {picture.name!r} lacks words")
        picture_svg(picture, 640)
    if find_spec("matplotlib"):
        for figure in figures(result):
            _must(figure.figure.get_figwidth() > 0, f"figure {figure.name!r} has no size")


def check_undefined(result: Result) -> None:
    """A cell whose every reading is undefined (a net that diverged) takes no page with it, and is drawn nowhere."""
    first = result.records[0]
    lost = [row | {"value": math.nan} if isinstance(row.get("value"), float) else row for row in first.rows]
    records = [dataclasses.replace(first, rows=lost), *result.records[1:]]
    run = Run(result.study, result.scale, result.settings, [record.cell for record in records], None)
    changed = conclude(run, records, [])
    render(changed)
    for picture in pictures(changed):
        source = picture.source
        drawn = source.spec["data"]["values"] if isinstance(source, Figure) and "data" in source.spec else []
        for row in drawn:
            undefined = isinstance(row.get("value"), float) and math.isnan(row["value"])
            _must(not undefined, f"chart {picture.name!r} draws an undefined value; `vega.defined` leaves them out")
        picture_svg(picture, 640)


def check_power(study: Study, claim: str, *, holds: Planted, fails: Planted, scale: str = "laptop") -> None:
    """A claim comes out supported where it was planted to hold, and refuted where it was planted to fail.

    Args:
        study: whose grid is filled with planted readings.
        claim: its id.
        holds: the readings of a cell in a world where the claim is true.
        fails: and in one where it is false.
        scale: whose grid is planted.
    """
    (judged,) = [one for one in study.claims if one.id == claim]
    for planted, wanted in ((holds, "supported"), (fails, "refuted")):
        table = study.table(tidy(planted_records(study, planted, scale)))
        verdict = judge(dataclasses.replace(judged, scales=SCALES), table, scale)
        found = f"{verdict.interval}{f' ({verdict.why})' if verdict.why else ''}"
        _must(
            verdict.outcome == wanted, f"claim {claim!r} was planted to be {wanted} and is {verdict.outcome}: {found}"
        )


def planted_records(study: Study, planted: Planted, scale: str = "laptop", seeds: int = PLANTED_SEEDS) -> list[Record]:
    """Records of every cell of a study with planted readings; seeds differ by a little."""
    return [_planted_record(study, cell, planted) for cell in study.cells(study.settings(scale), seeds)]


def _planted_record(study: Study, cell: Cell, planted: Planted) -> Record:
    columns = cell.columns()
    found = planted(columns)
    rows = _score_rows(study.deciding_metric, found) if isinstance(found, dict) else found
    moved = [row | {"value": row["value"] + JITTER * columns["seed"]} for row in rows]
    return Record(cell, moved, {}, {})


def _score_rows(metric: str, scores: dict[str, float]) -> list[dict[str, Any]]:
    """Final scores by stream as rows of a trial."""
    shared = {"reading": "score", "group": "", "layer": "", "metric": metric, "step": 1}
    return [shared | {"stream": name, "value": value, "asked": name == "held_out"} for name, value in scores.items()]


def same_rows(a: list[dict], b: list[dict]) -> bool:
    def plain(row: dict) -> dict:
        return {k: "nan" if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}

    return [plain(row) for row in a] == [plain(row) for row in b]
