"""Charts of the studies of supports: the gap by what was trained on, where it sits, and what can be decoded."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..intervals import over_seeds
from . import vega
from .figure import Figure
from .layer_order import layers_in_order
from .vega import Rows, Spec

Table = Any  # a pandas.DataFrame as `lab.store.tidy` makes it; its columns are not in its type
StudyTable = Any  # as `lab.study_table` has it: the frame, and the metric that scores are about

TRAINED, HELD_OUT = "trained combinations", "held-out combinations"
CROSS = "cross-block"  # what is held out of `disconnected`: blocks that were never combined
COMPOSES, FAILS = 0.05, 0.15  # thresholds of the claims on the gap
NESTED = " › "  # between a support and its group on the axis
#: what the decodability probe reads and the controls beside it
DECODED = {
    "r2_test": TRAINED,
    "r2": HELD_OUT,
    "r2_shuffled": "control: shuffled labels",
    "r2_untrained": "control: untrained net",
    "r2_encoding": "control: raw encoding",
}


def figures(readings: StudyTable, order: Sequence[str]) -> list[Figure]:
    """Charts of the study of supports, the one that shows the result first; those without data are left out."""
    table, metric = readings.frame, readings.metric
    if table.empty or "value" not in table:
        return []
    table = table[table.value.notna()]
    order = [name for name in order if name in set(table.support)]
    scores = table[(table.reading == "score") & (table.metric == metric)]
    final = scores[scores.recipe == "default"]
    name = vega.SCORES[metric]
    made = [
        _composition(final, order, name),
        _gaps(final, order, name),
        _groups(final, order, name),
        _steps(table[(table.reading == "score") & (table.recipe == "default")], order),
        _history(table[(table.reading == "history") & (table.metric == metric)]),
        _decodability(table[(table.reading == "decodability") & (table.recipe == "default")], order),
    ]
    return [figure for figure in made if figure is not None]


# -- figures ----------------------------------------------------------------------------------------------------------
def _composition(final: Table, order: Sequence[str], name: str) -> Figure | None:
    rows = [row for name, group in ((TRAINED, ""), (HELD_OUT, None)) for row in _scored(final, order, name, group)]
    if not rows:
        return None
    spec = vega.dots(rows, "support", order, [TRAINED, HELD_OUT], name, top=1.0)
    spec["layer"].insert(0, _spans(vega.defined(rows)[0], order, spec["layer"][0]["encoding"]["x"]))
    return Figure(
        "Held-out against trained combinations",
        f"{vega.title(name)} by what was trained on: each point is a seed, each tick the mean over seeds, "
        "and the shaded span between "
        "the means is the gap. Where both colors lie together the net composes; where they part it does not. Of "
        "disconnected, the held-out combinations that cross the two blocks are shown." + vega.arrows(spec),
        spec,
    )


def _steps(scores: Table, order: Sequence[str]) -> Figure | None:
    """Of imitation: the share of single steps that are right, beside that of whole episodes."""
    metric = "step_accuracy"
    figure = _composition(scores[scores.metric == metric], order, vega.SCORES[metric])
    return dataclasses.replace(figure, title="The same by single steps") if figure else None


def _gaps(final: Table, order: Sequence[str], name: str) -> Figure | None:
    trained = {(row["support"], row["seed"]): row["value"] for row in _scored(final, order, TRAINED, "")}
    rows = [
        {"support": row["support"], "seed": row["seed"], "value": trained[row["support"], row["seed"]] - row["value"]}
        for row in _scored(final, order, HELD_OUT, None)
        if (row["support"], row["seed"]) in trained
    ]
    if not rows:
        return None
    intervals = _intervals(vega.defined(rows)[0], order)
    ends = [end for row in intervals for end in (row["low"], row["high"])]
    spec = vega.dots(
        rows, "support", order, [], f"gap: {name}, trained minus held out", top=1.2 * FAILS, also=ends, step=34
    )
    lines = _interval_lines(intervals, order, spec["layer"][0]["encoding"]["x"])
    spec["layer"] = [*vega.thresholds("x", (COMPOSES, FAILS)), lines, *spec["layer"]]
    return Figure(
        "What is lost on combinations never trained",
        "Gap by support: each point is a seed, the tick their mean, the line its 95 % interval over seeds. A gap of "
        f"at most {COMPOSES} is claimed of supports that compose; at least {FAILS} where something was never trained."
        + vega.arrows(spec),
        spec,
    )


def _groups(final: Table, order: Sequence[str], name: str) -> Figure | None:
    held_out = final[(final.stream == "held_out")]
    rows: Rows = []
    keys: list[str] = []
    for support in order:
        part = held_out[held_out.support == support]
        seen = {row["seed"]: row["value"] for row in _scored(final, [support], TRAINED, "")}
        for group in sorted({_group_name(name) for name in part.group}, key=_group_rank):
            keys.append(f"{support}{NESTED}{group}" if group else support)
            for seed, value in seen.items():
                rows.append({"group": keys[-1], "series": TRAINED, "seed": seed, "value": value})
            for item in part[part.group.map(_group_name) == group].itertuples():
                rows.append({"group": keys[-1], "series": HELD_OUT, "seed": int(item.seed), "value": float(item.value)})
    if not any(NESTED in key for key in keys):
        return None
    spec = vega.dots(rows, "group", keys, [TRAINED, HELD_OUT], name, top=1.0, step=21, lanes=False)
    spec["layer"][0]["transform"].append({"filter": f"datum.series != {TRAINED!r}"})  # a mean is enough to compare with
    axis = {
        "labelExpr": f"indexof(datum.label, '{NESTED}') < 0 ? datum.label : split(datum.label, '{NESTED}')[1]",
        "labelFontWeight": {"condition": {"test": f"indexof(datum.value, '{NESTED}') < 0", "value": 600}, "value": 400},
    }
    for layer in spec["layer"]:
        layer["encoding"]["y"]["axis"] |= axis
    return Figure(
        "Where the loss sits",
        f"Held-out {name} by group of combinations: how many modules are active; within or across the two blocks of "
        "disconnected; with or without the rarest module of unpopular. The other tick is the mean on trained "
        "combinations of the same nets." + vega.arrows(spec),
        spec,
    )


def _history(history: Table) -> Figure | None:
    part = history[history.support == "disconnected"]
    rows: Rows = []
    for (recipe, seed), cell in part.groupby(["recipe", "seed"], sort=False):
        by_step = cell.pivot_table(index="step", columns="stream", values="value").sort_index()
        if not {"validation", f"held_out/{CROSS}"} <= set(by_step):
            continue
        gaps = (by_step["validation"] - by_step[f"held_out/{CROSS}"]).dropna()
        for step, value in gaps.items():
            share = float(step) / float(by_step.index[-1])
            rows.append({"recipe": recipe, "seed": int(seed), "step": int(step), "share": share, "value": float(value)})
    if not rows:
        return None
    recipes = sorted(dict.fromkeys(row["recipe"] for row in rows), key=lambda name: (name != "default", name))
    return Figure(
        "Does the gap of disconnected depend on the recipe?",
        "Cross-block gap over the course of training, by recipe: thin lines are seeds, thick ones their mean. The "
        f"dashed line is the claimed gap of at least {COMPOSES}.",
        _lines(rows, recipes),
    )


def _decodability(found: Table, order: Sequence[str]) -> Figure | None:
    if found.empty:
        return None
    found = found[found.layer == layers_in_order(found.layer)[-1]]  # the last hidden one
    rows = [
        {"support": item.support, "series": DECODED[item.metric], "seed": int(item.seed), "value": float(item.value)}
        for item in found.itertuples()
        if item.metric in DECODED and item.support in order
    ]
    if not rows:
        return None
    present = {row["series"] for row in rows}
    series = [name for name in DECODED.values() if name in present]
    return Figure(
        "Can the constituents be read off the last hidden layer?",
        "R² of a linear probe, fitted on trained combinations and scored on both kinds, beside its controls. A probe "
        "says something about training only as far as it beats the untrained net and the raw encoding. An arrow "
        "marks a point beyond the axis.",
        vega.dots(rows, "support", order, series, "R² of the probe", top=1.0, step=74),
    )


# -- rows -------------------------------------------------------------------------------------------------------------
def _scored(final: Table, order: Sequence[str], series: str, group: str | None) -> Rows:
    """Final scores of a series; `group=None` takes what a support's claim is about."""
    part = final[final.stream == ("test" if series == TRAINED else "held_out")]
    rows = []
    for support in order:
        wanted = group if group is not None else (CROSS if support == "disconnected" else "")
        for item in part[(part.support == support) & (part.group == wanted)].itertuples():
            rows.append({"support": support, "series": series, "seed": int(item.seed), "value": float(item.value)})
    return rows


