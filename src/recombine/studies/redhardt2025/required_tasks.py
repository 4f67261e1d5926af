"""required-tasks: how many combinations must be trained until the others follow?

    recombine run required-tasks                laptop: about 10 minutes on two cores
    expected: the number grows slower than the space, sub-exponentially in K; the transformer needs fewer than the MLP

The claims are those of Figures 2 (top right) and 10 of Redhardt, Akram, Schug 2025: training combinations needed for
a held-out R^2 above .95, under balanced supports, against the size of the space. `paper` scale is its grid of shares
(M from 10 to 28, K in 4, 5, 6, fifteen shares, MLP and transformer, three seeds). At the other scales the number is
found by bisection on a logarithmic axis, which is ours, as are the readings that decide and their thresholds; and,
since minutes of training reach .95 on few families, the score that is asked for there is the setting `threshold`.
"""

from __future__ import annotations

import math
from typing import Any

from ...context import Context, Measured
from ...errors import UserError, require_int, unknown
from ...lab.axes import Arms
from ...lab.bisection import expected_tries, smallest_enough
from ...lab.cells import Spec
from ...lab.headlines import headline_from
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.store import Record
from ...lab.study import Settings, Study
from ...lab.study_table import StudyTable
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from ...spaces import Subsets
from ...trials import Trial
from ...trials import measure as measure_trial
from ...trials.trial import build_space
from .paper import PUBLISHED, hyperteacher, mlp, source
from .required_tasks_charts import figures
from .required_tasks_readings import fewer, fit_gain, fit_gain_of_space, size_exponent

METHODS = ("bisection", "grid")
#: held out in the published grid
SHARES = [0.9, 0.95, 0.98, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.99975, 0.9999, 0.99995, 0.999975, 0.99999, 0.999995,
          0.999999]  # fmt: skip
LEAST_HELD_OUT = 0.1  # of a search: without it nothing could be scored
OTHERWISE = "No claim on numbers is settled at this scale."


# -- measuring --------------------------------------------------------------------------------------------------------
def measure(spec: Spec, context: Context) -> Measured:
    """The score at a share (grid), or at every number that the search for the smallest one tries (bisection)."""
    if spec["options"]["method"] == "bisection":
        return bisect(spec, context)
    size = build_space(spec["trial"]["world"]).size
    found = try_number(spec, size - int(size * spec["at"]["held_out"]), context)
    return Measured([found[0]] if found else [], {"seconds": found[1] if found else 0.0})


def bisect(spec: Spec, context: Context) -> Measured:
    """Tries numbers of training combinations until the smallest that is enough is known within `bisection.CLOSE`."""
    size = build_space(spec["trial"]["world"]).size
    most = int((1 - spec["at"]["held_out"]) * size)
    # fewest that can use and connect every module, each combination adding at most K - 1 of them
    low = max(1, math.ceil((spec["at"]["modules"] - 1) / max(spec["at"]["at_most"] - 1, 1)) - 1)
    tried: list[dict[str, Any]] = []
    seconds = 0.0

    def enough(n: int) -> bool:
        nonlocal seconds
        context.progress(min(len(tried) / expected_tries(low, most), 0.95), f"{n} of {size}")
        found = try_number(spec, n, Context())
        if found is None:
            return False  # an impossible split is not enough
        tried.append(found[0])
        seconds += found[1]
        return found[0]["value"] > spec["options"]["threshold"]

    needed = smallest_enough(low, most, enough)
    return Measured(tried, {"seconds": seconds, "needed": needed})


def try_number(spec: Spec, n: int, context: Context) -> tuple[dict[str, Any], float] | None:
    """Trains on `n` combinations: the reading, and the seconds that it took; None if there is no such split."""
    data = spec["trial"]
    size = build_space(data["world"]).size
    trial = Trial.from_json({**data, "support": {**data["support"], "held_out": (size - n + 0.5) / size}})
    facts = measure_trial(trial, context).facts
    if "impossible" in facts:
        return None
    diverged = facts["diverged_at"] is not None
    reading = {
        "reading": "tried",
        "metric": "r2",
        "threshold": spec["options"]["threshold"],
        "trained_on": facts["trained_on"],
        "value": float("nan") if diverged else facts["held_out"],
        "trained_score": None if diverged else facts["trained"],
    }
    return reading, facts["seconds"]


def refuse(settings: Settings) -> None:
    for m in settings["modules"] if isinstance(settings["modules"], list) else []:
        require_int("modules", m, at_least=3)
    if settings["options.method"] not in METHODS:
        raise unknown("method", settings["options.method"], METHODS)
    if not 0 < settings["options.threshold"] < 1:
        raise UserError(f"threshold={settings['options.threshold']} must lie between 0 and 1")


