"""supports: does a plain MLP compose, by what it was trained on?

    recombine run supports                      laptop: about 4 minutes on two cores
    recombine run supports-preference           the same in a grid world: preferences that add up; about 5 minutes
    recombine run supports-goal                 the same in a grid world: goals told in a sentence; about 9 minutes
    expected: random, balanced and popular compose; missing and disconnected fail; unpopular lies between

The claims are those of Figure 4 of Redhardt, Akram, Schug 2025; the paper shows curves, so the thresholds on the
gap (in-distribution minus held-out R^2, mean of per-task R^2) are ours. Equal blocks for
`disconnected` (the public code cuts 1 from 15) and its within-block group are ours, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, SupportMap, check_choices, recipe_knobs, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..tasks import Episode
from ..training import Recipe
from . import charts, support_charts, trial
from .support_maps import support_maps
from .trial import LEARNED, RESOLUTION, TRAINED_BY, TrialStudy, build_support

PAPER = "Redhardt, Akram, Schug 2025 (arXiv 2507.07207), Fig. 4, Fig. 8 and App. C.3"
OURS = "ours: the compositional goals are in the public code of Redhardt, Akram, Schug 2025, without results"
SUPPORTS = ("random", "balanced", "popular", "unpopular", "disconnected", "missing")
COMPOSING = ("random", "balanced", "popular")

#: what is changed in the recipe to ask whether the disconnected gap depends on it
RECIPES: dict[str, dict[str, Any]] = {
    "default": {},
    "constant": {"schedule": "constant", "learning_rate": 1e-3, "weight_decay": 0.003, "b2": 0.999, "nesterov": False},
    "long": {"steps_factor": 2},
}


def make_claims(metric: str, source: str, element: str) -> tuple[Claim, ...]:
    """The claims of one family: the same thresholds for all of them."""
    return (
        *(
            Claim(
                f"{support}-composes", f"Trained on a {support} support, the held-out gap is at most .05", source,
                "at most", 0.05, lambda t, s=support: gap(t, s, metric), f"gap of {support}", "lookup",
            )
            for support in COMPOSING
        ),
        Claim(
            "missing-fails", f"With one {element} never trained, the gap is at least .15", source,
            "at least", 0.15, lambda t: gap(t, "missing", metric), "gap of missing", "indifferent",
        ),
        Claim(
            "disconnected-fails", f"With two blocks of {element}s never combined, the cross-block gap is at least .05",
            source,
            "at least", 0.05, lambda t: gap(t, "disconnected", metric), "cross-block gap of disconnected",
            "indifferent",
        ),
        Claim(
            "disconnected-above-composing", "The disconnected gap is above that of random, balanced and popular",
            source, "at least", RESOLUTION,
            lambda t: min(gap(t, "disconnected", metric) - gap(t, s, metric) for s in COMPOSING),
            "smallest difference of the disconnected gap to a composing one", "indifferent",
        ),
        Claim(
            "unpopular-between", "The unpopular gap lies between those of popular and missing", source,
            "at least", RESOLUTION,
            lambda t: min(gap(t, "unpopular", metric) - gap(t, "popular", metric),
                          gap(t, "missing", metric) - gap(t, "unpopular", metric)),
            "smaller of unpopular - popular and missing - unpopular", "indifferent",
        ),
        Claim(
            "unpopular-rarest", f"The loss of unpopular sits in the combinations with the rarest {element}",
            source, "at least", 0.05, lambda t: rarest_difference(t, metric),
            "gap with the rarest minus gap without it", "indifferent",
        ),
    )  # fmt: skip


class SupportsStudy(TrialStudy):
    """Does a plain MLP compose, by what it was trained on? On the hyperteacher."""

    id = "supports"
    version = 2
    title = "What must be trained so that the rest follows?"
    question = "Does a plain network handle combinations it never saw, and how does that depend on the ones it did see?"
    source = PAPER
    history = (
        "The two comparisons asked for a difference above 0 at first, which a world without any effect can show "
        "by chance. They ask for .01 since a run of `supports` in which the differences were .125 and .241."
    )
    element = "module"  # what is combined
    running_time = {"smoke": "20 seconds", "laptop": "4 minutes on two cores", "paper": "about 2 GPU-hours"}
    knobs = (
        Knob("task", "which world; lookup-v1 and indifferent-v1 are controls", *("hyperteacher-v1",) * 3),
        Knob("modules", "M, modules of the teacher", 12, 16, 16),
        Knob("at_most", "K, most modules active at once", 3, 3, 3),
        Knob("held_out", "share of the combinations that is held out", *(0.25,) * 3),
        Knob("encoding", "how a combination is shown", *("identity",) * 3),
        Knob("supports", "designs to compare", *(list(SUPPORTS),) * 3),
        Knob("recipes", "recipes to try on `disconnected`", ["default"], list(RECIPES), ["default"]),
        Knob("width", "hidden units a layer", 128, 384, 1024),
        Knob("depth", "hidden layers", 2, 3, 4),
        *recipe_knobs(Recipe(steps=800, tasks=128), Recipe(), Recipe.published(), TRAINED_BY),
    )
    controls = {
        # No combination tells anything about another: nothing can compose. Few enough to be learned by heart.
        "lookup": {"task": "lookup-v1", "modules": 6, "at_most": 2},
        # the combination does not matter: nothing can fail
        "indifferent": {"task": "indifferent-v1"},
    }
    claims = make_claims("r2", PAPER, "module")
    questions = tuple(
        question
        for recipe in RECIPES
        for question in (
            Question(
                f"disconnected-gap-{recipe}", f"Cross-block gap at the end, {recipe} recipe",
                lambda t, r=recipe: gap(t, "disconnected", "r2", r), "cross-block gap",
            ),
            Question(
                f"disconnected-growth-{recipe}", f"Growth of the cross-block gap in the second half, {recipe} recipe",
                lambda t, r=recipe: growth(t, "r2", r), "cross-block gap at the end minus at half time",
            ),
        )
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        recipes, chosen = settings.pop("recipes", ["default"]), settings.pop("supports")
        check_choices("recipes", recipes, RECIPES)
        check_choices("supports", chosen, SUPPORTS)
        base = {"seed": seed, "net": "mlp", **self.world(settings)}
        specs = []
        for support in chosen:
            build_support(base | {"support": support})  # refused here, before anything is compiled
            for recipe in recipes if support == "disconnected" else ["default"]:
                changes = dict(RECIPES[recipe])
                changes["steps"] = base["steps"] * changes.pop("steps_factor", 1)
                specs.append(base | {"support": support, "recipe": recipe} | changes)
        return sorted(specs, key=lambda spec: -spec["steps"])  # long cells start first

    def world(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings of a trial from those of the study."""
        return settings

    def label(self, spec: dict[str, Any]) -> str:
        recipe = "" if spec["recipe"] == "default" else f" ({spec['recipe']} recipe)"
        return f"{spec['support']}{recipe}, seed {spec['seed']}"

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        words = {
            "missing": f"a {self.element} is never trained",
            "disconnected": f"two blocks of {self.element}s are never combined",
        }
        holds = [s for s in COMPOSING if outcomes.get(f"{s}-composes") == "supported"]
        fails = [words[s] for s in words if outcomes.get(f"{s}-fails") == "supported"]
        parts = [f"it composes on {charts.listed(holds)} training combinations"] if holds else []
        parts += [f"it fails where {' or '.join(fails)}"] if fails else []
        sentence = ", and ".join(parts) or "no claim of composition or of failure is settled at this scale"
        return charts.title(sentence) + "."

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        return support_charts.figures(table, SUPPORTS, self.metric)

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        # every combination by itself, once for each support: what the map of the report shows
        kept = spec["seed"] == 0 and spec["recipe"] == "default"
        return trial.measure(spec, context, keep=["scores"] if kept else [])

    def maps(self, records: Sequence[Record]) -> list[SupportMap]:
        shown = [r for r in records if r.cell.spec["seed"] == 0 and r.cell.spec["recipe"] == "default"]
        shown.sort(key=lambda record: SUPPORTS.index(record.cell.spec["support"]))
        return support_maps(shown, lambda spec: spec["support"])

    def episodes(self, records: Sequence[Record]) -> dict[str, Episode]:
        found = {}
        for record in records:
            with contextlib.suppress(ValueError):  # a record of another hand: without its picture
                if "episode" in record.facts:
                    name = f"{record.cell.spec['support']}: a held-out combination"
                    found[name] = Episode.from_json(record.facts["episode"])
        return found

    def exhibits(self, records: Sequence[Record]) -> dict[str, str]:
        return {
            f"{record.cell.spec['support']}, seed {record.cell.spec['seed']}": record.facts.get("certificate", "")
            for record in records
            if record.cell.spec["recipe"] == "default"
        }


