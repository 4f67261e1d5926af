"""check_study and check_power: what any study must pass. Our tests run them; run them on your own.

from recombine.testing import check_power, check_study
check_study(study)
check_power(study, "wider-is-better", holds=lambda at: {"held_out": at["width"] / 100}, fails=lambda at: ...)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..charts.saving import sized_svg
from ..context import Context
from ..lab.cell_verdict import CellVerdict
from ..lab.cells import Cell, canonical
from ..lab.controls import ERROR
from ..lab.driver.run import run_study
from ..lab.record import Record, tidy
from ..lab.reopening import Run, conclude
from ..lab.seed_readings import read_seeds
from ..lab.sequential import TRANSFORMS
from ..lab.study import SCALES, Study
from ..lab.study_result import Result
from ..lab.verdicts import MIN_SEEDS, Claim, Verdict, judge
from ..report.html import render
from ..statistics.intervals import over_seeds
from .core_seconds import CoreSeconds, CountedInProcess
from .net_checks import must as _must

#: where a cell is on each axis (and its seed) -> its readings: rows, or final scores by stream
Planted = Callable[[dict[str, Any]], list[dict[str, Any]] | dict[str, float]]
PLANTED_SEEDS = (4, 16, 32)  # the next number where fewer leave a claim open: near its threshold, or about how often
JITTER = 1e-3  # between planted seeds
SMOKE_SECONDS, CONTROL_SECONDS = 20.0, 15.0  # that a smoke grid, and a control, may take on the reference core
CONTROL_SEEDS = 4
TRIED = 6.5  # inches at which charts are drawn, to see that they can be


def check_study(
    study: Study, *, controls: bool = True, control_claims: int | None = None, slack: float = 1.0
) -> dict[str, float]:
    """Cells are data, a cell gives the same readings twice, verdicts come out, and controls are not supported.

    Returns the core-seconds that the smoke grid ("smoke") and each control took, of the reference core: CPU time
    divided by how slow this core is (`testing.core_seconds`).

    Args:
        study: what is checked, at smoke scale.
        controls: run the control of every claim, too.
        control_claims: how many claims are checked in their controls in this run, over all studies; the error is held
            over all of them together. Those of this study, if none is given.
        slack: how many times the core-seconds of a smoke grid (20) and a control (15) a study may take. More than 1
            where programs are compiled for the first time, beside other work.

    Example:
        >>> from recombine.testing import check_study
        >>> check_study(study)
        Traceback (most recent call last):
            ...
        AssertionError: no chart shows the result
    """
    ids = [claim.id for claim in study.claims]
    for claim in study.claims:
        _must(claim.source and claim.text and claim.description, f"claim {claim.id!r} lacks words")
        if not claim.by_construction:
            study.control(claim.false_in)  # refused by name where it is not there
    for scale in SCALES:
        cells = study.cells(study.settings(scale), 3)
        _must(len({cell.id for cell in cells}) == len(cells), f"two cells at {scale} scale are the same")
        _must(study.running_time(scale), f"no running time at {scale} scale")
        for cell in cells:
            canonical(cell.to_json())
    result, seconds = _run_within(study, "the smoke grid", SMOKE_SECONDS * slack)
    took = {"smoke": seconds}
    first = result.records[0]
    second = study.compute(first.cell, Context())
    _must(same_rows(first.rows, second.rows), "a cell gives other readings the second time")
    _must([verdict.claim.id for verdict in result.verdicts] == ids, "not every claim got a verdict")
    few = result.table[result.table.seed < 2]
    outcomes = {judge(claim, few, "smoke").outcome for claim in study.claims}
    _must(
        outcomes <= {"open", "by construction", "not asked"},
        "a verdict was given on fewer than three seeds",
    )
    for verdict in result.verdicts:
        _must(not verdict.error, f"claim {verdict.claim.id!r}: {verdict.why}")
    check_panels(result)
    check_pictures(result)
    check_undefined(result)
    if controls:
        took |= {name: check_control(study, name, control_claims or len(ids), slack) for name in study.control_names()}
    return took


def check_control(study: Study, name: str, control_claims: int, slack: float = 1.0) -> float:
    """In a world where claims are false by construction, none of them may come out as supported.

    Returns the core-seconds it took, of the reference core.

    A claim that has no number there is refused, too: it would pass whatever the world was like. Over all
    `control_claims` of a run together, the error is at most .05: each is tested at its share of it.
    """
    most = CONTROL_SECONDS * slack
    result, took = _run_within(study, f"control {name!r}", most, study.control(name), CONTROL_SEEDS)
    for claim in study.claims:
        if claim.false_in != name or claim.by_construction:
            continue
        found = read_seeds(claim, result.table)
        cells = [CellVerdict(claim, cell, series) for cell, series in found.series.items()]
        fewest = min((cell.met for cell in cells), default=0)
        why = found.error or found.waits or next((w for c in cells for w in c.series.unmet.values()), "")
        _must(
            fewest >= MIN_SEEDS,
            f"claim {claim.id!r} has {fewest} numbers in its control {name!r}, and it takes {MIN_SEEDS}: such a "
            f"control cannot fail ({why}); choose one in which the claim is false and can be read",
        )
        read = [cell.worst_ends for cell in cells]
        _must(
            not supported_beyond_chance(claim, read, ERROR / control_claims),
            f"claim {claim.id!r} is supported in its control {name!r}: {[sorted(values) for values in read]}, "
            f"{claim.wanted}",
        )
    return took


def check_panels(result: Result) -> None:
    """Every trial that keeps a panel has one, with the decodability of each combination in every layer."""
    for record in result.records:
        lost = record.facts.get("impossible") or record.facts.get("diverged_at") is not None
        if lost or "panel" not in record.cell.spec.get("trial", {}).get("keep", ()):
            continue
        found = record.facts.get("panel", {})
        layers = found.get("decodability", {}).get("layers", {})
        wanted = len(found.get("score", ()))
        label = result.study.label(record.cell.spec)
        _must(wanted, f"{label}: no panel was kept")
        _must(layers, f"{label}: the panel lacks the decodability of its layers")
        for layer, values in layers.items():
            _must(len(values) == wanted, f"{label}: layer {layer!r} has {len(values)} values, not {wanted}")


def supported_beyond_chance(claim: Claim, cells: Sequence[Sequence[float]], level: float) -> bool:
    """Whether readings lie on the side of a claim, by a one-sided test over seeds at a level.

    A claim "for every X" does where each of its cells does (then the level is held for all together). Of a claim about
    how often, the readings themselves are tested: no number of seeds that a control can afford shows a share.

    Args:
        claim: what is claimed.
        cells: the readings of each cell, one per seed; of censored ones the end farther from the claim's side.
        level: of the test.
    """
    return all(_beyond_chance(claim, np.asarray(values, dtype=float), level) for values in cells)


def _beyond_chance(claim: Claim, values: np.ndarray, level: float) -> bool:
    transform = TRANSFORMS["identity" if claim.how_often is not None else claim.transform]
    if len(values) < MIN_SEEDS or not np.all(transform.takes(values)):
        return False  # an end that is not known supports nothing
    y = transform(values, claim.resolution)
    theta = transform([claim.threshold], claim.resolution)[0]
    interval = over_seeds(y.tolist(), 1 - 2 * level)
    return interval.low >= theta if claim.bound.sign > 0 else interval.high <= theta


def _run_within(
    study: Study, what: str, seconds: float, changes: dict[str, Any] | None = None, seeds: int = MIN_SEEDS
) -> tuple[Result, float]:
    """A run at smoke scale that takes at most so many core-seconds of the reference core, and how many it took.

    One that takes more is run once more before it is refused: what it compiled for the first time lies on disk then,
    and a neighbor that was busy may have gone.
    """
    result, spent = _counted_run(study, changes, seeds)
    if spent.reference > seconds:
        result, spent = _counted_run(study, changes, seeds)
    _must(not result.failures, f"{what}: a cell failed: {[failure.error for failure in result.failures][:1]}")
    _must(
        spent.reference <= seconds,
        f"{what} of {study.id} took {spent.reference:.1f} core-seconds of the reference core ({spent.here:.1f} of "
        f"this one), and {seconds:g} is the most",
    )
    return result, spent.reference


def _counted_run(study: Study, changes: dict[str, Any] | None, seeds: int) -> tuple[Result, CoreSeconds]:
    spent = CoreSeconds()
    result = run_study(study, "smoke", seeds=seeds, changes=changes, quiet=True, engine=CountedInProcess(spent))
    spent.look()
    return result, spent


def check_pictures(result: Result) -> None:
    """Every chart, image grid and split can be drawn, and has a title and a caption."""
    found = result.charts.figures
    _must(result.figures, "no chart shows the result")
    for name, figure in found.items():
        _must(figure.title and figure.full_caption, f"chart {name!r} lacks words")
        sized_svg(figure.chart, TRIED, "page")
    for figure in result.claim_figures.values():
        sized_svg(figure.chart, TRIED, "page")


def check_undefined(result: Result) -> None:
    """A cell whose every reading is undefined (a net that diverged) takes no page with it, and is drawn nowhere."""
    first = result.records[0]
    lost = [row | {"value": math.nan} if isinstance(row.get("value"), float) else row for row in first.rows]
    records = [dataclasses.replace(first, rows=lost), *result.records[1:]]
    run = Run(result.study, result.scale, result.settings, [record.cell for record in records], None)
    changed = conclude(run, records, [])
    render(changed)
    for figure in changed.figures:
        data = figure.spec.get("data", {})
        for row in data.get("values", []) if isinstance(data, dict) else []:
            undefined = isinstance(row.get("value"), float) and math.isnan(row["value"])
            _must(not undefined, f"chart {figure.title!r} draws an undefined value; leave it out")
    for figure in changed.charts.figures.values():
        sized_svg(figure.chart, TRIED, "page")


def check_power(study: Study, claim: str, *, holds: Planted, fails: Planted, scale: str = "laptop") -> None:
    """A claim comes out supported where it was planted to hold, and refuted where it was planted to fail.

    Args:
        study: whose grid is filled with planted readings.
        claim: its id.
        holds: the readings of a cell in a world where the claim is true.
        fails: and in one where it is false.
        scale: whose grid is planted.

    Example:
        >>> from recombine.testing import check_power
        >>> planted = {share: [{"reading": "toss", "value": share}] for share in (0.2, 0.9)}
        >>> check_power(study, "biased", holds=lambda at: planted[0.9], fails=lambda at: planted[0.2])  # silent
    """
    (judged,) = [one for one in study.claims if one.id == claim]
    judged = dataclasses.replace(judged, scales=SCALES, by_construction="")
    for planted, wanted in ((holds, "supported"), (fails, "refuted")):
        verdict = judged_planted(study, judged, planted, scale)
        found = f"{verdict.interval}{f' ({verdict.why})' if verdict.why else ''}"
        _must(
            verdict.outcome == wanted, f"claim {claim!r} was planted to be {wanted} and is {verdict.outcome}: {found}"
        )


def judged_planted(study: Study, claim: Claim, planted: Planted, scale: str) -> Verdict:
    """The verdict over planted readings, of more seeds where fewer leave it open."""
    for seeds in PLANTED_SEEDS[:-1]:
        verdict = judge(claim, study.table(tidy(planted_records(study, planted, scale, seeds))), scale)
        if verdict.outcome != "open" or verdict.error:
            return verdict
    return judge(claim, study.table(tidy(planted_records(study, planted, scale, PLANTED_SEEDS[-1]))), scale)


def planted_records(
    study: Study, planted: Planted, scale: str = "laptop", seeds: int = PLANTED_SEEDS[0]
) -> list[Record]:
    """Records of every cell of a study with planted readings; seeds differ by a little."""
    return [_planted_record(study, cell, planted) for cell in study.cells(study.settings(scale), seeds)]


def _planted_record(study: Study, cell: Cell, planted: Planted) -> Record:
    columns = cell.columns()
    found = planted(columns)
    rows = _score_rows(study.deciding_metric, found) if isinstance(found, dict) else found
    moved = [row | {"value": row["value"] + JITTER * (columns["seed"] % PLANTED_SEEDS[0])} for row in rows]
    return Record(cell, moved, {}, {})


def _score_rows(metric: str, scores: dict[str, float]) -> list[dict[str, Any]]:
    """Final scores by stream as rows of a trial."""
    shared = {"reading": "score", "group": "", "layer": "", "metric": metric, "step": 1}
    return [shared | {"stream": name, "value": value, "asked": name == "held_out"} for name, value in scores.items()]


def same_rows(a: Sequence[dict], b: Sequence[dict]) -> bool:
    def plain(row: dict) -> dict:
        return {k: "nan" if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}

    return [plain(row) for row in a] == [plain(row) for row in b]