# -- in words ---------------------------------------------------------------------------------------------------------
def label(spec: Spec) -> str:
    at = spec["at"]
    share = f", {at['held_out']:g} held out" if spec["options"]["method"] == "grid" else ""
    return f"{at['net']}, M={at['modules']}, K={at['at_most']}{share}, seed {spec['seed']}"


def summary(record: Record) -> str:
    if not record.rows:
        return "impossible: no such split"
    at = record.cell.spec["at"]
    took = f"({len(record.rows)} nets, {record.facts['seconds']:.0f} s)"
    passed = [row["trained_on"] for row in record.rows if row["value"] > row["threshold"]]
    if not passed:
        return f"no number was enough: {max(row['value'] for row in record.rows):.3f} {took}"
    return f"{min(passed)} of {Subsets(at['modules'], at['at_most']).size} were enough {took}"


def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
    """In the words of the claims, and where the number even falls as the space grows, so."""
    words = {claim.id: (claim.supported, claim.refuted) for claim in study.claims}
    if outcomes.get("sub-exponential") == "supported" and all(size_exponent(part) < 0 for _, part in t.seeds()):
        words["sub-exponential"] = ("the number of combinations needed falls as the space grows", "")
    return headline_from(words, outcomes, OTHERWISE)


TRANSFORMER = {
    "name": "transformer",
    "width": Scale(16, 64, 64, 256),
    "depth": Scale(1, 2, 2, 4),
    "heads": Scale(2, 4, 4, 4),
    "feedforward": Scale(64, 256, 256, 1024),
    # with one sample per task in training, as many as are scored would be new to it
    "together": Same("recipe.samples", lambda samples: samples != 1),
}

study = Study(
    id="required-tasks",
    title="How many combinations must be trained?",
    question="How does the number of combinations that must be trained grow with the number there are?",
    source=source("Fig. 2 and 10"),
    history=(
        "After first cells K = 2 was left out at laptop scale, which cannot reach .9 there, and the claim of sub- "
        "exponential growth, which a net that needs a fixed share would have met, became one on the exponent "
        "against the size of the space."
    ),
    minutes=Scale(0.7, 10, 270, "about 20 GPU-days"),
    world=hyperteacher(modules=10, at_most=3),
    support={"name": "balanced", "held_out": LEAST_HELD_OUT},
    recipe=Scale(
        {"steps": 300, "samples": 1, "evaluations": 1},
        {"steps": 1500, "samples": 1, "evaluations": 1},
        {"steps": 8000, "samples": 1, "evaluations": 1},
        PUBLISHED,
    ),
    keep=(),
    options={
        "threshold": Scale(0.3, 0.9, 0.95, 0.95),  # held-out R^2 that is asked for
        "method": Scale("bisection", "bisection", "bisection", "grid"),
    },
    vary={
        "world.space.modules": Scale([6], [10], [10, 14, 18], list(range(10, 29, 2))),
        "world.space.at_most": Scale([3], [3, 4, 5, 6], [4, 5, 6], [4, 5, 6]),
        "net": Arms(
            {
                "mlp": {"net": mlp(width=Scale(64, 256, 384, 1024), depth=Scale(2, 3, 3, 4))},
                "transformer": {
                    "net": TRANSFORMER,
                    "recipe.learning_rate": Scale(6e-3, 6e-3, 6e-3, 3e-4),
                    "recipe.weight_decay": Scale(0.1, 0.1, 0.1, 3e-3),
                },
            }
        ),
        # of a search the share that always stays held out
        "support.held_out": Scale([LEAST_HELD_OUT], [LEAST_HELD_OUT], [LEAST_HELD_OUT], SHARES),
    },
    controls={
        "lookup": {"net": ["mlp"]},  # the claim that is false there is about this net
        "indifferent": {"steps": 150},
    },
    claims=[
        Claim(
            "sub-exponential",
            size_exponent,
            at_most(0.5),
            "The number needed is sub-exponential in K: it grows as the space to a power of at most .5",
            "lookup",
            supported="the number of combinations needed grows slower than the root of the space",
            refuted="the number of combinations needed grows faster than the root of the space",
        ),
        Claim(
            "transformer-needs-fewer",
            fewer,
            at_least(0.25),
            "The transformer needs fewer, by at least a quarter of an octave",
            "indifferent",
            supported="the transformer needs fewer than the MLP",
            refuted="the transformer does not need fewer than the MLP",
        ),
    ],
    measurements=[
        Measurement(
            "power-against-exponential",
            fit_gain,
            "How much better a power of K fits what is needed than an exponential in K",
        ),
        Measurement(
            "power-against-exponential-space", fit_gain_of_space, "The same for the size of the space, to compare with"
        ),
    ],
    charts=[figures],
    headline=headline,
    measure=measure,
    refuse=refuse,
    label_of=label,
    summary_of=summary,
)
