"""re-entanglement: do later layers mix up what came in factorized, and is that why decoders fail?

    recombine run re-entanglement               laptop: about 9 minutes on two cores
    expected: layers lose factorization, but no more by training; the loss neither predicts failure nor causes it

Liang, Qian, Ziyin, Fiete 2025 read the metric tensor g of each layer over the grid of (x, y) and report that the
factorization F = 1 - mean|g01| / mean(|g00| + |g11|) falls layer by layer (to .96 with bump codes, to .75 with ramps,
by the axes of the poster) while the volume form warps around the hole. That F predicts failure across nets and that it
is a cause are not shown there; both readings are ours, and so are all thresholds, written before any run. So is the
comparison with the same nets before training: without it, a fall says nothing about learning. The cause is tried by
training with a penalty on g01 (`straightened`), at the trained points and, apart, on the whole frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import shades
from ..keys import generator
from ..lab.cells import canonical
from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, Plate, Tile, check_choices, check_numbers, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..probes.geometry import geometry, metric_maps
from ..training import Recipe, Trained
from ..trials.measure import readings_as_rows
from . import charts, picture_charts, picture_trial, trial
from .picture_trial import PUBLISHED, SOURCE, Drawings, PictureStudy, hidden_in_order, recipe_knobs_of

OURS = f"ours, after {SOURCE}"
FEWEST = 4  # nets that a correlation takes


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def plain(table: Table) -> Table:
    return table[table.penalty == 0]


def fall(part: Table, metric: str = "factorization") -> float:
    """How much F falls from the first hidden layer to the last."""
    values = hidden_in_order(part, "geometry", metric)
    if len(values) < 2:
        raise NotMet("a fall takes two hidden layers")
    return values[0][1] - values[-1][1]


def mean_fall(table: Table, metric: str = "factorization") -> float:
    """The fall of F over the layers, mean over nets, codes and depths."""
    cells = [part for _, part in plain(table).groupby("cell")]
    if not cells:
        raise NotMet("no net was trained without a penalty")
    return float(np.mean([fall(part, metric) for part in cells]))


def fall_by_training(table: Table) -> float:
    """The fall of F over the layers, less that of the same nets before training."""
    return mean_fall(table) - mean_fall(table, "factorization_untrained")


def last_factorization(part: Table) -> float:
    return hidden_in_order(part, "geometry", "factorization")[-1][1]


def prediction(table: Table) -> float:
    """Spearman correlation over nets of 1 - F at the last hidden layer with the held-out error."""
    import scipy.stats

    pairs = []
    for _, part in plain(table).groupby("cell"):
        what = str(part.decoder.iloc[0])
        pairs.append((1 - last_factorization(part), picture_trial.score(part, "error", "held_out", what)))
    if len(pairs) < FEWEST:
        raise NotMet(f"a correlation takes {FEWEST} nets, and {len(pairs)} were run")
    losses, errors = zip(*pairs, strict=True)
    found: Any = scipy.stats.spearmanr(losses, errors)
    return float(found.statistic)


def straightened(table: Table, everywhere: bool) -> list[tuple[Table, Table]]:
    """Pairs of the same net without a penalty and with the largest one."""
    pairs = []
    part = table[table.penalty > 0]
    part = part[part.everywhere == everywhere]
    for keys, bent in part[part.penalty == part.penalty.max()].groupby(["decoder", "layers", "encoding"]):
        other = plain(table)
        for name, value in zip(("decoder", "layers", "encoding"), keys, strict=True):
            other = other[other[name] == value]
        if not other.empty:
            pairs.append((other, bent))
    if not pairs:
        raise NotMet("no net was trained both with and without a penalty")
    return pairs


def cure(table: Table, everywhere: bool = False) -> float:
    """Held-out error with the penalty by that without it, geometric mean.

    NotMet if F did not rise, or if what was trained was not learned.
    """
    ratios = []
    for without, bent in straightened(table, everywhere):
        name = f"{bent.decoder.iloc[0]} with a penalty"
        picture_trial.learned(bent, name)
        if last_factorization(bent) <= last_factorization(without):
            raise NotMet(f"the penalty did not raise F of the {bent.decoder.iloc[0]}: it takes a larger one")
        ratios.append(
            picture_trial.score(bent, "error", "held_out", name)
            / picture_trial.score(without, "error", "held_out", str(bent.decoder.iloc[0]))
        )
    return float(np.exp(np.mean(np.log(ratios))))


def raised(table: Table, everywhere: bool) -> float:
    """How much the penalty raises F at the last hidden layer, mean over nets."""
    return float(np.mean([last_factorization(b) - last_factorization(a) for a, b in straightened(table, everywhere)]))


class ReEntanglement(PictureStudy):
    """Metric tensors layer by layer, against held-out error; and training that keeps layers factorized."""

    id = "re-entanglement"
    version = 1
    title = "Do later layers mix up what came in factorized?"
    question = "Do the layers of a decoder lose the factorization of its input, and is that why it fails?"
    source = SOURCE
    varied = ("decoder", "layers", "encoding", "penalty", "everywhere")
    running_time = {"smoke": "1 minute", "laptop": "9 minutes on two cores", "paper": "about 4 GPU-hours"}
    knobs = (
        Knob("task", "which world; the lookup one is a control", *("bumps-v1",) * 3),
        Knob("outcome", "measured, or unrelated: errors replaced by chance, a control", *("measured",) * 3),
        Knob("size", "pixels along a side, and places along a factor", 8, 12, 28),
        Knob("support", "how training combinations are chosen", *("donut",) * 3),
        Knob("encodings", "codes of the coordinates", ["bump", "ramp-normalized"], ["bump", "ramp-normalized"],
             ["bump", "ramp"]),
        Knob("decoders", "which nets", ["mlp"], ["mlp", "cnn-decoder"], ["mlp", "cnn-decoder"]),
        Knob("depths", "hidden layers", [2, 3], [2, 3, 4], [2, 3, 4, 5, 6]),
        Knob("penalties", "weights of the penalty on g01, at the middle depth", [1.0], [0.1], [0.01, 0.1, 1.0]),
        Knob("mlp_width", "hidden units a layer of the MLP", 48, 128, 256),
        Knob("cnn_width", "channels of the CNN", 8, 16, 64),
        *recipe_knobs_of(
            Recipe(steps=200, tasks=32, learning_rate=5e-3, weight_decay=0.01, evaluations=1),
            Recipe(steps=1500, tasks=32, learning_rate=3e-3, weight_decay=0.01, evaluations=1), PUBLISHED,
        ),
    )  # fmt: skip
    controls = {
        # nothing is learned, so nothing is mixed up by learning
        "untrained": {"steps": 1, "learning_rate": 1e-12, "penalties": [1.0]},
        "unrelated": {"outcome": "unrelated"},
        # nothing can compose, so nothing can cure
        "lookup": {"task": "bumps-lookup-v1"},
    }
    claims = (
        Claim(
            "layers-re-entangle", "Training makes F fall over the layers, by at least .01", SOURCE, "at least", 0.01,
            fall_by_training,
            "F of the first hidden layer minus the last, less that before training, mean over nets, codes and depths",
            "untrained",
        ),
        Claim(
            "the-fall-predicts", "Across nets the loss of F predicts the held-out error", OURS, "at least", 0.5,
            prediction, "Spearman correlation of 1 - F at the last hidden layer with held-out error, over nets",
            "unrelated",
        ),
        Claim(
            "straightening-cures", "A penalty on g01 at trained points lowers the held-out error by a fifth", OURS,
            "at most", 0.8, cure, "held-out error with the largest penalty by that without, mean over nets", "lookup",
        ),
        Claim(
            "straightening-everywhere-cures",
            "A penalty on g01 on the whole frame lowers the held-out error by a fifth", OURS, "at most", 0.8,
            lambda t: cure(t, everywhere=True),
            "held-out error with the largest penalty by that without, mean over nets", "lookup",
        ),
    )  # fmt: skip
    questions = (
        Question("fall", "How much F falls over the layers, trained", mean_fall,
                 "F of the first hidden layer minus the last, mean over nets, codes and depths"),
        Question("fall-untrained", "The same before training", lambda t: mean_fall(t, "factorization_untrained"),
                 "F of the first hidden layer minus the last, mean over nets, codes and depths"),
        *(
            Question(f"raised-{where}", f"What the penalty adds to F, {words}", lambda t, e=everywhere: raised(t, e),
                     "F of the last hidden layer with minus without the penalty, mean over nets")
            for where, words, everywhere in (("trained", "at trained points", False),
                                             ("frame", "on the whole frame", True))
        ),
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        decoders, codes, depths, penalties, outcome = (
            settings.pop(name) for name in ("decoders", "encodings", "depths", "penalties", "outcome")
        )
        widths = {"mlp": settings.pop("mlp_width"), "cnn-decoder": settings.pop("cnn_width")}
        check_choices("decoders", decoders, widths)
        check_choices("encodings", codes, picture_trial.codes())
        check_choices("outcome", [outcome], ("measured", "unrelated"))
        check_numbers("depths", depths)
        check_numbers("penalties", penalties)
        base = {"seed": seed, "support_options": {}, "outcome": outcome, **settings}
        middle = sorted(depths)[len(depths) // 2]
        specs = []
        for name in decoders:
            for code in codes:
                specs += [
                    base | picture_trial.decoder(name, settings["size"], width=widths[name], depth=depth)
                    | {"decoder": name, "layers": depth, "encoding": code, "penalty": 0.0, "everywhere": False}
                    for depth in depths
                ]  # fmt: skip
                for penalty in penalties:
                    inner = picture_trial.decoder(name, settings["size"], width=widths[name], depth=middle)
                    inner |= inner.pop("net_options", {})  # a blueprint as JSON is flat
                    specs += [
                        base | {"net": "straightened", "decoder": name, "layers": middle, "encoding": code,
                                "penalty": penalty, "everywhere": everywhere,
                                "net_options": {"of": inner, "weight": penalty, "everywhere": everywhere}}
                        for everywhere in (False, True)
                    ]  # fmt: skip
        return specs

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        def read(run: Trained, drawn: Drawings) -> Measured:
            rows = readings_as_rows(geometry(run, derivative=False), run.recipe.steps)
            if spec["seed"] or spec["penalty"]:
                return Measured(rows)
            # a map is indexed [x, y]; a picture has y down
            maps = {name: shades.pack(metric.log_volume.T) for name, metric in metric_maps(run).items()}
            return Measured(rows, {"volume": maps})

        found = picture_trial.measure(spec, context, more=read)
        if spec["outcome"] == "unrelated":
            chance = float(generator([ord(letter) for letter in canonical(spec)]).uniform())  # type: ignore[arg-type]
            rows = [row | {"value": chance} if row["reading"] == "score" else row for row in found.rows]
            return Measured(rows, found.facts)
        return found

    def label(self, spec: dict[str, Any]) -> str:
        words = [f"{spec['decoder']} of {spec['layers']} layers", spec["encoding"]]
        if spec["penalty"]:
            words.append(f"penalty {spec['penalty']:g}{' on the whole frame' if spec['everywhere'] else ''}")
        return ", ".join([*words, f"seed {spec['seed']}"])

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        sentences = {
            "layers-re-entangle": (
                "training re-entangles what came in factorized",
                "training does not re-entangle: layers lose as much factorization before it",
            ),
            "the-fall-predicts": (
                "how much predicts the error on unseen combinations",
                "how much does not predict the error on unseen combinations",
            ),
            "straightening-cures": (
                "keeping trained points factorized helps",
                "keeping trained points factorized does not help",
            ),
            "straightening-everywhere-cures": (
                "keeping the whole frame factorized helps",
                "keeping the whole frame factorized does not help",
            ),
        }
        return trial.told(outcomes, sentences, "Whether layers re-entangle, and whether it matters, is not settled.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty:
            return []
        figures = []
        part = picture_trial.probed(plain(table), "geometry", "factorization")
        part = part[part.layer.str.endswith("/post")]
        for (decoder, code), some in part.groupby(["decoder", "encoding"]):
            rows = [
                {"layer": row.layer.removesuffix("/post"), "series": f"{row.layers} layers", "seed": int(row.seed),
                 "value": row.value}
                for row in some.itertuples()
            ]  # fmt: skip
            rows += [{"layer": "input", "series": name, "seed": seed, "value": 1.0}
                     for name, seed in dict.fromkeys((row["series"], row["seed"]) for row in rows)]  # fmt: skip
            figures.append(Figure(
                f"Factorization by layer, {decoder}, {code} code",
                "F of each hidden layer over the whole frame, by depth of the net; a point a seed. The input is 1.",
                picture_charts.by_layer(rows, "F"),
            ))  # fmt: skip
        points = []
        for _, cell in plain(table).groupby("cell"):
            try:
                error = picture_trial.score(cell, "error", "held_out", "")
                row = cell.iloc[0]
                point = {"series": f"{row.decoder}, {row.encoding}", "trial": f"{row.layers} layers"}
                points.append(point | {"x": 1 - last_factorization(cell), "value": error, "seed": int(row.seed)})
            except NotMet:
                continue
        if points:
            order = list(dict.fromkeys(point["series"] for point in points))
            figures.append(Figure(
                "Loss of factorization against held-out error", "A point a net and seed, without a penalty.",
                charts.scatter(points, "1 - F at the last hidden layer", "held-out error", order, high=2.0),
            ))  # fmt: skip
        return figures

    def plates(self, records: Sequence[Record]) -> list[Plate]:
        plates = super().plates([record for record in records if not record.cell.spec["penalty"]])
        volumes = [record for record in records if "volume" in record.facts]
        return [*plates, self._volume_plate(volumes)] if volumes else plates

    def _volume_plate(self, records: Sequence[Record]) -> Plate:
        """The volume form of the deepest nets, layer by layer."""
        deepest = max(record.cell.spec["layers"] for record in records)
        records = [record for record in records if record.cell.spec["layers"] == deepest]
        layers = dict.fromkeys(name for record in records for name in record.facts["volume"])
        names = [name for name in trial.layers_in_order(layers) if name.endswith("/post")]

        def tile(record: Record, name: str) -> Tile | None:
            if name not in record.facts["volume"]:  # a CNN of so many layers has one more
                return None
            hole = tuple(record.facts["drawings"]["hole"])
            return Tile(record.facts["volume"][name], "log10 of the volume form", colors="heat", outlines=(hole,))

        return Plate(
            "How a layer stretches the frame",
            "log10 of the volume form at every place (x to the right, y down); what was held out is outlined. Each map "
            "has its own colors. First seed, deepest nets.",
            tuple(self.caption_of(record) for record in records),
            tuple((name.removesuffix("/post"), tuple(tile(record, name) for record in records)) for name in names),
            slider="layer",
        )


studies.register("re-entanglement")(ReEntanglement())
