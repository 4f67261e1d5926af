"""phase: where composition begins, on a map of coverage and width.

    recombine run phase                         laptop: about 3 minutes on two cores
    expected: below a coverage no width helps; above it width decides

The map is ours, over the hyperteacher of Redhardt, Akram, Schug 2025: its Figure 2 shows the axes one at a time. The
thresholds were written before any run. `paper` scale is the published net, recipe and family (M=16, K=3, 4 layers).
Scores below zero count as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..intervals import over_seeds
from ..lab.store import Record, Table
from ..lab.study import Figure, Knob, check_numbers, recipe_knobs, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..training import Recipe
from . import charts, trial
from .trial import TRAINED_BY, TrialStudy

SOURCE = "ours, after Redhardt, Akram, Schug 2025 (arXiv 2507.07207), Fig. 2"
BEGINS = 0.8  # the score at which composition is said to begin, on the map


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def grid_of(table: Table, metric: str = "r2") -> Table:
    """Held-out scores, a row a width (rising) and a column a share of trained combinations (rising)."""
    part = trial.composition(table, metric)
    part = part.assign(trained=(1 - part.held_out).round(4))
    scores = part.pivot_table(index="width", columns="trained", values="value").sort_index(axis=0).sort_index(axis=1)
    if scores.empty or scores.isna().any(axis=None):
        raise NotMet("the map has holes: cells that were not run, diverged or are impossible")
    if min(scores.shape) < 2:
        raise NotMet("a map takes at least two coverages and two widths")
    return scores


def best_at_lowest(table: Table) -> float:
    """The best score of any width at the lowest coverage."""
    return float(grid_of(table).iloc[:, 0].max())


def spread_at_highest(table: Table) -> float:
    """Score of the widest net minus that of the narrowest at the highest coverage."""
    column = grid_of(table).iloc[:, -1]
    return float(column.iloc[-1] - column.iloc[0])


def coverage_where_it_begins(table: Table) -> float:
    """The smallest coverage at which the widest net reaches BEGINS."""
    row = grid_of(table).iloc[-1]
    above = row.index[row >= BEGINS]
    if above.empty:
        raise NotMet(f"the widest net never reaches {BEGINS}")
    return float(above[0])


class Phase(TrialStudy):
    """The map of the field: held-out score over coverage and width, with the line where composition begins."""

    id = "phase"
    version = 1
    title = "Where does composition begin?"
    question = (
        "How much has to be trained, and how wide must a network be, before combinations never seen come out right?"
    )
    source = SOURCE
    varied = ("held_out", "width")
    running_time = {"smoke": "30 seconds", "laptop": "3 minutes on two cores", "paper": "about 2 GPU-days"}
    knobs = (
        Knob("task", "which world; lookup-v1 and indifferent-v1 are controls", *("hyperteacher-v1",) * 3),
        Knob("modules", "M, modules of the teacher", 8, 12, 16),
        Knob("at_most", "K, most modules active at once", 2, 3, 3),
        Knob("held_out", "shares of the combinations held out", [0.25, 0.7], [0.25, 0.5, 0.75, 0.85, 0.92, 0.96],
             [0.125, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98]),
        Knob("encoding", "how a combination is shown", *("identity",) * 3),
        Knob("support", "how training combinations are chosen", *("random",) * 3),
        Knob("widths", "hidden units a layer", [8, 96], [16, 32, 64, 128, 256],
             [16, 32, 64, 128, 256, 512, 1024, 2048]),
        Knob("depth", "hidden layers", 2, 3, 4),
        *recipe_knobs(
            Recipe(steps=500, evaluations=1), Recipe(steps=2500, evaluations=2), Recipe.published(), TRAINED_BY
        ),
    )  # fmt: skip
    controls = {"lookup": {"task": "lookup-v1"}, "indifferent": {"task": "indifferent-v1"}}
    claims = (
        Claim(
            "no-width-helps", "At the lowest coverage no width reaches a held-out R2 of .5", SOURCE, "at most", 0.5,
            best_at_lowest, "best held-out R2 of any width at the lowest coverage", "indifferent",
        ),
        Claim(
            "width-decides", "At the highest coverage the widest net is better than the narrowest by at least .2",
            SOURCE, "at least", 0.2, spread_at_highest,
            "held-out R2, widest minus narrowest, at the highest coverage", "lookup",
        ),
    )  # fmt: skip
    questions = (
        Question(
            "begins", f"Share of combinations that has to be trained until the widest net reaches {BEGINS}",
            coverage_where_it_begins, "smallest coverage tried at which the widest net reaches it",
        ),
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        widths, shares = settings.pop("widths"), settings.pop("held_out")
        check_numbers("widths", widths)
        check_numbers("held_out", shares)
        base = {"seed": seed, "net": "mlp", **settings}
        return [base | {"width": w, "held_out": share} for w in sorted(widths, reverse=True) for share in shares]

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        sentences = {
            "no-width-helps": (
                "at the lowest coverage no width reaches half of the variance",
                "a wide net composes in part even at the lowest coverage tried",
            ),
            "width-decides": (
                "where coverage is high, width decides",
                "where coverage is high, width makes little difference",
            ),
        }
        return trial.told(outcomes, sentences, "The map is not settled at this scale.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty or trial.final(table, self.metric).empty:
            return []
        part = trial.final(table, self.metric)
        rows = []
        for (share, width), cell in sorted(part.groupby(["held_out", "width"]), key=lambda item: -item[0][0]):
            interval = over_seeds(list(cell.value.dropna()))
            rows.append({"width": int(width), "trained": _percent(1 - share), "value": interval.mean,
                         "low": interval.low, "high": interval.high, "seeds": interval.seeds})  # fmt: skip
        return [
            Figure(
                "Where composition begins",
                "Held-out R² (mean over seeds) by how much was trained and how wide the net is. The line runs where it "
                f"reaches {BEGINS}: composition lies above it and to its right."
                + ("" if any(row["value"] >= BEGINS for row in rows) else " It is reached nowhere here."),
                charts.heat(rows, "trained", "width", "share of combinations trained", "hidden units a layer",
                            "held-out R²", begins=BEGINS),
            )
        ]  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:g} %" if share >= 0.1 else f"{100 * share:.1f} %"


studies.register("phase")(Phase())
