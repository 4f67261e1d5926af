"""A trial whose net draws pictures: scored on every combination there is, with a few drawings kept to look at.

Errors are squared errors divided by that of an empty picture (ours, after the notes on Liang, Qian, Ziyin, Fiete 2025:
its errors are raw, and shrink with the area of the picture). 1 is as good as drawing nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import shades
from ..encodings import showing
from ..errors import require_int
from ..keys import key_for
from ..lab.store import Record, Table
from ..lab.study import Context, Knob, Measured, Plate, Tile, recipe_knobs
from ..lab.verdicts import NotMet
from ..probes import Readings
from ..tasks import Pictures
from ..training import Recipe, Trained, evaluate
from . import trial
from .trial import Spec, TrialStudy

SOURCE = "Liang, Qian, Ziyin, Fiete 2025 (arXiv 2501.18797)"
LEARNED = 0.25  # error on trained combinations above which a net has not learned, and its failure means nothing
COMPOSES = 0.1  # error at or below which held-out pictures count as drawn (ours)
FLOOR = 0.02  # two errors below this do not differ to the eye; ratios of smaller ones mean nothing (ours)
SMALLEST = 5  # places along a factor: fewer leave no hole with something around it
SHOWN = 4  # held-out pictures that are kept to look at

#: as published for the CNN sweep: AdamW at 1e-3, decay .01 (there on biases too), batches of 32, no schedule;
#: 2,000 pictures for 50 epochs are 3,125 steps
PUBLISHED = Recipe(
    steps=3125, tasks=32, samples=1, learning_rate=1e-3, schedule="constant", warmup=0.0, weight_decay=0.01, b2=0.999,
    nesterov=False, precision="float32", evaluations=4,
)  # fmt: skip
#: fields of a recipe that picture studies let their users change
TRAINED_BY = ("steps", "tasks", "learning_rate", "schedule", "warmup", "weight_decay", "b2", "nesterov", "precision",
              "evaluations")  # fmt: skip


@dataclass(frozen=True)
class Drawings:
    """What a net draws for every combination it was trained on and every one held out."""

    rows: np.ndarray  # (n, factors)
    held_out: np.ndarray  # (n,) of booleans
    targets: np.ndarray  # (n, side, side)
    outputs: np.ndarray
    metrics: dict[str, dict[str, float]]  # stream -> metric -> value

    @property
    def errors(self) -> np.ndarray:
        """Squared error of each picture."""
        return ((self.outputs - self.targets) ** 2).mean((1, 2))


def drawings(run: Trained, member: int = 0) -> Drawings:
    """Draws everything there is."""
    task = run.task
    if not isinstance(task, Pictures):
        raise TypeError(f"{type(task).__name__} draws no pictures")
    rows = np.concatenate([run.support.train.combinations(), run.support.held_out.combinations()])
    held_out = np.arange(len(rows)) >= run.support.train.size
    key = key_for("drawings", run.members[member].seed)
    items = evaluate(run.nets[member], task, rows, key=key, keep=("answer", "target"))
    whole = _has_all_factors(task, rows)  # stripes are trained on, and not what is asked
    trained = ~held_out & (whole if (whole & ~held_out).any() else True)
    metrics = {"test": items.where(trained).scores(), "held_out": items.where(held_out).scores()}
    outputs, targets = (items.kept[name].reshape(-1, task.side, task.side) for name in ("answer", "target"))
    return Drawings(rows, held_out, targets, outputs, metrics)


def _has_all_factors(task: Pictures, rows: np.ndarray) -> np.ndarray:
    present = task.present(jnp.asarray(rows))
    return np.ones(len(rows), bool) if present is None else np.asarray(present.all(-1))


def measure(
    spec: Spec,
    context: Context,
    *,
    first: Spec | None = None,
    more: Callable[[Trained, Drawings], Measured] | None = None,
) -> Measured:
    """Trains, draws every combination, and keeps scores; of seed 0 also a few drawings and the map of errors."""
    drawn: list[Drawings] = []

    def scores(run: Trained, step: int) -> list[dict[str, Any]]:
        drawn.append(drawings(run))
        return [
            trial.row("score", stream, metric, value, step=step)
            for stream, values in drawn[0].metrics.items()
            for metric, value in values.items()
        ]

    def further(run: Trained) -> Measured:
        found = more(run, drawn[0]) if more else Measured([])
        facts = found.facts | ({"drawings": kept(run, drawn[0])} if spec["seed"] == 0 else {})
        return Measured(found.rows, facts)

    return trial.measure(spec, context, first=first, scores=scores, probe=False, more=further)


def kept(run: Trained, drawn: Drawings) -> dict[str, Any]:
    """A few held-out pictures with their truth, and the map of errors if there are two factors; for the report."""
    task = run.task
    assert isinstance(task, Pictures)
    which = np.flatnonzero(drawn.held_out)
    middle = drawn.rows[which].mean(0)
    # from the middle of what was held out to its rim, in equal steps
    outward = which[np.argsort(np.abs(drawn.rows[which] - middle).max(1), kind="stable")]
    chosen = outward[np.linspace(0, len(outward) - 1, min(SHOWN, len(outward))).round().astype(int)]
    pictures = [
        {"at": drawn.rows[i].tolist(), "target": shades.pack(drawn.targets[i], 0, 1),
         "output": shades.pack(drawn.outputs[i], -0.2, 1.2)}
        for i in chosen
    ]  # fmt: skip
    facts: dict[str, Any] = {"pictures": pictures, "polarity": task.polarity}
    space = run.support.space
    if len(space.columns) == 2:
        empty = float(((task.background - drawn.targets[drawn.held_out]) ** 2).mean())
        grid = np.full(task.encoding.levels[::-1], np.nan)  # [y, x], as a picture has it
        whole = _has_all_factors(task, drawn.rows)  # a stripe has no place
        grid[drawn.rows[whole, 1], drawn.rows[whole, 0]] = drawn.errors[whole] / empty
        facts["error_map"] = shades.pack(grid, 0, 1.5)
        inside = drawn.rows[drawn.held_out]
        facts["hole"] = [*inside.min(0).tolist(), *(np.ptp(inside, axis=0) + 1).tolist()]  # x, y, width, height
    return facts


def probe_rows(readings: Readings, step: int) -> list[dict[str, Any]]:
    """Readings of a probe as rows of a trial; the factor is the group."""
    return [
        trial.row(readings.probe, "grid", r["metric"], r["value"], layer=r["layer"] or "", step=step,
                  group="" if r["factor"] == "mean" else r["factor"])
        for r in readings.rows
    ]  # fmt: skip


def probed(part: Table, probe: str, metric: str, layer: str | None = None, group: str = "") -> Table:
    """Rows of a probe."""
    found = part[(part.reading == probe) & (part.metric == metric) & (part.group == group)]
    return found if layer is None else found[found.layer == layer]


def hidden_in_order(part: Table, probe: str, metric: str) -> list[tuple[str, float]]:
    """(layer, value) of the hidden layers, first to last; NotMet if the probe found none."""
    found = probed(part, probe, metric)
    values = dict(zip(found.layer, found.value, strict=True))
    names = [name for name in trial.layers_in_order(values) if name.endswith("/post")]
    if not names:
        raise NotMet(f"{probe} has no readings of hidden layers")
    return [(name, float(values[name])) for name in names]


# -- reading ----------------------------------------------------------------------------------------------------------
def score(part: Table, metric: str, stream: str, what: str) -> float:
    """The one final score of a trial; NotMet if it is not there."""
    return trial.one(trial.final(part, metric, stream, ""), what)


def failure(part: Table, what: str) -> float:
    """Held-out error by the error on trained combinations, which counts as FLOOR where it is smaller.

    NotMet if the net did not learn what it was trained on: then there is nothing that could have composed.
    """
    return score(part, "error", "held_out", what) / max(learned(part, what), FLOOR)


def learned(part: Table, what: str) -> float:
    """The error on trained combinations; NotMet if it is too large to speak of learning."""
    error = score(part, "error", "test", what)
    if error > LEARNED:
        raise NotMet(f"{what} did not learn what it was trained on (error {error:.2f}, above {LEARNED}); train longer")
    return error


# -- studies ----------------------------------------------------------------------------------------------------------
def recipe_knobs_of(smoke: Recipe, laptop: Recipe, paper: Recipe) -> tuple[Knob, ...]:
    """Knobs for what picture studies let their users change of a recipe."""
    return recipe_knobs(smoke, laptop, paper, TRAINED_BY)


def decoder(net: str, size: int, **sizes: Any) -> Spec:
    """The net of a trial on pictures of a size; a CNN begins so that it doubles twice, as published for 28 pixels.

    Where that does not come out, or for larger pictures, it begins at 7 pixels, as in the published scaling runs.
    """
    spec: Spec = {"net": net, **sizes}
    if net == "cnn-decoder":
        spec["net_options"] = {"base": size // 4 if size % 4 == 0 and size <= 28 else 7}
    return spec


def codes() -> list[str]:
    """Names of the codes of coordinates."""
    return showing("coordinates")


class PictureStudy(TrialStudy):
    """A study whose cells are picture trials. Subclass it and write `trials`."""

    metric = "error"

    def grid(self, settings: Spec, seed: int) -> list[Spec]:
        if "size" in settings:
            require_int("size", settings["size"], at_least=SMALLEST)
        return super().grid(settings, seed)

    def measure(self, spec: Spec, context: Context) -> Measured:
        return measure(spec, context)

    def summary(self, record: Record) -> str:
        facts = record.facts
        if "impossible" in facts or facts.get("diverged_at") is not None:
            return super().summary(record)
        seen, unseen = (1 - facts[name] for name in ("trained", "held_out"))  # kept as skill, the task's first metric
        return f"error trained {seen:.3f}, held out {unseen:.3f} ({facts['seconds']:.0f} s)"

    def caption_of(self, record: Record) -> str:
        """What a row of drawings is called."""
        return self.label(record.cell.spec).rpartition(", seed")[0]

    def plates(self, records: Sequence[Record]) -> list[Plate]:
        shown = [record for record in records if "drawings" in record.facts]
        plates = [drawing_plate(shown, self.caption_of), error_plate(shown, self.caption_of)]
        return [plate for plate in plates if plate is not None]


def drawing_plate(records: Sequence[Record], name: Callable[[Record], str]) -> Plate | None:
    """What was drawn at a few held-out places and how it differs, a row a net, each kind of truth above its nets."""
    rows: list[tuple[str, tuple[Tile | None, ...]]] = []
    columns: tuple[str, ...] = ()
    above: list[Any] = []
    for record in records:
        pictures, dark = record.facts["drawings"]["pictures"], record.facts["drawings"]["polarity"] == "dark"
        places = [", ".join(map(str, picture["at"])) for picture in pictures]
        if (truths := [picture["target"] for picture in pictures]) != above:
            above = truths
            rows.append(("truth", (*(Tile(_ink(p["target"], dark), f"truth at {at}")
                                     for p, at in zip(pictures, places, strict=True)),
                                   *(None for _ in places))))  # fmt: skip
        drawn = tuple(Tile(_ink(p["output"], dark), f"drawn at {at}") for p, at in zip(pictures, places, strict=True))
        errors = tuple(
            Tile(shades.pack(shades.unpack(p["output"]) - shades.unpack(p["target"]), -1, 1),
                 f"drawn less truth at {at}", colors="signed")
            for p, at in zip(pictures, places, strict=True)
        )  # fmt: skip
        rows.append((name(record), drawn + errors))
        if len(places) * 2 > len(columns):
            columns = (*places, *("error" for _ in places))
    if not rows:
        return None
    return Plate(
        "What is drawn at places never trained",
        "Drawings at held-out places (x, y), from the middle of what was held out to its rim, and drawing less truth; "
        "first seed.",
        columns,
        tuple((label, tiles + (None,) * (len(columns) - len(tiles))) for label, tiles in rows),
    )


def _ink(packed: dict[str, Any], dark: bool) -> dict[str, Any]:
    """How much ink a picture has, from none to full: one range for truth and drawing, so that shades compare."""
    values = shades.unpack(packed)
    return shades.pack(1 - values if dark else values, 0, 1)


def error_plate(records: Sequence[Record], name: Callable[[Record], str]) -> Plate | None:
    """The error at every place, with what was held out outlined."""
    tiles = [
        (name(record), Tile(record.facts["drawings"]["error_map"], "error by place", colors="heat",
                            outlines=(tuple(record.facts["drawings"]["hole"]),)))
        for record in records if "error_map" in record.facts["drawings"]
    ]  # fmt: skip
    if not tiles:
        return None
    return Plate(
        "Where it errs",
        "Error at every place (x to the right, y down), by that of an empty picture; held-out places are outlined.",
        tuple(label for label, _ in tiles),
        (("", tuple(tile for _, tile in tiles)),),
    )
