"""factorized-fails: is a factorized input enough for a decoder to compose?

    recombine run factorized-fails              laptop: about 10 minutes on two cores
    expected: MLPs and CNNs fail on unseen combinations, whatever the code; nets with a token a pixel nearly compose

After Liang, Qian, Ziyin, Fiete 2025, its poster and public code. Every code here is factorized by construction. Bumps
of one pixel on a square with a square hole: each x and each y is trained, their combinations inside the hole are not.
The thresholds are ours. What the paper found for transformers is not known. `paper` scale is the published setting: 28
pixels, 64 channels, depths 2 to 6, 5 seeds in the figure (one in the code); `laptop` has 12 pixels and narrower nets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..lab.store import Record, Table
from ..lab.study import Figure, Knob, check_choices, check_numbers, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..training import Recipe
from . import charts, picture_charts, picture_trial, trial
from .picture_trial import COMPOSES, PUBLISHED, SOURCE, PictureStudy, recipe_knobs_of

PLAIN = {"mlp": "MLPs", "cnn-decoder": "CNNs", "pixel-transformer": "Transformers with a token a pixel"}
CONTROL = "coordinate-mlp"
OURS = f"ours, after {SOURCE}"


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def each(table: Table, nets: Sequence[str]) -> dict[str, Table]:
    """The table of each trial of some nets, by name; NotMet if there is none."""
    part = table[table.net.isin(nets)]
    if part.empty:
        raise NotMet(f"{charts.listed(list(nets))} not run")
    return {
        f"{net} of depth {depth}, {code}": one for (net, depth, code), one in part.groupby(["net", "depth", "encoding"])
    }


def least_failure(table: Table, net: str) -> float:
    """The least factor between held-out and trained error over codes and depths."""
    return min(picture_trial.failure(part, name) for name, part in each(table, (net,)).items())


def least_error(table: Table) -> float:
    """The least held-out error over MLPs and CNNs, codes and depths."""
    found = each(table, ("mlp", "cnn-decoder"))
    for name, part in found.items():
        picture_trial.learned(part, name)
    return min(picture_trial.score(part, "error", "held_out", name) for name, part in found.items())


def control_error(table: Table) -> float:
    """The held-out error of the coordinate net, worst over codes and depths."""
    found = each(table, (CONTROL,))
    return max(picture_trial.score(part, "error", "held_out", name) for name, part in found.items())


def most_localized(table: Table, net: str) -> float:
    """The largest share of held-out bumps in the right place over codes and depths."""
    found = each(table, (net,))
    return max(picture_trial.score(part, "localized", "held_out", name) for name, part in found.items())


class FactorizedFails(PictureStudy):
    """Decoders get perfectly factorized coordinates, and fail on combinations that they have not seen."""

    id = "factorized-fails"
    version = 1
    title = "Are factorized inputs enough?"
    question = "A decoder gets the coordinates of a picture in a perfectly factorized code: does it draw unseen ones?"
    source = SOURCE
    history = (
        "After a first run, in which transformers composed and the coordinate net had not finished, one claim on "
        "all plain nets became one for each net, with the same threshold, and laptop scale trains longer."
    )
    varied = ("net", "depth", "encoding")
    running_time = {"smoke": "1 minute", "laptop": "10 minutes on two cores", "paper": "about 3 GPU-hours"}
    knobs = (
        Knob("task", "which world; the others are controls", *("bumps-v1",) * 3),
        Knob("size", "pixels along a side, and places along a factor", 8, 12, 28),
        Knob("support", "how training combinations are chosen", *("donut",) * 3),
        Knob("encodings", "codes of the coordinates", ["one-hot"], ["one-hot", "bump", "ramp-normalized"],
             ["one-hot", "bump", "ramp"]),
        Knob("nets", "decoders", ["mlp", CONTROL], [*PLAIN, CONTROL], [*PLAIN, CONTROL]),
        Knob("depths", "hidden layers", [2], [2, 3], [2, 3, 4, 5, 6]),
        Knob("transformer_depths", "blocks of the transformer", [1], [2], [2, 3, 4, 5]),
        Knob("transformer_heads", "its heads", 2, 2, 4),
        Knob("transformer_steps", "training steps of the transformer, which cost ten of another's", 100, 900, 3125),
        Knob("mlp_width", "hidden units a layer of the MLP", 64, 128, 256),
        Knob("cnn_width", "channels of the CNN", 8, 16, 64),
        Knob("transformer_width", "numbers a token of the transformer", 8, 16, 128),
        Knob("coordinate_width", "hidden units of the coordinate net", 32, 48, 256),
        *recipe_knobs_of(
            Recipe(steps=150, tasks=32, learning_rate=5e-3, weight_decay=0.01, evaluations=1),
            Recipe(steps=3000, tasks=32, learning_rate=3e-3, weight_decay=0.01, evaluations=2), PUBLISHED,
        ),
    )  # fmt: skip
    controls = {"indifferent": {"task": "bumps-indifferent-v1"}, "lookup": {"task": "bumps-lookup-v1"}}
    claims = (
        *(
            Claim(
                f"{net}-fails", f"{words} err at least 5 times as much on unseen combinations, whatever code and depth",
                OURS if net == "pixel-transformer" else SOURCE, "at least", 5.0, lambda t, n=net: least_failure(t, n),
                "held-out error by error on trained combinations (at least .02), least over codes and depths",
                "indifferent",
            )
            for net, words in PLAIN.items()
        ),
        Claim(
            "fails-as-if-blank", "What MLPs and CNNs draw there is at least half as wrong as an empty picture", SOURCE,
            "at least", 0.5, least_error, "held-out error, least over nets, codes and depths", "indifferent",
        ),
        Claim(
            "coordinates-compose", "A net that shares its weights over pixels and knows where they are does not fail",
            f"{SOURCE}, public code", "at most", COMPOSES, control_error,
            "held-out error of the coordinate net, worst over codes and depths", "lookup",
        ),
    )  # fmt: skip
    questions = tuple(
        Question(f"{net}-localized", f"{words}: most held-out bumps in the right place",
                 lambda t, n=net: most_localized(t, n), "share within one pixel, most over codes and depths")
        for net, words in (*PLAIN.items(), (CONTROL, "Coordinate nets"))
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        names, codes, depths = settings.pop("nets"), settings.pop("encodings"), settings.pop("depths")
        blocks, heads, steps = (settings.pop(f"transformer_{name}") for name in ("depths", "heads", "steps"))
        widths = {
            "mlp": settings.pop("mlp_width"), "cnn-decoder": settings.pop("cnn_width"),
            "pixel-transformer": settings.pop("transformer_width"), CONTROL: settings.pop("coordinate_width"),
        }  # fmt: skip
        check_choices("nets", names, widths)
        check_choices("encodings", codes, picture_trial.codes())
        check_numbers("depths", depths)
        check_numbers("transformer_depths", blocks)
        base = {"seed": seed, "support_options": {}, **settings}
        specs = []
        for net in names:
            for depth in blocks if net == "pixel-transformer" else depths:
                made = picture_trial.decoder(net, settings["size"], width=widths[net], depth=depth)
                if net == "pixel-transformer":
                    made |= {"net_options": {"heads": heads}, "steps": steps}
                specs += [base | made | {"encoding": code} for code in codes]
        return specs

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        sentences = {
            f"{net}-fails": (
                f"{words} fail on unseen combinations, whatever the code",
                f"{words} draw some unseen combinations nearly as well as trained ones",
            )
            for net, words in PLAIN.items()
        }
        sentences["coordinates-compose"] = (
            "a net that shares its weights over pixels does not fail",
            "a net that shares its weights over pixels fails, too",
        )
        return trial.told(outcomes, sentences, "Whether factorized inputs are enough is not settled at this scale.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty or (scores := trial.final(table, "error", "held_out", "")).empty:
            return []
        trained = trial.final(table, "error", "test", "").set_index("cell").value
        order = list(dict.fromkeys(f"{row.net}, {row.depth}" for row in scores.itertuples()))
        rows = [
            {"net": f"{row.net}, {row.depth}", "series": row.encoding, "seed": int(row.seed),
             "value": row.value / max(float(trained[row.cell]), picture_trial.FLOOR)}
            for row in scores.itertuples()
        ]  # fmt: skip
        return [
            Figure(
                "How much worse on unseen combinations",
                "Held-out error by the error on trained combinations (which counts as at least .02), by net, depth and "
                "code; a point a seed. At 1 a net draws what it never saw as well as what it saw.",
                picture_charts.ratio_dots(rows, "net", order, list(dict.fromkeys(scores.encoding)),
                                          value_title="held-out error by trained error"),
            )
        ]  # fmt: skip


studies.register("factorized-fails")(FactorizedFails())