def _intervals(rows: Rows, order: Sequence[str]) -> Rows:
    """The 95 % interval over seeds of each support that has one."""
    found = {s: over_seeds([row["value"] for row in rows if row["support"] == s]) for s in order}
    return [{"support": s, "low": i.low, "high": i.high} for s, i in found.items() if i.seeds >= 2]


def _group_name(name: str) -> str:
    """One name for all seeds: which module is the rarest differs between them."""
    return "with rarest" if name.startswith("with rarest") else name


def _group_rank(name: str) -> tuple[int, str]:
    """All held-out combinations first, then counts of active modules, then the rest."""
    return (0 if not name else 1 if name.endswith("active") else 2, name)


def _spans(rows: Rows, order: Sequence[str], x: Spec) -> Spec:
    """A pale bar from the held-out mean to the trained one: the gap, to be seen."""
    low, high = x["scale"]["domain"]
    found = []
    for support in order:
        ends = [[r["value"] for r in rows if (r["support"], r["series"]) == (support, s)] for s in (HELD_OUT, TRAINED)]
        if all(ends):
            mean = [min(max(sum(values) / len(values), low), high) for values in ends]
            found.append({"support": support, "from": mean[0], "to": mean[1]})
    return {
        "data": {"values": found},
        "mark": {"type": "bar", "style": ["span"]},
        "encoding": {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": vega.category("support", order)},
    }


def _interval_lines(intervals: Rows, order: Sequence[str], x: Spec) -> Spec:
    """The interval over seeds of each support, cut where the axis ends."""
    low, high = x["scale"]["domain"]
    return {
        "data": {"values": intervals},
        "transform": [
            {"calculate": f"clamp(datum.low, {low}, {high})", "as": "from"},
            {"calculate": f"clamp(datum.high, {low}, {high})", "as": "to"},
        ],
        "mark": {"type": "rule", "style": ["interval"], "strokeWidth": 2},
        "encoding": {
            "x": {**x, "field": "from"},
            "x2": {"field": "to"},
            "y": vega.category("support", order),
            "tooltip": [
                {"field": "support", "type": "nominal"},
                {"field": "low", "type": "quantitative", "format": ".3f", "title": "95 % from"},
                {"field": "high", "type": "quantitative", "format": ".3f", "title": "95 % to"},
            ],
        },
    }


def _lines(rows: Rows, recipes: Sequence[str]) -> Spec:
    """Gap over the share of training: one thin line per seed, a thick one for the mean."""
    x = {"field": "share", "type": "quantitative", "title": "share of training", "axis": {"format": "%"}}
    y_title = "cross-block gap"
    color = {"field": "recipe", "type": "nominal", "scale": {"domain": list(recipes)}, "legend": vega.legend()}
    value = {"field": "value", "type": "quantitative", "title": y_title, "axis": {"tickCount": 5}}
    tooltip = vega.tooltip({"recipe": "recipe", "seed": "seed", "step": "step"})
    by_seed = {"color": color, "detail": {"field": "seed", "type": "nominal"}, "tooltip": tooltip}
    seeds = {
        "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.45, "point": {"size": 22, "opacity": 0.45}},
        "encoding": {"x": x, "y": value, **by_seed},
    }
    means = {
        "mark": {"type": "line", "strokeWidth": 3},
        "encoding": {"x": x, "y": {**value, "aggregate": "mean"}, "color": color},
    }
    layers = [*vega.thresholds("y", (COMPOSES,)), means, seeds]  # points on top: they answer to the pointer
    return vega.sized({"data": {"values": rows}, "height": 260, "layer": layers})
