"""What the report of supports draws: the gap by what was trained on, where it sits, and what can be decoded."""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...charts.dot_chart import NESTED
from ...charts.history_chart import history
from ...charts.layer_order import layers_in_order
from ...charts.words import SCORES
from ...lab.cells import Spec
from ...lab.study_table import LEAST_ROOM, StudyTable
from .supports_readings import SUPPORTS

Rows = kinds.Rows
Table = Any  # a pandas.DataFrame as `lab.record.tidy` makes it; its columns are not in its type

TRAINED, HELD_OUT = "trained combinations", "held-out combinations"
CROSS = "cross-block"  # what is held out of `disconnected`: blocks that were never combined
#: what the decodability probe reads and the controls beside it
DECODED = {
    "r2_test": TRAINED,
    "r2": HELD_OUT,
    "r2_shuffled": "control: shuffled labels",
    "r2_untrained": "control: untrained net",
    "r2_encoding": "control: raw encoding",
}


def label(spec: Spec) -> str:
    at = spec["at"]
    recipe = "" if at["recipe"] == "default" else f" ({at['recipe']} recipe)"
    return f"{at['support']}{recipe}, seed {spec['seed']}"


# -- rows -------------------------------------------------------------------------------------------------------------
def _defined(t: StudyTable) -> Table:
    frame = t.frame
    return frame[frame.value.notna()] if "value" in frame else frame.iloc[:0]


def _final(t: StudyTable, metric: str) -> Table:
    frame = _defined(t)
    if not len(frame):
        return frame
    return frame[(frame.reading == "score") & (frame.metric == metric) & (frame.recipe == "default")]


def _scored(final: Table, series: str, group: str | None) -> Rows:
    """Final scores of a series; `group=None` takes what a support's claim is about."""
    if not len(final):
        return []
    part = final[final.stream == ("test" if series == TRAINED else "held_out")]
    rows = []
    for support in SUPPORTS:
        wanted = group if group is not None else (CROSS if support == "disconnected" else "")
        for item in part[(part.support == support) & (part.group == wanted)].itertuples():
            rows.append({"support": support, "series": series, "seed": int(item.seed), "value": float(item.value)})
    return rows


def both_sides(t: StudyTable) -> Rows:
    final = _final(t, t.metric)
    return [*_scored(final, TRAINED, ""), *_scored(final, HELD_OUT, None)]


def single_steps(t: StudyTable) -> Rows:
    """Of imitation: the share of single steps that are right, beside that of whole episodes."""
    final = _final(t, "step_accuracy")
    return [*_scored(final, TRAINED, ""), *_scored(final, HELD_OUT, None)]


def gaps(t: StudyTable) -> Rows:
    """As the claims read them: shares of what there is to learn above the wrong-code baseline, where one was asked."""
    final = _final(t, t.metric)
    trained = {(row["support"], row["seed"]): row["value"] for row in _scored(final, TRAINED, "")}
    room = _room(final, "support")
    return [
        {"support": at[0], "seed": at[1], "value": (trained[at] - row["value"]) / room.get(at, 1.0)}
        for row in _scored(final, HELD_OUT, None)
        if (at := (row["support"], row["seed"])) in trained
    ]


def _room(scores: Table, axis: str) -> dict[tuple[str, int], float]:
    """What there is to learn, by (place on the axis, seed): 1 less the score of the wrong-code baseline."""
    if not len(scores):
        return {}
    blind = scores[(scores.stream == "blind") & (scores.group == "")]
    return {
        (place, int(seed)): max(1 - float(value), LEAST_ROOM)
        for place, seed, value in zip(blind[axis], blind.seed, blind.value, strict=True)
    }


def by_group(t: StudyTable) -> Rows:
    """Held-out scores by group of combinations, and beside each the trained ones of the same nets."""
    final = _final(t, t.metric)
    if not len(final):
        return []
    held_out = final[final.stream == "held_out"]
    rows: Rows = []
    for support in (name for name in SUPPORTS if name in set(final.support)):
        part = held_out[held_out.support == support]
        seen = {row["seed"]: row["value"] for row in _scored(final[final.support == support], TRAINED, "")}
        for group in sorted({_group_name(name) for name in part.group}, key=_group_rank):
            key = f"{support}{NESTED}{group}" if group else support
            rows += [{"group": key, "series": TRAINED, "seed": seed, "value": value} for seed, value in seen.items()]
            rows += [
                {"group": key, "series": HELD_OUT, "seed": int(item.seed), "value": float(item.value)}
                for item in part[part.group.map(_group_name) == group].itertuples()
            ]
    return rows if any(NESTED in row["group"] for row in rows) else []


def _group_name(name: str) -> str:
    """One name for all seeds: which module is the rarest differs between them."""
    return "with rarest" if name.startswith("with rarest") else name


