"""The keepers that most studies need: facts for the report, and for later studies."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np

from .. import packed_images
from ..keys import key_for
from ..nets import Net
from ..supports import Support
from ..tasks import Episode, Episodes, Pictures, Sequences
from ..training import Items, Player, Trained, evaluate
from .keepers import keepers
from .panel import POOLED, panel

MOST = 2_000  # combinations of a space that is scored one by one
DRAWS = 128  # tasks that a combination is scored on: with few, the worst of many scores is chance
KEPT = 32  # of these for a record, where all combinations are scored to be looked at: seconds per cell
SHOWN = 4  # held-out pictures, or wrong answers, that are kept to look at
OF_GROUPS = 8  # wrong answers, where they are of different groups
TRIED = 64  # held-out texts that are asked until some are answered wrongly


def per_combination(task: Any, net: Net, rows: np.ndarray, metric: str, seed: int, draws: int = DRAWS) -> np.ndarray:
    """(n,) the score of a net on a few tasks of each combination."""
    return evaluate(net, task, rows, draws, key=key_for("held_out/each", seed)).by_combination(metric)


@keepers.register("panel")
def kept_panel(run: Trained, asked: Items | None = None) -> dict[str, Any]:
    """Score, control, confidence, process variance and decodability by layer of each combination."""
    return panel(run)


@keepers.register("scores")
def kept_scores(run: Trained, asked: Items | None = None) -> dict[str, Any]:
    """The score of each combination in order of rank, or nothing where there are too many."""
    space, task, member = run.support.space, run.task, run.members[0]
    if space.size > MOST:
        return {}
    metric = POOLED.get(task.metrics[0].name, task.metrics[0].name)
    scores = per_combination(task, member.net, space.enumerate(), metric, member.seed, KEPT).tolist()
    return {"each": {"metric": metric, "scores": [round(s, 4) if math.isfinite(s) else None for s in scores]}}


@keepers.register("episode")
def kept_episode(run: Trained, asked: Items | None = None) -> dict[str, Any]:
    """An episode of a held-out combination as the net plays it; nothing of tasks that have none."""
    if not isinstance(run.task, Episodes):
        return {}
    return {"episode": telling_episode(run.task, run.support, run.nets[0]).to_json()}


def telling_episode(task: Episodes, support: Support, net: Net, tries: int = 12) -> Episode:
    """An episode of a held-out combination as the net plays it: the first of a few in which it errs, if it does."""
    played = None
    for number, combination in enumerate(support.held_out.sample(key_for("episodes", 0), tries)):
        played = task.episode(jax.random.fold_in(key_for("episode", 0), number), combination, Player(net))
        if not played.correct:
            break
    if played is None:
        raise ValueError(f"tries={tries} must be at least 1")
    return played


@keepers.register("mistakes")
def kept_mistakes(run: Trained, asked: Items | None = None) -> dict[str, Any]:
    """A few held-out texts that are answered wrongly, with truth and answer; nothing of tasks that have no texts."""
    task, member = run.task, run.members[0]
    if not isinstance(task, Sequences):
        return {}
    rows = run.support.side(run.support.asks).sample(key_for("held_out/mistakes", 0), TRIED)
    items = evaluate(member.net, task, rows, key=key_for("held_out/each", member.seed), keep=["answer"])
    wrong = _telling(run.support, rows, np.flatnonzero(items.by_combination("exact") < 1))
    answers = items.kept["answer"]
    found = [
        {"text": task.text(rows[i]), "truth": task.meaning(rows[i]), "said": task.said(answers[i])}
        | ({"group": group} if group else {})
        for i, group in wrong
    ]
    return {"mistakes": found}


def _telling(support: Support, rows: np.ndarray, wrong: np.ndarray) -> list[tuple[int, str]]:
    """The first few of what is wrong, and the smallest group that each is of; of different groups where there are."""
    groups = sorted(support.named.keys() & support.groups.keys(), key=lambda name: (support.group(name).size, name))
    belongs = {name: np.asarray(support.named[name](rows[wrong]), bool) for name in groups}
    own = [next((name for name in groups if belongs[name][place]), "") for place in range(len(wrong))]
    first = [place for place, name in enumerate(own) if name not in own[:place]]
    order = [*first, *(place for place in range(len(wrong)) if place not in first)]
    return [(int(wrong[place]), own[place]) for place in order[: OF_GROUPS if groups else SHOWN]]


@keepers.register("drawings")
def kept_drawings(run: Trained, asked: Items | None) -> dict[str, Any]:
    """A few held-out pictures with their truth, and the map of errors if there are two factors; for the report."""
    task = run.task
    if not isinstance(task, Pictures) or asked is None:
        return {}
    rows = asked.combinations
    shape = (len(rows), task.side, task.side)
    outputs, targets = (asked.kept[name].reshape(shape) for name in ("answer", "target"))
    held_out = np.arange(len(rows)) >= run.support.train.size
    which = np.flatnonzero(held_out)
    middle = rows[which].mean(0)
    # from the middle of what was held out to its rim, in equal steps
    outward = which[np.argsort(np.abs(rows[which] - middle).max(1), kind="stable")]
    chosen = outward[np.linspace(0, len(outward) - 1, min(SHOWN, len(outward))).round().astype(int)]
    pictures = [
        {
            "at": rows[i].tolist(),
            "target": packed_images.pack(targets[i], 0, 1),
            "output": packed_images.pack(outputs[i], -0.2, 1.2),
        }
        for i in chosen
    ]
    facts: dict[str, Any] = {"pictures": pictures, "polarity": task.polarity}
    if len(run.support.space.columns) == 2:
        empty = float(((task.background - targets[held_out]) ** 2).mean())
        grid = np.full(task.encoding.levels[::-1], np.nan)  # [y, x], as a picture has it
        whole = task.asked_about(rows)  # a stripe has no place
        errors = ((outputs - targets) ** 2).mean((1, 2)) / empty
        grid[rows[whole, 1], rows[whole, 0]] = errors[whole]
        facts["error_map"] = packed_images.pack(grid, 0, 1.5)
        inside = rows[held_out]
        facts["hole"] = [*inside.min(0).tolist(), *(np.ptp(inside, axis=0) + 1).tolist()]  # x, y, width, height
    return {"drawings": facts}