class PreferenceSupports(SupportsStudy):
    """The same on the preference grid world: imitation of an expert, scored by whole episodes."""

    id = "supports-preference"
    version = 1
    title = "What must be trained so that the rest follows? Preferences in a grid world"
    metric = "episode_accuracy"
    element = "preference"
    running_time = {"smoke": "40 seconds", "laptop": "5 minutes on two cores", "paper": "about 30 GPU-hours"}
    knobs = (
        Knob("task", "which world; the preference-lookup and -indifferent ones are controls", *("preference-v1",) * 3),
        Knob("modules", "M, preferences that can be combined", 6, 6, 16),
        Knob("at_most", "K, most preferences active at once", 2, 3, 3),
        Knob("features", "F, features that objects can have", 6, 6, 16),
        trial.PREFERENCE_KNOBS[1],
        Knob("held_out", "share of the combinations that is held out", 0.3, 0.4, 0.25),
        Knob("encoding", "how a combination is shown", *("identity",) * 3),
        Knob("supports", "designs to compare", *(list(SUPPORTS),) * 3),
        Knob("width", "hidden units a layer", 64, 256, 1024),
        Knob("depth", "hidden layers", 2, 2, 2),
        *recipe_knobs(*trial.PREFERENCE_RECIPES, TRAINED_BY),
    )
    controls = {
        "lookup": {"task": "preference-lookup-v1"},
        "indifferent": {"task": "preference-indifferent-v1"},
    }
    claims = make_claims("episode_accuracy", PAPER, "preference")
    questions = ()

    def world(self, settings: dict[str, Any]) -> dict[str, Any]:
        return trial.preference_world(settings)


