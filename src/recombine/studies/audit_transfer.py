"""audit-transfer: can failures in one family of worlds be foreseen from failures in others?

    recombine run audit-transfer                laptop: about 5 minutes on two cores
    recombine risk fit runs/audit-transfer-laptop --out prior.json      what ships with the audit

Nets are trained on a few random combinations in three families of worlds and scored on each unseen combination by
itself. A prior is then learned from the coverage of combinations (audit/features.py) in two families, and asked about
the nets of the third, of which it has seen nothing. The thresholds, Spearman .6 and AUROC .8, are those of the audit's
design, written before any run. So is what fails: a combination whose score lies below the 5 % quantile of the same net
over trained combinations, as in the prototype; other marks are questions. Both are read within each net, and averaged
over nets: to rank combinations of different nets is easier.

Ours: bumps have a size as third factor, since of two factors every unseen combination is an unseen pair, and coverage
says nothing more about it. Splits with a module or level left out, or with two blocks, teach the prior what only they
can (levels never trained, groups never combined), and are not part of what is judged.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ..audit import logistic
from ..audit.features import FEATURES
from ..audit.prior import risk_table
from ..audit.risk_model import choose_strength
from ..keys import generator, key_for
from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, Study, check_choices, check_numbers, studies
from ..lab.verdicts import Claim, NotMet, Question
from . import charts, each, families, trial
from .families import FAMILIES

OURS = "ours: the design of the audit, after a prototype"
QUANTILE = 0.05
MARKS = ("quantile", "0.05", "0.1", "0.2")  # the 5 % quantile over trained combinations, or so far below their median
TASKS = {"bumps": "sized-bumps-v1"}  # where it is not the family's own
SUPPORTS = ("missing", "disconnected")  # which teach, and are not judged
#: so that there are enough combinations to rank
_LARGER = {"preferences": Knob("preferences", "M of the preference world", 4, 8, 10),
           "features": Knob("features", "F of the preference world", 4, 8, 16)}  # fmt: skip
_SCORED = 256  # combinations of a side
_LEAST = 5  # combinations that fail, and that hold, where an AUROC is to mean something


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def forecast(table: Table, family: str, mark: str = "quantile") -> Table:
    """Unseen combinations of the judged nets of a family, with the risk that was learned without it."""
    rows = table[table.reading == "combination"]
    own, others = rows[(rows.family == family) & (rows.support == "random")], rows[rows.family != family]
    if own.empty:
        raise NotMet(f"{family} has no scores (not run, failed or diverged)")
    if others.empty:
        raise NotMet(f"there is no other family than {family} to learn from")
    failed = fails(others, mark)
    if not 0 < failed.mean() < 1:
        raise NotMet(f"without {family} all combinations come out alike: there is nothing to learn")
    groups = np.unique(others.cell.to_numpy(str), return_inverse=True)[1]
    names = list(FEATURES)
    model = _learned(others[names].to_numpy(float).tobytes(), failed.tobytes(), groups.tobytes())
    return own.assign(risk=model.probability(own[names].to_numpy(float)), failed=fails(own, mark))


@functools.lru_cache(64)  # every claim asks for the same few
def _learned(values: bytes, failed: bytes, groups: bytes) -> logistic.Logistic:
    x, y = np.frombuffer(values).reshape(-1, len(FEATURES)), np.frombuffer(failed)
    return logistic.fit(x, y, choose_strength(x, y, np.frombuffer(groups, np.int64)))


def fails(rows: Table, mark: str) -> np.ndarray:
    """Which combinations count as failures, as 0 and 1."""
    limit = rows.trained_low if mark == "quantile" else rows.trained_median - float(mark)
    return (rows.value < limit).to_numpy(float)


def rank_correlation(table: Table, family: str) -> float:
    """Spearman's correlation of the risk with how bad the score is, within each net, mean over nets."""
    found = forecast(table, family)
    within = [_spearman(net.risk, -net.value) for _, net in found.groupby("cell")]
    return float(np.mean(within))


def pairs_alone(table: Table, family: str) -> float:
    """The same of the share of unseen pairs, which needs no learning."""
    rows = table[(table.reading == "combination") & (table.family == family) & (table.support == "random")]
    if rows.empty:
        raise NotMet(f"{family} has no scores")
    return float(np.mean([_spearman(net.unseen_pairs, -net.value) for _, net in rows.groupby("cell")]))


