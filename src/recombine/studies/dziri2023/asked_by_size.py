"""One cell of subgraphs and of compounding: a net is trained, and asked about held-out texts size by size, each once.

Every reading of both studies comes from these answers. Sizes are named by how far they lie beyond training: 0 is the
largest size that was trained, 1 the first that was not. Where answers are planted, those to trained texts are right.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...context import Context, Measured
from ...keys import generator, key_for
from ...lab.cells import Spec
from ...supports.size_split import size_order, text_sizes
from ...tasks import Batch, Sequences, Stepwise
from ...training import Items, Trained, evaluate
from ...trials import Trial
from ...trials import measure as measure_trial
from ...trials.measure import Row, row
from .digit_rows import digit_rows
from .node_rows import node_rows, shown_graphs
from .planted_answers import planted
from .written_answers import length_rows, wrong_ones

OF_NET = "of the net"


class Asked(NamedTuple):
    """Held-out texts of one size, and what was answered."""

    size: str
    beyond: int
    ranks: np.ndarray  # (n,) places in the list of texts
    answers: np.ndarray  # (n, words)


def measure(spec: Spec, context: Context) -> Measured:
    """Trains a net, or finds it; asks it about each size; reads its answers."""
    further = partial(_read, options=spec["options"], first=not spec["seed"])
    return measure_trial(Trial.from_json(spec["trial"]), context, more=further)


def _read(run: Trained, _: Items | None, *, options: dict[str, Any], first: bool) -> Measured:
    task, step = sequences_of(run), run.recipe.steps
    asked = list(answered(run, options))
    rows = [*trained_rows(run, options), *score_rows(task, asked, step)]
    facts = {"mistakes": wrong_ones(task, asked) if first else []}
    rows += length_rows(task, run.support, asked, step)
    if isinstance(task, Stepwise):
        rows += node_rows(task, run.support, asked, step) if task.steps else digit_rows(task, asked, step)
        if task.steps and first:
            rows += shown_graphs(task, asked, step)
    return Measured(rows, facts)


def sequences_of(run: Trained) -> Sequences:
    """The task; what is no such task, the net has refused."""
    assert isinstance(run.task, Sequences)
    return run.task


def answered(run: Trained, options: dict[str, Any]) -> Iterator[Asked]:
    """Some held-out texts of each size, smallest first, and the answers to them."""
    support, member, task = run.support, run.members[0], sequences_of(run)
    size = np.array(text_sizes(support.space))
    ranks = np.asarray(support.space.rank(support.held_out.combinations()))
    there = sorted(set(size.tolist()), key=size_order)
    last = max(there.index(one) for one in support.settings.get("trained", there))
    chosen = []
    for one in there:
        of_size = generator(key_for(f"held_out/size {one}", member.seed)).permutation(ranks[size[ranks] == one])
        chosen.append(of_size[: options["asked"]])
    every = np.concatenate(chosen)
    if options["answers"] == OF_NET:
        key = key_for("held_out/sizes", member.seed)
        answers = evaluate(member.net, run.task, support.space.unrank(every), key=key, keep=["answer"]).kept["answer"]
    else:
        answers = planted(task, options["answers"], every, size[every], there[: last + 1], member.seed)
    ends = np.cumsum([len(ranks) for ranks in chosen])[:-1]
    for number, (one, own, said) in enumerate(zip(there, chosen, np.split(answers, ends), strict=True)):
        if len(own):
            yield Asked(one, number - last, own, said)


def trained_rows(run: Trained, options: dict[str, Any]) -> list[Row]:
    """Every metric of trained texts."""
    key, task = key_for("test/sizes", run.members[0].seed), sequences_of(run)
    rows = run.support.train.sample(key, options["asked"])
    ranks = np.asarray(run.support.space.rank(rows))
    found = np.asarray(task.meanings)[ranks].astype(np.int32)
    if options["answers"] == OF_NET:
        found = evaluate(run.members[0].net, run.task, rows, key=key, keep=["answer"]).kept["answer"]
    return _scored(task, ranks, found, "test", "", run.recipe.steps)


def _scored(task: Sequences, ranks: np.ndarray, answers: np.ndarray, stream: str, group: str, step: int) -> list[Row]:
    target = np.asarray(task.meanings)[ranks].astype(np.int32)
    statistics = task.score(answers, Batch(ranks[:, None], None, None, target, None))
    return [row("score", stream, one.name, one(statistics), group=group, step=step) for one in task.metrics]


def score_rows(task: Sequences, asked: list[Asked], step: int) -> list[Row]:
    """Every metric of each size, of the trained sizes together and of the larger ones together."""
    groups = {one.size: [one] for one in asked}
    groups["in-domain"] = [one for one in asked if one.beyond <= 0]
    groups["larger"] = [one for one in asked if one.beyond > 0]
    rows = []
    for name, members in groups.items():
        if not members:
            continue
        ranks, answers = (np.concatenate([getattr(one, part) for one in members]) for part in ("ranks", "answers"))
        extra: dict[str, Any] = {"asked": name == "larger", "texts": len(ranks)}
        extra["beyond"] = members[0].beyond if name == members[0].size else None
        rows += [line | extra for line in _scored(task, ranks, answers, "held_out", name, step)]
    return rows