class GoalSupports(SupportsStudy):
    """The same on the goal grid world: quadrant x interaction x maze x object, told in a sentence."""

    id = "supports-goal"
    version = 1
    title = "What must be trained so that the rest follows? Goals in a grid world"
    metric = "episode_accuracy"
    element = "level"
    source = OURS
    running_time = {"smoke": "40 seconds", "laptop": "9 minutes on two cores", "paper": "about 30 GPU-hours"}
    knobs = (
        Knob("task", "which world; the goal-lookup and -indifferent ones are controls", *("goal-v1",) * 3),
        Knob("length", "steps of an episode", 16, 16, 48),
        Knob("held_out", "share of the combinations that is held out", *(0.25,) * 3),
        Knob("encoding", "how a combination is shown", *("sentence",) * 3),
        Knob("supports", "designs to compare", *(list(SUPPORTS),) * 3),
        Knob("width", "hidden units a layer", 64, 256, 1024),
        Knob("depth", "hidden layers", 2, 2, 2),
        *recipe_knobs(
            Recipe(steps=400, tasks=16, learning_rate=3e-3, weight_decay=0.1, evaluations=1),
            Recipe(steps=2500, tasks=48, learning_rate=3e-3, weight_decay=0.1, evaluations=2),
            Recipe.published(steps=3_000_000, samples=1, learning_rate=1e-4, weight_decay=1e-3),
            TRAINED_BY,
        ),
    )
    controls = {"lookup": {"task": "goal-lookup-v1"}, "indifferent": {"task": "goal-indifferent-v1"}}
    claims = make_claims("episode_accuracy", OURS, "level")
    questions = ()

    def world(self, settings: dict[str, Any]) -> dict[str, Any]:
        settings = dict(settings)
        return settings | {"task_options": {"length": settings.pop("length")}, "modules": None}


# -- readings ---------------------------------------------------------------------------------------------------------
def score(table: Table, support: str, metric: str, stream: str, group: str = "", recipe: str = "default") -> float:
    """The final score of one seed; NotMet if that net is missing or did not learn what it was trained on."""
    cell = table[(table.support == support) & (table.recipe == recipe)]
    trained = trial.one(trial.final(cell, metric, "test"), support)
    if trained < LEARNED:
        raise NotMet(f"{support} was not learned: {trained:.2f} on trained combinations, below {LEARNED}")
    if stream == "test":
        return trained
    found = trial.final(cell, metric, stream, group)
    if found.empty:
        raise NotMet(f"{support} has no held-out group {group!r}")
    return float(found.value.iloc[0])


def gap(table: Table, support: str, metric: str = "r2", recipe: str = "default") -> float:
    """Score on trained minus on held-out combinations (the cross-block group of `disconnected`)."""
    group = "cross-block" if support == "disconnected" else ""
    unseen = score(table, support, metric, "held_out", group, recipe)
    return score(table, support, metric, "test", "", recipe) - unseen


def rarest_difference(table: Table, metric: str = "r2") -> float:
    """Gap of unpopular's combinations with the rarest module minus that of those without."""
    groups = table[(table.support == "unpopular") & (table.reading == "score")].group.unique()
    rarest = [group for group in groups if group.startswith("with rarest")]
    if not rarest:
        raise NotMet("unpopular has no group with the rarest module")
    without = score(table, "unpopular", metric, "held_out", "without rarest")
    return without - score(table, "unpopular", metric, "held_out", rarest[0])


def growth(table: Table, metric: str, recipe: str) -> float:
    """Cross-block gap at the end of training minus at half time, from the history."""
    cell = table[(table.support == "disconnected") & (table.recipe == recipe) & (table.reading == "history")]
    score(table, "disconnected", metric, "test", "", recipe)  # not met if it was not run, diverged or did not learn
    by_step = cell.pivot(index="step", columns="stream", values="value").sort_index()
    if len(by_step) < 2:
        raise NotMet("growth takes at least two evaluations on the way")
    gaps = by_step["validation"] - by_step["held_out/cross-block"]
    half = gaps.index[abs(gaps.index - gaps.index[-1] / 2).argmin()]
    return float(gaps.iloc[-1] - gaps[half])


studies.register("supports")(SupportsStudy())
studies.register("supports-preference")(PreferenceSupports())
studies.register("supports-goal")(GoalSupports())