def _spearman(a: Any, b: Any) -> float:
    """What does not vary is not ranked: 0."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    found: Any = spearmanr(a, b)
    return float(found.statistic)


def within_auroc(table: Table, family: str, mark: str = "quantile") -> float:
    """AUROC within each net in which some combinations fail and some hold, mean over these nets."""
    found = forecast(table, family, mark)
    within = []
    for _, net in found.groupby("cell"):
        failing = int(net.failed.sum())
        if _LEAST <= failing <= len(net) - _LEAST:
            within.append(logistic.auroc(net.risk.to_numpy(), net.failed.to_numpy()))
    if not within:
        raise NotMet(f"no net of {family} both fails and holds on at least {_LEAST} combinations")
    return float(np.mean(within))


def pooled_auroc(table: Table, family: str) -> float:
    found = forecast(table, family)
    area = logistic.auroc(found.risk.to_numpy(), found.failed.to_numpy())
    if math.isnan(area):
        raise NotMet(f"all combinations of {family} come out alike")
    return area


def miscalibration(table: Table, family: str) -> float:
    found = forecast(table, family)
    return logistic.calibration_error(logistic.calibration(found.risk.to_numpy(), found.failed.to_numpy()))


class AuditTransfer(Study):
    """What was learned about failure in two families, asked about the third."""

    id = "audit-transfer"
    version = 1
    title = "Can failures be foreseen in worlds never seen?"
    question = "Does a forecast of failures that was learned in some families of worlds hold in another?"
    source = OURS
    history = (
        "A first laptop run scored each combination on 32 tasks, which is a coarse score (Spearman .33, .08 and "
        ".41; AUROC .68, .49 and .70); now it is 128."
    )
    running_time = {"smoke": "30 seconds", "laptop": "5 minutes on two cores", "paper": "about 3 hours on two cores"}
    knobs = (
        Knob("families", "worlds", ["hyperteacher", "bumps"], list(FAMILIES), list(FAMILIES)),
        Knob("held_out", "shares of the combinations that are not trained", [0.6, 0.8], [0.7, 0.8, 0.9],
             [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]),
        Knob("told", "truth; shuffled among the combinations of a net is the control", *("truth",) * 3),
        *(_LARGER.get(knob.name, knob) for knob in families.KNOBS),
    )  # fmt: skip
    controls = {"shuffled": {"told": "shuffled"}}
    claims = tuple(
        claim
        for name in FAMILIES
        for claim in (
            Claim(
                f"ranks-{name}", f"A prior learned without {name} ranks combinations there by their score", OURS,
                "at least", 0.6, lambda t, n=name: rank_correlation(t, n),
                "Spearman's correlation of risk and 1 - score over unseen combinations of a net, mean over nets",
                "shuffled",
            ),
            Claim(
                f"tells-{name}", f"A prior learned without {name} tells what fails there from what does not", OURS,
                "at least", 0.8, lambda t, n=name: within_auroc(t, n),
                "AUROC over unseen combinations of a net, mean over nets that fail and hold on at least five each; "
                "what fails lies below the 5 % quantile of trained combinations", "shuffled",
            ),
        )
    )  # fmt: skip
    questions = tuple(
        question
        for name in FAMILIES
        for question in (
            *(
                Question(f"{name}-below-{mark}", f"AUROC in {name} if {mark} below the median of trained ones fails",
                         lambda t, n=name, m=mark: within_auroc(t, n, m), "within nets, mean over nets")
                for mark in MARKS[1:]
            ),
            Question(f"{name}-pooled", f"AUROC in {name} over combinations of all nets",
                     lambda t, n=name: pooled_auroc(t, n), "5 % quantile of trained combinations"),
            Question(f"{name}-calibration", f"Expected calibration error in {name}",
                     lambda t, n=name: miscalibration(t, n), "ten bins, combinations of all nets"),
            Question(f"{name}-pairs-alone", f"Spearman in {name} of the share of unseen pairs alone",
                     lambda t, n=name: pairs_alone(t, n), "within nets, mean over nets"),
        )
    )  # fmt: skip

    def grid(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        check_choices("families", settings["families"], list(FAMILIES))
        check_choices("told", [settings["told"]], ("truth", "shuffled"))
        check_numbers("held_out", settings["held_out"])
        specs = []
        for family in settings["families"]:
            base = families.world(family, settings, TASKS.get(family)) | {"seed": seed, "told": settings["told"]}
            specs += [base | {"support": "random", "held_out": share} for share in settings["held_out"]]
            specs += [base | {"support": name, "held_out": settings["held_out"][0]} for name in SUPPORTS]
        trial.refuse_impossible(specs)
        return specs

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        task, support, metric = trial.build_task(spec), trial.build_support(spec), FAMILIES[spec["family"]].metric
        member = families.train_member(spec, task, support, context)
        facts: dict[str, Any] = {
            "certificate": str(support.certificate()), "seconds": member.seconds, "diverged_at": member.diverged_at,
        }  # fmt: skip
        if member.diverged_at is not None:
            return Measured([], facts)
        rng = generator(key_for("audit-transfer", spec["seed"]))
        trained = support.train.combinations()
        sides = [rows[rng.permutation(len(rows))[:_SCORED]] for rows in (trained, support.held_out.combinations())]
        known, scores = (each.per_combination(task, member.net, rows, metric, spec["seed"]) for rows in sides)
        if spec["told"] == "shuffled":
            scores = rng.permutation(scores)
        low, median = float(np.quantile(known, QUANTILE)), float(np.median(known))
        table = risk_table(task.space, trained, sides[1], scores < low, spec["family"])
        shared = {"reading": "combination", "metric": metric, "trained_low": low, "trained_median": median}
        rows = [
            shared | dict(zip(table["features"], values, strict=True)) | {"value": float(score)}
            for values, score in zip(table["rows"], scores, strict=True)
        ]
        facts |= {"trained": median, "held_out": float(scores.mean()), "failing": float(np.mean(scores < low))}
        return Measured(rows, facts | ({"risk": table} if spec["told"] == "truth" else {}))

    def label(self, spec: dict[str, Any]) -> str:
        split = f"{spec['held_out']:g} held out" if spec["support"] == "random" else spec["support"]
        return f"{spec['family']}, {split}, seed {spec['seed']}"

    def summary(self, record: Record) -> str:
        facts = record.facts
        if "failing" not in facts:
            return f"diverged at step {facts['diverged_at']}"
        return (
            f"trained {facts['trained']:.3f}, held out {facts['held_out']:.3f}, "
            f"{facts['failing']:.0%} of the unseen fail ({facts['seconds']:.0f} s)"
        )

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        said = []
        for claim, holds in (("ranks", "ranks combinations"), ("tells", "tells failures")):
            for outcome, words in (("supported", holds), ("refuted", f"{holds} less well than is wanted")):
                where = [name for name in FAMILIES if outcomes.get(f"{claim}-{name}") == outcome]
                if where:
                    said.append(f"{words} in {charts.listed(where)}")
        if not said:
            return "Whether failures can be foreseen in another family is not settled."
        return f"A forecast that was learned in the other families {'; it '.join(said)}."

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty:
            return []
        figures = []
        found, bars = [], []
        for family in dict.fromkeys(table.family):
            for seed, part in table.groupby("seed"):
                try:
                    one = forecast(part, family)
                except NotMet:
                    continue
                found.append(one)
                for words, measure in (("AUROC", within_auroc), ("Spearman", rank_correlation)):
                    try:
                        value = measure(part, family)
                    except NotMet:
                        continue
                    bars.append({"family": family, "series": words, "seed": int(str(seed)), "value": value})
        if bars:
            figures.append(
                Figure(
                    "How well failures are foreseen in a family that was not learned from",
                    "A point a seed: AUROC and Spearman's correlation within nets, mean over nets.",
                    charts.dots(bars, "family", list(dict.fromkeys(table.family)), ["AUROC", "Spearman"], "value",
                                top=1.0, also=(0.6, 0.8)),
                )
            )  # fmt: skip
        for one in found[:: max(len(set(table.seed)), 1)]:
            family = str(one.family.iloc[0])
            rows = [
                {"bin": round(float(bin.said), 3), "series": "happened", "seed": int(one.seed.iloc[0]),
                 "value": bin.happened, "combinations": bin.combinations}
                for bin in logistic.calibration(one.risk.to_numpy(), one.failed.to_numpy())
            ]  # fmt: skip
            rows += [dict(row, series="as said", value=row["bin"]) for row in rows]
            figures.append(
                Figure(
                    f"{charts.title(family)}: what was said, and what happened",
                    "Unseen combinations of all nets of the first seed in ten bins of risk: the share that fails, and "
                    "what was said of them by a prior that was learned without this family.",
                    charts.curves(rows, "bin", "risk that was said", "share that fails", ["happened", "as said"],
                                  x_format=".2f"),
                )
            )  # fmt: skip
        return figures


studies.register("audit-transfer")(AuditTransfer())