def _group_rank(name: str) -> tuple[int, str]:
    """All held-out combinations first, then counts of active modules, then the rest."""
    return (0 if not name else 1 if name.endswith("active") else 2, name)


def gap_over_training(t: StudyTable) -> Rows:
    """The cross-block gap of `disconnected`, from step to step, by recipe."""
    frame = _defined(t)
    if not len(frame):
        return []
    part = frame[(frame.reading == "history") & (frame.metric == t.metric) & (frame.support == "disconnected")]
    rows: Rows = []
    scored = (frame.reading == "score") & (frame.metric == t.metric) & (frame.support == "disconnected")
    room = _room(frame[scored], "recipe")
    for (recipe, seed), cell in part.groupby(["recipe", "seed"], sort=False):
        by_step = cell.pivot_table(index="step", columns="stream", values="value").sort_index()
        if not {"validation", f"held_out/{CROSS}"} <= set(by_step):
            continue
        found = (by_step["validation"] - by_step[f"held_out/{CROSS}"]).dropna()
        if len(found) < 2:
            continue  # one score is no course
        for step, value in (found / room.get((recipe, int(seed)), 1.0)).items():
            share = float(step) / float(by_step.index[-1])
            rows.append({"series": recipe, "seed": int(seed), "step": int(step), "share": share, "value": float(value)})
    return sorted(rows, key=lambda row: (row["series"] != "default", row["series"]))


def decoded(t: StudyTable) -> Rows:
    """What a probe of the last hidden layer reads, on both kinds of combinations, and its controls."""
    frame = _defined(t)
    if not len(frame):
        return []
    found = frame[(frame.reading == "decodability") & (frame.recipe == "default")]
    if found.empty:
        return []
    found = found[found.layer == layers_in_order(found.layer)[-1]]
    return [
        {"support": item.support, "series": DECODED[item.metric], "seed": int(item.seed), "value": float(item.value)}
        for item in found.itertuples()
        if item.metric in DECODED and item.support in SUPPORTS
    ]


# -- charts -----------------------------------------------------------------------------------------------------------
def _composition(title: str, rows: kinds.RowsOf, value: str, begins: str) -> kinds.Chart:
    return kinds.dots(
        title,
        f"{begins} by what was trained on: each point is a seed, each tick the mean over seeds, and the shaded span "
        "between the means is the gap. Where both colors lie together the net composes; where they part it does not. "
        "Of disconnected, the held-out combinations that cross the two blocks are shown.",
        rows,
        y="support",
        value=value,
        order=SUPPORTS,
        series=[TRAINED, HELD_OUT],
        span=(HELD_OUT, TRAINED),
    )


STEPS = SCORES["step_accuracy"]
charts = [
    _composition("Held-out against trained combinations", both_sides, "{metric}", "{Metric}"),
    kinds.dots(
        "What is lost on combinations never trained",
        "Gap by support: each point is a seed, the tick their mean, the line its 95 % interval over seeds. Dashed "
        "lines are the gaps that claims are about: at most the first of supports that compose, at least the second "
        "where something was never trained. Where the wrong-code baseline is above zero, gaps are shares "
        "of what there is to learn above it.",
        gaps,
        y="support",
        value="gap: {metric}, trained minus held out",
        order=SUPPORTS,
        top=0.18,
        step=34,
        intervals=True,
        claims=["*-composes", "*-fail*"],
    ),
    kinds.dots(
        "Where the loss sits",
        "Held-out {metric} by group of combinations: how many modules are active; within or across the two blocks of "
        "disconnected; with or without the rarest module of unpopular. The other tick is the mean on trained "
        "combinations of the same nets.",
        by_group,
        y="group",
        value="{metric}",
        series=[TRAINED, HELD_OUT],
        points_of=[HELD_OUT],
        step=21,
        lanes=False,
    ),
    _composition("The same by single steps", single_steps, STEPS, STEPS[:1].upper() + STEPS[1:]),
    kinds.Chart(
        "Does the gap of disconnected depend on the recipe?",
        "Cross-block gap over the course of training, by recipe: thin lines are seeds, thick ones their mean. The "
        "dashed line is by how much it is claimed to lie above that of as many drawn at random.",
        gap_over_training,
        history,
        value="cross-block gap",
        claims=["blocks-fail"],
    ),
    kinds.dots(
        "Can the constituents be read off the last hidden layer?",
        "R² of a linear probe, fitted on trained combinations and scored on both kinds, beside its controls. A probe "
        "says something about training only as far as it beats the untrained net and the raw encoding.",
        decoded,
        y="support",
        value="R² of the probe",
        order=SUPPORTS,
        series=list(DECODED.values()),
        step=74,
    ),
]
