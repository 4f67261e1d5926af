"""audit-truth: does the audit find out what is planted?

    recombine run audit-truth                   laptop: about 2 minutes on two cores
    expected: it does; it raises no alarm about a composer and says nothing sure about failures by lot

Made-up models (audit/planted.py) answer on random spaces of factors, trained on random combinations (the connected one
on two blocks). The audit gets the answers on half of the trained combinations and on some unseen ones, and is judged on
all others. The thresholds are those of the audit's design, written before any run; that "no confident
prediction" means at most 5 % of the combinations, as for alarms, is ours (a test at the level of .01 errs at times).
A prediction is confident if it is a call, "fails" or "holds".
Failures are ranked among unseen combinations; where all of these come out alike (a memorizer fails on each), trained
ones without answers are ranked with them. The noisy binder cannot be ranked to .95 by anybody, so it counts for
calibration only.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..audit import logistic
from ..audit.features import describe
from ..audit.planted import plant, planted
from ..audit.run import audit
from ..audit.seen import Seen, find
from ..errors import require_int
from ..keys import generator, key_for
from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, Study, check_choices, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..spaces import Product
from ..supports import registry as designs
from . import charts, trial

OURS = "ours: the design of the audit"
RANKED = ("memorizer", "binder", "connected")  # whose failures follow from coverage without noise
TOLD = ("truth", "shuffled", "reversed", "related")
_LEAST_TESTED = 60  # unseen combinations with answers


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def by_model(table: Table, metric: str, models: Sequence[str]) -> dict[str, float]:
    """A reading of each model, mean over worlds; NotMet if there is none."""
    part = table[(table.metric == metric) & table.model.isin(models)]
    if part.empty:
        raise NotMet(f"{charts.listed(list(models))} not run")
    return {str(name): float(values.mean()) for name, values in part.groupby("model").value}


def least_auroc(table: Table) -> float:
    return min(by_model(table, "auroc", RANKED).values())


def false_alarms(table: Table) -> float:
    return by_model(table, "called_fails", ["composer"])["composer"]


def confident(table: Table) -> float:
    return by_model(table, "called", ["unrelated"])["unrelated"]


def beyond_rate(table: Table) -> float:
    return by_model(table, "beyond_rate", ["unrelated"])["unrelated"]


def largest_error(table: Table) -> float:
    """The largest calibration error over models, each pooled over its worlds."""
    part = table[table.reading == "bin"]
    if part.empty:
        raise NotMet("no probability was given")
    errors = []
    for _, bins in part.groupby("model"):
        total = bins.groupby("group")[["combinations", "said", "failed"]].sum()
        gaps = (total.said - total.failed).abs().sum()  # sums, so each bin counts by its size
        errors.append(float(gaps / total.combinations.sum()))
    return max(errors)


def abstained(table: Table) -> float:
    return float(np.mean(list(by_model(table, "abstained", list(planted)).values())))


class AuditTruth(Study):
    """What the audit says about models whose truth is known."""

    id = "audit-truth"
    version = 1
    title = "Does the audit find out what is planted?"
    question = "Where it is known which combinations a model fails on, and why, does the audit say so?"
    source = OURS
    history = (
        'In a first laptop run an audit without any signal still called by the rate ("holds", where three in ten '
        "fail). Intervals that left out the rate were then counted instead of calls, which one in twenty does: "
        ".062 [-.091, .215], undecided. Since then such an audit leaves every combination open, and calls are "
        "counted again."
    )
    running_time = {"smoke": "20 seconds", "laptop": "2 minutes on two cores", "paper": "20 minutes on two cores"}
    exhibits_title = "What the audit says"
    exhibits_note = "Of the first world of each model, first seed."
    knobs = (
        Knob("models", "planted models", *(list(planted),) * 3),
        Knob("worlds", "random spaces a model and seed", 1, 16, 100),
        Knob("combinations", "combinations of a space, about", 150, 400, 1000),
        Knob("trained", "share of them that is trained", 0.2, 0.2, 0.2),
        Knob("tested", "share of the others whose answers are told", 0.4, 0.3, 0.3),
        Knob("told", "what the audit is told: truth; the others are controls", *("truth",) * 3),
    )
    controls = {
        "shuffled": {"told": "shuffled", "models": ["binder"]},
        "reversed": {"told": "reversed", "models": ["composer", "binder"]},
        "related": {"told": "related", "models": ["unrelated"]},
    }
    claims = (
        Claim(
            "ranks-failures", "Where failure follows coverage, what fails is ranked above what does not",
            OURS, "at least", 0.95, least_auroc,
            "AUROC on combinations without answers, mean over worlds, least over memorizer, binder and connected",
            "shuffled",
        ),
        Claim(
            "no-false-alarms", "Of a model that is right everywhere, at most 5 % of what is unseen is said to fail",
            OURS, "at most", 0.05, false_alarms, "share of unseen combinations called 'fails', composer", "reversed",
        ),
        Claim(
            "nothing-sure-by-lot", "Of a model that fails by lot, nothing sure is said", OURS, "at most", 0.05,
            confident, "share of unseen combinations called 'fails' or 'holds', unrelated", "related",
        ),
        Claim(
            "calibrated", "Of ten combinations with a risk of .3, about three fail", OURS, "at most", 0.1,
            largest_error,
            "expected calibration error in ten bins, pooled over worlds, greatest over models", "reversed",
        ),
    )  # fmt: skip
    questions = (
        Question("abstains", "How often it abstains", abstained, "share of unseen combinations, mean over models"),
        Question("beyond-the-rate", "How often its interval leaves out the rate of a model that fails by lot",
                 beyond_rate, "share of unseen combinations, unrelated; .05 is what 95 % intervals do"),
    )  # fmt: skip

    def grid(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        models = settings.pop("models")
        check_choices("models", models, list(planted))
        check_choices("told", [settings["told"]], TOLD)
        require_int("worlds", settings["worlds"], at_least=1)
        require_int("combinations", settings["combinations"], at_least=100, at_most=100_000)
        return [{"seed": seed, "model": model, **settings} for model in models]

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        rows: list[dict[str, Any]] = []
        facts: dict[str, Any] = {}
        began = time.perf_counter()
        for world in range(spec["worlds"]):
            found, said = _judge(spec, world)
            rows += found
            facts = facts or {"said": said}
            context.progress((world + 1) / spec["worlds"], f"{world + 1} of {spec['worlds']} worlds")
        return Measured(rows, facts | {"seconds": time.perf_counter() - began})

    def label(self, spec: dict[str, Any]) -> str:
        return f"{spec['model']}, seed {spec['seed']}"

    def summary(self, record: Record) -> str:
        found = [row["value"] for row in record.rows if row["metric"] == "auroc"]
        return f"AUROC {np.mean(found):.3f}" if found else "nothing to rank: all alike"

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        sentences = {
            "ranks-failures": (
                "the audit finds failures that follow from coverage",
                "the audit misses failures that follow from coverage",
            ),
            "no-false-alarms": ("it raises no false alarms", "it raises false alarms"),
            "nothing-sure-by-lot": ("it says nothing sure about failures by lot", "it is sure about failures by lot"),
            "calibrated": ("its probabilities are calibrated", "its probabilities are not calibrated"),
        }
        return trial.told(outcomes, sentences, "Whether the audit finds what is planted is not settled.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty:
            return []
        rows = [
            {"model": row.model, "series": said, "seed": int(row.seed), "value": float(row.value)}
            for metric, said in (("auroc", "AUROC"), ("called_fails", "called failing"), ("failed", "failing"))
            for row in table[table.metric == metric].groupby(["model", "seed"]).value.mean().reset_index().itertuples()
        ]
        if not rows:
            return []
        order = [name for name in planted if name in set(table.model)]
        return [
            Figure(
                "What is planted, and what is said",
                "A point a seed, mean over worlds: how well failures are ranked (where some fail and some do not), the "
                "share of unseen combinations that is said to fail, and the share that does.",
                charts.dots(rows, "model", order, ["AUROC", "called failing", "failing"], "share", top=1.0),
            )
        ]

    def exhibits(self, records: Sequence[Record]) -> dict[str, str]:
        return {r.cell.spec["model"]: r.facts["said"] for r in records if r.cell.spec["seed"] == 0 and r.facts}


def _judge(spec: dict[str, Any], world: int) -> tuple[list[dict[str, Any]], str]:
    """Audits one planted model on one random space, and compares what was said with the truth."""
    import pandas

    rng = generator(key_for(f"audit-truth-{world}", spec["seed"]))
    space = _space(rng, spec["combinations"])
    everything = space.enumerate()
    related = spec["told"] == "related" and spec["model"] == "unrelated"
    model = "binder" if related else spec["model"]
    trained = _trained(space, model, spec["trained"], rng)
    truth = ~plant(model, space, everything[trained], spec["seed"] * 1000 + world).right(everything)  # it fails
    seen = np.zeros(space.size, bool)
    seen[trained] = True
    others = rng.permutation(np.flatnonzero(~seen))
    number = min(max(int(len(others) * spec["tested"]), _LEAST_TESTED), len(others) - 10)
    tested = np.zeros(space.size, bool)
    tested[others[:number]] = True
    tested[rng.permutation(np.flatnonzero(seen))[: len(trained) // 2]] = True
    told = truth[tested]
    told = rng.permutation(told) if spec["told"] == "shuffled" else ~told if spec["told"] == "reversed" else told
    outcome = np.full(space.size, "", dtype=object)
    outcome[tested] = np.where(told, "0", "1")
    shown = seen | tested
    frame = pandas.DataFrame({name: everything[shown, i].astype(str) for i, name in enumerate(space.factors)})
    frame["outcome"] = outcome[shown]
    frame["split"] = np.where(seen[shown], "train", "test")
    found = audit(frame, list(space.factors), outcome="outcome", split="split", seed=spec["seed"])
    return _compared(found, space, everything, seen, tested, truth), str(found)


def _compared(found: Any, space: Product, everything: Any, seen: Any, tested: Any, truth: Any) -> list[dict[str, Any]]:
    """Readings of one world: all but the answers that were told."""
    report, levels = found.risk, found.observed.space.factors
    places = [np.array([int(level) for level in own]) for own in levels.values()]  # the audit's levels are text, sorted
    back = np.stack([place[report.combinations[:, i]] for i, place in enumerate(places)], axis=1)
    at = space.rank(back.astype(space.dtype))
    mine = ~tested[at]
    probability, fails = report.probability[mine], truth[at[mine]]
    calls = report.calls[mine]
    known = ~np.isnan(probability)
    rows = [
        _row("called_fails", float(np.mean(calls == "fails"))),
        _row("beyond_rate", float(np.mean((report.low[mine] > fails.mean()) | (report.high[mine] < fails.mean())))),
        _row("called", float(np.mean(np.isin(calls, ["fails", "holds"])))),
        _row("abstained", float(np.mean(calls == "abstains"))),
        _row("failed", float(fails.mean())),
    ]
    said, failed = probability[known], fails[known]
    alike = failed.all() or not failed.any()
    if alike and report.model is not None and report.basis == "outcomes":  # then trained ones are what tells them apart
        old = np.flatnonzero(seen & ~tested)
        same = np.stack([np.argsort(place)[everything[old, i]] for i, place in enumerate(places)], axis=1)
        observed = found.observed
        trained = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
        if (find(observed.space, trained.combinations, same) < 0).any():
            raise ValueError("a trained combination was not found again")
        more = report.model.predict(describe(trained, same))[0]
        said, failed = np.append(said, more), np.append(failed, truth[old])
    if 0 < failed.sum() < len(failed):
        rows.append(_row("auroc", logistic.auroc(said, failed.astype(float))))
    which = np.minimum((said * 10).astype(int), 9)
    for number in np.unique(which):
        inside = which == number
        rows.append(_row("bin", float(said[inside].mean()), reading="bin", group=str(number))
                    | {"combinations": int(inside.sum()), "said": float(said[inside].sum()),
                       "failed": int(failed[inside].sum())})  # fmt: skip
    return rows


def _row(metric: str, value: float, reading: str = "world", group: str = "") -> dict[str, Any]:
    return {"reading": reading, "metric": metric, "group": group, "value": value}


def _space(rng: np.random.Generator, combinations: int) -> Product:
    """Three to five factors of two to nine levels, with about so many combinations."""
    while True:
        levels = rng.integers(2, 10, rng.integers(3, 6))
        if combinations / 1.5 < np.prod(levels) < combinations * 1.5 and (levels > 2).sum() > 1:
            return Product(**{f"f{i}": int(n) for i, n in enumerate(levels)})


def _trained(space: Product, model: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """Ranks of the training combinations; the connected one learns two blocks that never meet."""
    if model == "connected":
        inside = designs["disconnected"](space).train.ranks  # type: ignore[attr-defined]
        return np.sort(rng.permutation(inside)[: max(int(space.size * share), len(inside) // 2)])
    return np.sort(rng.permutation(space.size)[: int(space.size * share)])


studies.register("audit-truth")(AuditTruth())
