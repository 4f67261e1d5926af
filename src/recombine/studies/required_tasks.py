"""required-tasks: how many combinations must be trained until the others follow?

    recombine run required-tasks                laptop: about 10 minutes on two cores
    expected: the number grows slower than the space, sub-exponentially in K; the transformer needs fewer than the MLP

The claims are those of Figures 2 (top right) and 10 of Redhardt, Akram, Schug 2025: training combinations needed for
a held-out R^2 above .95, under balanced supports, against the size of the space. `paper` scale is its grid of shares
(M from 10 to 28, K in 4, 5, 6, fifteen shares, MLP and transformer, three seeds). At the other scales the number is
found by bisection on a logarithmic axis, which is ours, as are the readings that decide and their thresholds; and,
since minutes of training reach .95 on few families, the score that is asked for there is the knob `threshold`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UserError, require_int
from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, check_choices, check_numbers, recipe_knobs, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..spaces import Subsets
from ..training import Recipe
from . import charts, trial
from .bisection import expected_tries, smallest_enough
from .trial import TRAINED_BY, TrialStudy

PAPER = "Redhardt, Akram, Schug 2025 (arXiv 2507.07207), Fig. 2 and 10"
NETS = ("mlp", "transformer")
SHARES = [0.9, 0.95, 0.98, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.99975, 0.9999, 0.99995, 0.999975, 0.99999, 0.999995,
          0.999999]  # fmt: skip
MOST_TRAINED = 0.9  # a tenth is always held out: without it nothing could be scored


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def required(table: Table) -> Table:
    """Smallest number of trained combinations that was enough, a row a net, M and K; NaN where no number was.

    `most` is the largest number tried, `size` that of the space. NotMet if a net diverged on the way.
    """
    import pandas

    rows = []
    tried = table[table.reading == "tried"]
    for (net, modules, active), part in tried.groupby(["net", "modules", "at_most"]):
        if part.value.isna().any():
            raise NotMet(f"the {net} diverged at M={modules}, K={active}")
        enough = part[part.value > part.threshold.iloc[0]].trained_on
        rows.append({"net": net, "modules": int(modules), "at_most": int(active),
                     "size": Subsets(int(modules), int(active)).size, "most": int(part.trained_on.max()),
                     "needed": float(enough.min()) if len(enough) else math.nan})  # fmt: skip
    if not rows:
        raise NotMet("no split was possible")
    return pandas.DataFrame(rows)


def curves_over_k(table: Table, net: str = "mlp") -> list[Table]:
    """For each M, what was needed by K; NotMet unless three values of K were tried and enough was found for each."""
    found = required(table)
    curves = [part.sort_values("at_most") for _, part in found[found.net == net].groupby("modules")]
    curves = [part for part in curves if len(part) >= 3]
    if not curves:
        raise NotMet("it takes three values of K")
    for part in curves:
        lost = part[part.needed.isna()]
        if len(lost):
            where = f"M={lost.modules.iloc[0]}, K={lost.at_most.iloc[0]}"
            raise NotMet(f"no number was enough for the {net} at {where}: it takes more training")
    return curves


def size_exponent(table: Table) -> float:
    """Exponent b of needed ~ size^b over K, fitted on logarithms within each M and averaged; the MLP."""
    slopes = [np.polyfit(np.log(part["size"]), np.log(part.needed), 1)[0] for part in curves_over_k(table)]
    return float(np.mean(slopes))


def fit_gain(table: Table, column: str = "needed") -> float:
    """Squared residual of the exponential fit minus that of the power fit, of log(column) against K and log K."""
    gains = []
    for part in curves_over_k(table):
        y, k = np.log(part[column].to_numpy(float)), part.at_most.to_numpy(float)
        residuals = [np.polyfit(x, y, 1, full=True)[1].sum() for x in (k, np.log(k))]
        gains.append(float(residuals[0] - residuals[1]))
    return float(np.mean(gains))


def fewer(table: Table) -> float:
    """log2 of how many times more combinations the MLP needs than the transformer, mean over M and K.

    Where no number was enough for the MLP it needs at least the most that was tried, which is what counts.
    """
    by_net = {net: part.set_index(["modules", "at_most"]) for net, part in required(table).groupby("net")}
    if set(by_net) != set(NETS):
        raise NotMet("it takes both nets")
    mlp, transformer = (by_net[net] for net in NETS)
    mlp, transformer = mlp.align(transformer, join="inner", axis=0)
    managed: Any = mlp.needed.notna() | transformer.needed.notna()
    if not managed.any():
        raise NotMet("no number of combinations was enough for either net: it takes more training")
    if transformer.needed[managed].isna().any():
        raise NotMet("no number was enough for the transformer where one was for the mlp: it takes more training")
    return float(np.log2(mlp.needed.fillna(mlp.most)[managed] / transformer.needed[managed]).mean())


class RequiredTasks(TrialStudy):
    """Training combinations needed until held-out ones follow, MLP against transformer, by the size of the space."""

    id = "required-tasks"
    version = 1
    title = "How many combinations must be trained?"
    question = "How does the number of combinations that must be trained grow with the number there are?"
    source = PAPER
    history = (
        "After first cells K = 2 was left out at laptop scale, which cannot reach .9 there, and the claim of sub- "
        "exponential growth, which a net that needs a fixed share would have met, became one on the exponent "
        "against the size of the space."
    )
    running_time = {"smoke": "40 seconds", "laptop": "10 minutes on two cores", "paper": "about 20 GPU-days"}
    knobs = (
        Knob("task", "which world; lookup-v1 and indifferent-v1 are controls", *("hyperteacher-v1",) * 3),
        Knob("nets", "which networks", *(list(NETS),) * 3),
        Knob("modules", "M: modules of the teacher", [6], [10], list(range(10, 29, 2))),
        Knob("at_most", "K: most modules active at once", [3], [3, 4, 5, 6], [4, 5, 6]),
        Knob("threshold", "held-out R2 that is asked for", 0.3, 0.9, 0.95),
        Knob("method", "bisection, or grid of shares", "bisection", "bisection", "grid"),
        Knob("shares", "for the grid: shares held out", *(SHARES,) * 3),
        Knob("width", "hidden units a layer of the mlp", 64, 256, 1024),
        Knob("depth", "hidden layers of the mlp", 2, 3, 4),
        Knob("model", "width of the transformer", 16, 64, 256),
        Knob("blocks", "layers of the transformer", 1, 2, 4),
        Knob("heads", "heads of the transformer", 2, 4, 4),
        Knob("transformer_rate", "peak learning rate of the transformer", 6e-3, 6e-3, 3e-4),
        Knob("transformer_decay", "weight decay of the transformer", 0.1, 0.1, 3e-3),
        *recipe_knobs(
            Recipe(steps=300, evaluations=1), Recipe(steps=1500, evaluations=1), Recipe.published(), TRAINED_BY
        ),
    )
    controls = {"lookup": {"task": "lookup-v1"}, "indifferent": {"task": "indifferent-v1"}}
    claims = (
        Claim(
            "sub-exponential",
            "The number needed is sub-exponential in K: it grows as the space to a power of at most .5",
            PAPER, "at most", 0.5, size_exponent,
            "exponent of needed against the size of the space, over K at fixed M, mean over M, mlp", "lookup",
        ),
        Claim(
            "transformer-needs-fewer", "The transformer needs fewer, by at least a quarter of an octave", PAPER,
            "at least", 0.25, fewer, "log2 of needed by the mlp over needed by the transformer, mean over M and K",
            "indifferent",
        ),
    )  # fmt: skip
    questions = (
        Question(
            "power-against-exponential", "How much better a power of K fits what is needed than an exponential in K",
            fit_gain, "squared residual of the logarithm, exponential minus power fit, mean over M, mlp",
        ),
        Question(
            "power-against-exponential-space", "The same for the size of the space, to compare with",
            lambda t: fit_gain(t, "size"),
            "squared residual of the logarithm, exponential minus power fit, mean over M, mlp",
        ),
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        chosen, modules, active, method, shares = (
            settings.pop(name) for name in ("nets", "modules", "at_most", "method", "shares")
        )
        check_choices("nets", chosen, NETS)
        check_choices("method", [method], ("bisection", "grid"))
        for name, values in (("modules", modules), ("at_most", active), ("shares", shares)):
            check_numbers(name, values)
        for m in modules:
            require_int("modules", m, at_least=3)
        if not 0 < settings["threshold"] < 1:
            raise UserError(f"threshold={settings['threshold']} must lie between 0 and 1")
        sizes = {
            "mlp": {name: settings.pop(name) for name in ("width", "depth")},
            "transformer": {"width": settings.pop("model"), "depth": settings.pop("blocks"),
                            "learning_rate": settings.pop("transformer_rate"),
                            "weight_decay": settings.pop("transformer_decay")},
        }  # fmt: skip
        options = {
            "transformer": {"heads": settings.pop("heads"), "feedforward": 4 * sizes["transformer"]["width"],
                            # with one sample a task in training, as many as are scored would be new to it
                            "together": settings["samples"] != 1},
        }  # fmt: skip
        base = {"seed": seed, "encoding": "identity", "support": "balanced", **settings}
        return [
            base | sizes[net] | {"net": net, "net_options": options.get(net, {}), "modules": m, "at_most": k,
                                 "method": method, "held_out": share}
            for m in sorted(modules, reverse=True) for k in sorted(active, reverse=True) for net in chosen
            for share in (shares if method == "grid" else [1 - MOST_TRAINED])
        ]  # fmt: skip

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        if spec["method"] == "grid":
            share = spec["held_out"]
            space = trial.build_space(spec)
            found = self._try(spec, space.size - int(space.size * share), context)
            return Measured([found[0]] if found else [], {"seconds": found[1] if found else 0.0})
        return self._bisect(spec, context)

    def _bisect(self, spec: dict[str, Any], context: Context) -> Measured:
        """Tries numbers of training combinations until the smallest that is enough is known within CLOSE."""
        size = trial.build_space(spec).size
        most = int(MOST_TRAINED * size)
        # fewest that can use and connect every module, each combination adding at most K - 1 of them
        low = max(1, math.ceil((spec["modules"] - 1) / max(spec["at_most"] - 1, 1)) - 1)
        tried: list[dict[str, Any]] = []
        seconds = 0.0

        def enough(n: int) -> bool:
            nonlocal seconds
            context.progress(min(len(tried) / expected_tries(low, most), 0.95), f"{n} of {size}")
            found = self._try(spec, n, Context())
            if found is None:
                return False  # an impossible split is not enough
            tried.append(found[0])
            seconds += found[1]
            return found[0]["value"] > spec["threshold"]

        needed = smallest_enough(low, most, enough)
        return Measured(tried, {"seconds": seconds, "needed": needed})

    def _try(self, spec: dict[str, Any], n: int, context: Context) -> tuple[dict[str, Any], float] | None:
        """Trains on `n` combinations: the reading, and the seconds that it took; None if there is no such split."""
        size = trial.build_space(spec).size
        found = trial.measure(spec | {"held_out": (size - n + 0.5) / size}, context, probe=False)
        if "impossible" in found.facts:
            return None
        diverged = found.facts["diverged_at"] is not None
        reading = {"reading": "tried", "metric": self.metric, "trained_on": found.facts["trained_on"],
                   "value": float("nan") if diverged else found.facts["held_out"],
                   "trained_score": None if diverged else found.facts["trained"]}  # fmt: skip
        return reading, found.facts["seconds"]

    def label(self, spec: dict[str, Any]) -> str:
        share = f", {spec['held_out']:g} held out" if spec["method"] == "grid" else ""
        return f"{spec['net']}, M={spec['modules']}, K={spec['at_most']}{share}, seed {spec['seed']}"

    def summary(self, record: Record) -> str:
        if not record.rows:
            return "impossible: no such split"
        spec = record.cell.spec
        best = max(row["value"] for row in record.rows)
        took = f"({len(record.rows)} nets, {record.facts['seconds']:.0f} s)"
        passed = [row["trained_on"] for row in record.rows if row["value"] > spec["threshold"]]
        size = Subsets(spec["modules"], spec["at_most"]).size
        return f"{min(passed)} of {size} were enough {took}" if passed else f"no number was enough: {best:.3f} {took}"

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        falls = outcomes.get("sub-exponential") == "supported" and all(
            size_exponent(part) < 0 for _, part in table.groupby("seed")
        )
        sentences = {
            "sub-exponential": (
                "the number of combinations needed falls as the space grows"
                if falls
                else "the number of combinations needed grows slower than the root of the space",
                "the number of combinations needed grows faster than the root of the space",
            ),
            "transformer-needs-fewer": (
                "the transformer needs fewer than the MLP",
                "the transformer does not need fewer than the MLP",
            ),
        }
        return trial.told(outcomes, sentences, "No claim on numbers is settled at this scale.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        rows, lost = [], 0
        for seed, part in table.groupby("seed") if not table.empty else ():
            try:
                found = required(part)
            except NotMet:
                continue
            lost += int(found.needed.isna().sum())
            found = found[found.needed.notna()]
            rows += [{"size": row.size, "series": row.net, "seed": int(seed), "value": row.needed,
                      "family": f"M = {row.modules}, K = {row.at_most}"}
                     for row in found.itertuples(index=False)]  # fmt: skip
        if not rows:
            return []
        asked = f"{charts.SCORES[self.metric]} above {float(records[0].cell.spec['threshold']):g}"
        return [
            Figure(
                "Combinations needed against combinations there are",
                "Each point is a family and a seed: the smallest number of trained combinations that was enough for "
                f"a held-out {asked}. Both axes are logarithmic; the dashed line would be all of them."
                + (f" {lost} searches found no number that was enough, and are not shown." if lost else ""),
                charts.needed(rows),
            ),
            *self._search(records, asked),
        ]

    def _search(self, records: Sequence[Record], asked: str) -> list[Figure]:
        """What was tried in the largest space."""
        place = max((r.cell.spec["modules"], r.cell.spec["at_most"]) for r in records)
        rows: list[dict[str, Any]] = []
        turns: dict[tuple[str, int], int] = {}
        for record in records:
            spec = record.cell.spec
            who = (spec["net"], int(spec["seed"]))
            if (spec["modules"], spec["at_most"]) != place:
                continue
            for row in record.rows:
                turns[who] = turns.get(who, 0) + 1
                if math.isfinite(row["value"]):
                    rows.append({"trained_on": row["trained_on"], "series": who[0], "seed": who[1],
                                 "turn": turns[who], "value": row["value"]})  # fmt: skip
        if not rows:
            return []
        rows.sort(key=lambda row: (row["series"], row["seed"], row["trained_on"]))
        modules, most = place
        return [
            Figure(
                f"The search, M = {modules} and K = {most}",
                f"Held-out {charts.SCORES[self.metric]} of every net that was trained to find the number, against the "
                f"combinations it was trained on; a line a seed. The number needed is the smallest with {asked} "
                "(dashed).",
                charts.search(rows, float(records[0].cell.spec["threshold"]), charts.SCORES[self.metric]),
            )
        ]


studies.register("required-tasks")(RequiredTasks())
