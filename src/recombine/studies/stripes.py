"""stripes: do stripes in the training data teach a decoder to compose? ("Plan B")

    recombine run stripes                       laptop: about 5 minutes on two cores
    expected: stripes teach a CNN where a bump goes and how two stripes combine, and an MLP only where

Liang, Qian, Ziyin, Fiete 2025 add full-length stripes to bumps around a hole: a stripe crosses the hole and holds no
combination of it. The public code contains no stripes and the paper's recipe was not at hand, so the recipe (all 2N
stripes, the code of the missing factor, the mask) is ours, and so are all thresholds; they were written before any run
of this study, after a prototype in the notes (14) that saw stripes teach an MLP where, and not how to combine.
Every claim says which of two readings it is about: the error of pixels, or whether a bump is put in the right place.

Cells: stripes x bumps; and, with all of both, stripes masked inside the hole (do they teach drawing, or merely put ink
there?), other codes of the missing factor, and one kind of picture first, for half of the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..intervals import over_seeds
from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, check_choices, check_numbers, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..supports.regions import donut_range
from ..training import Recipe
from . import charts, picture_charts, picture_trial, trial
from .picture_trial import COMPOSES, PUBLISHED, SOURCE, PictureStudy, recipe_knobs_of

OURS = f"ours, after {SOURCE}"
LOCALIZED = 0.6  # share of bumps in the right place that counts as success (the 2024 paper of the same authors)
#: what a variant changes, beside the grid of numbers of stripes and bumps
VARIANTS: dict[str, dict[str, Any]] = {
    "mixed": {},
    "masked": {"masked": True},
    "absent-mean": {"encoding_options": {"absent": "mean"}},
    "off-frame": {"encoding": "margin", "encoding_options": {"absent": "off-frame"}},
    "off-frame-zeros": {"encoding": "margin", "encoding_options": {"absent": "zeros"}},
    "stripes-then-bumps": {"stages": ["stripes", "bumps"]},
    "stripes-then-both": {"stages": ["stripes", "both"]},
    "bumps-then-both": {"stages": ["bumps", "both"]},
}
WORDS = {
    "mixed": "stripes and bumps mixed", "masked": "stripes masked in the hole", "absent-mean": "mean code if missing",
    "off-frame": "off-frame code if missing", "off-frame-zeros": "the same code, zeros if missing",
    "stripes-then-bumps": "stripes, then bumps", "stripes-then-both": "stripes, then both",
    "bumps-then-both": "bumps, then both",
}  # fmt: skip


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def chosen(table: Table, net: str, *, stripes: str, bumps: int | str = "all", variant: str = "mixed") -> Table:
    """The one trial of a net with no or all stripes, and a number of bumps; NotMet if it was not run."""
    part = table[(table.net == net) & (table.variant == variant)]
    wanted = part[(part.stripes == (0 if stripes == "none" else part.stripes.max()))]
    wanted = wanted[wanted.bumps == (part.bumps.max() if bumps == "all" else bumps)]
    if wanted.empty:
        raise NotMet(f"{net} with {stripes} stripes and {bumps} bumps, {variant}, was not run")
    return wanted


def held_out(table: Table, metric: str, net: str, **which: Any) -> float:
    """The held-out score of a trial."""
    return picture_trial.score(chosen(table, net, **which), metric, "held_out", f"{net} with {which}")


def nets_of(table: Table) -> list[str]:
    return list(dict.fromkeys(table.net))


def least_error(table: Table) -> float:
    """Held-out error with all stripes and all bumps, least over nets: the best that stripes do."""
    return min(held_out(table, "error", net, stripes="all") for net in nets_of(table))


def gain_of_place(table: Table) -> float:
    """What all stripes add to the share of held-out bumps in the right place, least over nets."""
    return min(
        held_out(table, "localized", net, stripes="all") - held_out(table, "localized", net, stripes="none")
        for net in nets_of(table)
    )


def error_ratio(table: Table, net: str) -> float:
    """Held-out error of a net with all stripes by that without any."""
    return held_out(table, "error", net, stripes="all") / held_out(table, "error", net, stripes="none")


def loss_of_error(table: Table) -> float:
    """Held-out error with all stripes by that without any, geometric mean over nets."""
    return float(np.exp(np.mean([np.log(error_ratio(table, net)) for net in nets_of(table)])))


def loss_by_mask(table: Table) -> float:
    """What masking the stripes in the hole takes from the share in the right place, mean over nets."""
    return float(np.mean([
        held_out(table, "localized", net, stripes="all") -
        held_out(table, "localized", net, stripes="all", variant="masked")
        for net in nets_of(table)
    ]))  # fmt: skip


def place_with_few(table: Table) -> float:
    """Share in the right place with all stripes and the fewest bumps above none, least over nets."""
    few = table[table.bumps > 0].bumps.min()
    return min(held_out(table, "localized", net, stripes="all", bumps=int(few)) for net in nets_of(table))


def difference(variant: str, than: str, metric: str) -> Any:
    def read(table: Table) -> float:
        values = [
            held_out(table, metric, net, stripes="all", variant=variant)
            - held_out(table, metric, net, stripes="all", variant=than)
            for net in nets_of(table)
        ]
        return float(np.mean(values))

    return read


class Stripes(PictureStudy):
    """Bumps and stripes: what the data teaches of where, and of how two factors combine."""

    id = "stripes"
    version = 1
    title = "Do stripes teach a decoder to compose?"
    question = (
        "If the training data shows each factor alone, as a stripe, does a plain decoder draw unseen combinations?"
    )
    source = SOURCE
    varied = ("net", "variant", "stripes", "bumps")
    running_time = {"smoke": "1 minute", "laptop": "5 minutes on two cores", "paper": "about 6 GPU-hours"}
    knobs = (
        Knob("task", "which world; the lookup one is the control", *("bumps-and-stripes-v1",) * 3),
        Knob("size", "pixels along a side, and places along a factor", 8, 12, 28),
        Knob("encoding", "code of the coordinates", *("one-hot",) * 3),
        Knob("nets", "decoders", ["mlp"], ["mlp", "cnn-decoder"], ["mlp", "cnn-decoder"]),
        Knob("stripes", "shares of the 2N stripes", [0.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.125, 0.25, 0.5, 1.0]),
        Knob("bumps", "numbers of bumps; what is more than there are counts as all", [10, 500], [0, 10, 50, 500],
             [0, 10, 50, 100, 250, 500]),
        Knob("variants", "other ways, with all stripes and bumps", ["masked", "stripes-then-bumps"],
             *(list(VARIANTS)[1:],) * 2),
        Knob("mlp_width", "hidden units a layer of the MLP", 64, 128, 256),
        Knob("mlp_depth", "hidden layers of the MLP", 2, 3, 3),
        Knob("cnn_width", "channels of the CNN", 8, 16, 64),
        Knob("cnn_depth", "hidden layers of the CNN", 2, 3, 8),
        *recipe_knobs_of(
            Recipe(steps=200, tasks=32, learning_rate=5e-3, weight_decay=0.01, evaluations=1),
            Recipe(steps=1500, tasks=32, learning_rate=3e-3, weight_decay=0.01, evaluations=1), PUBLISHED,
        ),
    )  # fmt: skip
    controls = {"lookup": {"task": "bumps-and-stripes-lookup-v1"}}
    claims = (
        Claim(
            "stripes-cure", "With all stripes and bumps a plain decoder draws unseen bumps: the error is at most .1",
            SOURCE, "at most", COMPOSES, least_error, "held-out error with all stripes and bumps, best net", "lookup",
        ),
        Claim(
            "stripes-lower-the-error", "Stripes halve the held-out error of pixels", SOURCE,
            "at most", 0.5, loss_of_error,
            "held-out error with all stripes by that with none, geometric mean over nets", "lookup",
        ),
        Claim(
            "stripes-teach-where", "Stripes put at least 40 % more of the unseen bumps in the right place", OURS,
            "at least", 0.4, gain_of_place, "share localized with all stripes minus with none, least over nets",
            "lookup",
        ),
        Claim(
            "ink-is-needed",
            "Stripes teach where by their ink in the hole: masked there, .3 of the places are lost", OURS,
            "at least", 0.3, loss_by_mask, "share localized, full minus masked stripes, mean over nets", "lookup",
        ),
        Claim(
            "few-bumps-suffice", "With all stripes, ten bumps are enough to put 60 % of the unseen ones in place",
            SOURCE, "at least", LOCALIZED, place_with_few,
            "share localized with all stripes and the fewest bumps, least over nets", "lookup",
        ),
    )  # fmt: skip
    questions = (
        *(
            Question(f"{net}-error", f"Held-out error with all stripes by that without, {net}",
                     lambda t, n=net: error_ratio(t, n), "held-out error with all stripes by that with none")
            for net in ("mlp", "cnn-decoder")
        ),
        *(Question(
            f"{variant}-{metric}", f"{charts.title(WORDS[variant])} against {WORDS[than]}: {words}",
            difference(variant, than, metric), f"{words}, difference, mean over nets",
        )
        for variant, than in (("absent-mean", "mixed"), ("off-frame", "off-frame-zeros"),
                              ("stripes-then-bumps", "mixed"), ("stripes-then-both", "mixed"),
                              ("bumps-then-both", "mixed"))
        for metric, words in (("error", "held-out error"), ("localized", "share of held-out bumps in place"))),
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        names, shares, numbers, variants = (settings.pop(name) for name in ("nets", "stripes", "bumps", "variants"))
        sizes = {
            "mlp": {"width": settings.pop("mlp_width"), "depth": settings.pop("mlp_depth")},
            "cnn-decoder": {"width": settings.pop("cnn_width"), "depth": settings.pop("cnn_depth")},
        }
        check_choices("nets", names, sizes)
        check_choices("variants", variants, list(VARIANTS)[1:])
        check_numbers("stripes", shares)
        check_numbers("bumps", numbers)
        size = settings["size"]
        space = trial.build_space({"task": settings["task"], "size": size})
        hole = donut_range(space, None, None)
        around = size**2 - (hole[1] - hole[0] + 1) ** 2
        counts = sorted({round(2 * size * share) for share in shares})
        bumps = sorted({min(number, around) for number in numbers})
        base = {"seed": seed, "support": "bumps-and-stripes", **settings}
        decoders = {net: picture_trial.decoder(net, size, **sizes[net]) for net in names}
        specs = []
        for net in names:
            for stripes in counts:
                for number in bumps:
                    if stripes or number:
                        specs.append(base | decoders[net] | self._data("mixed", stripes, number))
            if counts[-1] and bumps[-1]:
                for variant in variants:
                    changes = dict(VARIANTS[variant])
                    if changes.pop("masked", False):
                        changes["task_options"] = {"mask": list(hole)}
                    specs.append(base | decoders[net] | self._data(variant, counts[-1], bumps[-1]) | changes)
        return specs

    @staticmethod
    def _data(variant: str, stripes: int, bumps: int) -> dict[str, Any]:
        return {"variant": variant, "stripes": stripes, "bumps": bumps,
                "support_options": {"stripes": stripes, "bumps": bumps}}  # fmt: skip

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        if "stages" not in spec:
            return picture_trial.measure(spec, context)
        first, last = (spec | {"support_options": _support_options(spec, stage)} for stage in spec["stages"])
        return picture_trial.measure(last, context, first=first)

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        by_net = ""
        if outcomes.get("stripes-lower-the-error") in ("supported", "refuted"):  # one mean hides that nets differ
            by_net = "; ".join(
                f"{net}: {np.mean([error_ratio(part, net) for _, part in table.groupby('seed')]):.2g} times"
                for net in nets_of(table)
            )
        sentences = {
            "stripes-cure": (
                "with stripes the best plain decoder draws unseen bumps",
                "even with stripes no plain decoder draws unseen bumps",
            ),
            "stripes-lower-the-error": (
                f"over nets stripes halve the error of pixels ({by_net})",
                f"over nets stripes do not halve the error of pixels ({by_net})",
            ),
            "stripes-teach-where": ("they teach where a bump goes", "they do not teach where a bump goes"),
            "ink-is-needed": ("they do so by their ink in the hole", "they do so without ink in the hole, too"),
        }
        return trial.told(outcomes, sentences, "What stripes teach is not settled at this scale.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty:
            return []
        figures = []
        for net in nets_of(table):
            for metric, name in (("localized", "share of held-out bumps in place"), ("error", "held-out error")):
                part = trial.final(table, metric, "held_out", "")
                part = part[(part.net == net) & (part.variant == "mixed")]
                rows = []
                for (bumps, stripes), cell in sorted(part.groupby(["bumps", "stripes"]), key=lambda item: item[0]):
                    interval = over_seeds(list(cell.value.dropna()))
                    rows.append({"bumps": int(bumps), "stripes": int(stripes), "value": interval.mean,
                                 "low": interval.low, "high": interval.high, "seeds": interval.seeds})  # fmt: skip
                if rows:
                    figures.append(Figure(
                        f"{charts.title(name)}, {net}",
                        f"{charts.title(name)} (mean over seeds) by how many bumps and stripes were trained.",
                        picture_charts.grid_heat(rows, "bumps", "stripes", "bumps trained", "stripes trained", name),
                    ))  # fmt: skip
        part = trial.final(table, "localized", "held_out", "")
        part = part[(part.stripes == part.stripes.max()) & (part.bumps == part.bumps.max())]
        rows = [{"variant": WORDS[row.variant], "series": row.net, "seed": int(row.seed), "value": row.value}
                for row in part.itertuples()]  # fmt: skip
        order = [WORDS[name] for name in VARIANTS if name in set(part.variant)]
        if len(order) > 1:
            figures.append(Figure(
                "Other ways to show stripes",
                "Share of held-out bumps in place, with all stripes and bumps; a point a seed.",
                charts.dots(rows, "variant", order, nets_of(table), "share in place", top=1.0),
            ))  # fmt: skip
        return figures


def _support_options(spec: dict[str, Any], stage: str) -> dict[str, Any]:
    """What is trained on in a stage: one kind of picture, or both."""
    only = {"stripes": {"bumps": 0}, "bumps": {"stripes": 0}, "both": {}}[stage]
    return spec["support_options"] | only


studies.register("stripes")(Stripes())
