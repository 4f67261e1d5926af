"""measure: a trial is trained, asked and probed. What most studies repeat over a grid."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..context import Context, Measured
from ..errors import UserError
from ..keys import key_for
from ..machine.precision import resolve
from ..nets import Net
from ..probes import registry as probes
from ..supports import Support
from ..tasks import Episodes, Task, WrongCode
from ..training import Items, Member, Stage, Trained, evaluate, stream_scores, train
from . import keeping as keeping  # registers the keepers
from .asked_once import once_rows
from .keepers import keepers
from .kept import KeptNets, key_of
from .trial import Trial, build_task

Row = dict[str, Any]


def measure(
    trial: Trial,
    context: Context,
    *,
    more: Callable[[Trained, Items | None], Measured] | None = None,
    watch: Sequence[str] = (),
) -> Measured:
    """Trains, scores on trained and held-out combinations, probes, and keeps what the trial says.

    A split that cannot be made (too few combinations to use every module, say) is a finding, not a failure.

    Args:
        trial: what to do.
        context: progress, where states and nets are kept.
        more: makes further rows and facts of what was trained, and of what was asked about every combination.
        watch: streams that the history of a member looks at, too; its rows are the business of `more`.

    Example:
        >>> from recombine.context import Context
        >>> from recombine.trials import measure
        >>> from recombine.trials import Trial
        >>> trial = Trial(
        ...     world={"name": "hyperteacher-v1", "space": {"modules": 4, "at_most": 2}},
        ...     support={"name": "random", "held_out": 0.2},
        ...     stages=[{"net": {"name": "mlp", "width": 8, "depth": 1}, "recipe": {"steps": 2, "evaluations": 1}}],
        ... )
        >>> sorted({row["stream"] for row in measure(trial, Context()).rows if row["reading"] == "score"})
        ['held_out', 'test']
    """
    task = trial.build_task()
    try:
        support, stages = trial.build_support(), trial.build_stages()
    except UserError as problem:
        return Measured([], {"impossible": str(problem), "seconds": 0.0, "diverged_at": None})
    run = _trained(trial, task, support, stages, context, watch)
    task, support = run.task, run.support  # those of the last stage
    member, recipe, metric = run.members[0], run.recipe, task.metrics[0].name
    facts = _facts(run) | {"net": key_of(_plain(trial, stages), len(stages))}
    rows = history_rows(run, len(stages) - 1)
    if member.diverged_at is not None:
        return Measured(rows, facts)
    asked: Items | None = None
    for ask in trial.asks:
        if ask.get("world"):
            rows += elsewhere_rows(run, ask, recipe.steps)
        elif ask.get("every"):
            asked = every_combination(run, ask.get("how"))
            rows += every_rows(run, asked, recipe.steps)
        elif ask.get("once"):
            rows += once_rows(run, ask, recipe.steps)
        else:
            rows += score_rows(run, ask.get("streams", ("test", "held_out")), recipe.steps, ask.get("how"))
    context.progress(0.97, "probing")
    for probe in trial.probes:
        rows += probe_rows(run, probe, recipe.steps)
    further = more(run, asked) if more else Measured([])
    rows += further.rows
    facts |= further.facts
    if isinstance(task, Episodes):
        rows += wrong_code_rows(run, recipe.steps)
    for name in trial.keep:
        facts |= keepers[name](run, asked)
    group = support.asks.partition("/")[2]
    facts["trained"], facts["held_out"] = _value(rows, "test", "", metric), _value(rows, "held_out", group, metric)
    return Measured(rows, facts)


def _trained(
    trial: Trial, task: Task, support: Support, stages: list, context: Context, watch: Sequence[str]
) -> Trained:
    """The net of a trial, trained or found where nets are kept."""
    last = stages[-1]
    stream, metric = (last.support or support).asks, (last.task or task).metrics[0].name

    def report(seed: int, step: int, steps: int, facts: dict) -> None:
        scored = f"{stream}/{metric}"
        context.progress(0.95 * step / steps, f"held out {facts[scored]:.3f}" if scored in facts else "")

    return train(
        task,
        support,
        stages,
        seeds=[trial.seed],
        progress=report,
        checkpoint=context.checkpoint,
        watch=("validation", stream, *watch),
        kept=_kept_stages(trial, stages, context),
    )


def _kept_stages(trial: Trial, stages: list, context: Context) -> _KeptStages | None:
    nets = None if context.nets is None else KeptNets.beside(context.nets)
    return None if nets is None else _KeptStages(nets, _plain(trial, stages))


def _plain(trial: Trial, stages: list[Stage]) -> dict[str, Any]:
    """What makes the net of a trial, with every default said: equal nets have equal names."""
    spelled = []
    for stage, data in zip(stages, trial.stages, strict=True):
        own = {part: data[part] for part in ("world", "support") if data.get(part)}
        recipe = stage.recipe.to_json() | {"precision": resolve(stage.recipe.precision, stage.net.products)}
        code = _code_of(type(stage.net)) | (_code_of(type(stage.task)) if stage.task else {})
        spelled.append({"net": stage.net.to_json(), "recipe": recipe, "code": code, **own})
    code = _code_of(type(trial.build_task()))
    return {"world": trial.world, "support": trial.support, "seed": trial.seed, "stages": spelled, "code": code}


def _code_of(made: type) -> dict[str, str]:
    """A hash of the source of a world or net that is not ours: edited, it makes another net."""
    if made.__module__.partition(".")[0] == "recombine":
        return {}
    try:
        source = inspect.getsource(sys.modules[made.__module__])
    except (OSError, TypeError, KeyError):
        source = made.__qualname__  # typed at a prompt: there is nothing to look at
    return {f"{made.__module__}.{made.__qualname__}": hashlib.sha256(source.encode()).hexdigest()[:16]}


@dataclass(frozen=True)
class _KeptStages:
    """The nets of one trial, stage by stage, for `train`."""

    nets: KeptNets
    made_by: dict[str, Any]

    def key(self, number: int) -> str:
        return key_of(self.made_by, number + 1)

    def lock(self, number: int, seed: int) -> AbstractContextManager[None]:
        return self.nets.lock(self.key(number))

    def load(self, number: int, seed: int, fresh: Callable[[], Net]) -> Member | None:
        return self.nets.load(self.key(number), fresh)

    def save(self, number: int, member: Member) -> None:
        self.nets.save(self.key(number), member, self.made_by | {"stages": self.made_by["stages"][: number + 1]})


# -- readings ---------------------------------------------------------------------------------------------------------


def row(reading: str, stream: str, metric: str, value: float, *, group: str = "", layer: str = "", step: int) -> Row:
    return {
        "reading": reading,
        "stream": stream,
        "group": group,
        "layer": layer,
        "metric": metric,
        "step": step,
        "value": value,
    }


def _facts(run: Trained) -> dict[str, Any]:
    certificate, member = run.support.certificate(), run.members[0]
    return {
        "certificate": str(certificate),
        "content": certificate.content,
        "trained_on": run.support.train.size,
        "combinations": run.support.space.size,
        "seconds": member.seconds,
        "diverged_at": member.diverged_at,
        "precision": resolve(run.recipe.precision, run.blueprint.products),
    }


def history_rows(run: Trained, last: int) -> list[Row]:
    """The first metric on the way, in the last stage."""
    metric, streams = run.task.metrics[0].name, ("validation", run.support.asks)
    points = [point for point in run.members[0].history if not last or point["stage"] == last]
    return [
        row("history", stream, metric, point[f"{stream}/{metric}"], step=point["step"])
        for point in points
        for stream in streams
        if f"{stream}/{metric}" in point
    ]


def score_rows(run: Trained, streams: Sequence[str], step: int, how: Any = None) -> list[Row]:
    """Final scores, all metrics, of streams and of the groups of held-out combinations."""
    rows = []
    for stream in streams:
        for name, values in run.score(stream, how=how).values.items():
            group, _, metric = name.rpartition("/")
            found = row("score", stream, metric, values[0], group=group, step=step)
            rows.append(found | {"asked": f"{stream}/{group}".rstrip("/") == run.support.asks})
    return rows


def elsewhere_rows(run: Trained, ask: Mapping[str, Any], step: int) -> list[Row]:
    """Held-out scores in another world than the net was trained in."""
    member, (stream,) = run.members[0], ask["streams"]
    world = build_task(ask["world"], member.seed)
    found = stream_scores(world, run.support.held_out, member.net, key_for(f"held_out/{stream}", member.seed))
    return [row("score", stream, metric, value, step=step) for metric, value in found.items()]


def every_combination(run: Trained, how: Any = None) -> Items:
    """Every combination that was trained and every one held out, asked once, with the answers."""
    rows = np.concatenate([run.support.train.combinations(), run.support.held_out.combinations()])
    key = key_for("drawings", run.members[0].seed)
    return evaluate(run.nets[0], run.task, rows, key=key, how=how, keep=("answer", "target"))


def every_rows(run: Trained, items: Items, step: int) -> list[Row]:
    """Scores of both sides from what was asked about every combination."""
    held_out = np.arange(len(items.combinations)) >= run.support.train.size
    whole = run.task.asked_about(items.combinations)
    trained = ~held_out & (whole if (whole & ~held_out).any() else True)
    found = {"test": items.where(trained).scores(), "held_out": items.where(held_out).scores()}
    return [
        row("score", stream, metric, value, step=step) | {"asked": stream == "held_out"}
        for stream, scores in found.items()
        for metric, value in scores.items()
    ]


def wrong_code_rows(run: Trained, step: int) -> list[Row]:
    """The wrong-code baseline: held-out scores when every task is shown with the code of another."""
    member = run.members[0]
    key = key_for("held_out/blind", member.seed)
    found = stream_scores(WrongCode(run.task), run.support.held_out, member.net, key)
    return [row("score", "blind", metric, value, step=step) for metric, value in found.items()]


def probe_rows(run: Trained, probe: Any, step: int) -> list[Row]:
    """Readings of a probe as rows of a trial."""
    options = {name: value for name, value in probe.items() if name != "name"}
    if probe["name"] == "decodability":
        return decodability_rows(run, step, **options)
    return readings_as_rows(probes[probe["name"]](run, **options), step)


def readings_as_rows(readings: Any, step: int) -> list[Row]:
    """Readings of a probe; the factor is the group."""
    return [
        row(
            readings.probe,
            "grid",
            one["metric"],
            one["value"],
            layer=one["layer"] or "",
            group="" if one["factor"] == "mean" else one["factor"],
            step=step,
        )
        for one in readings.rows
    ]


def decodability_rows(run: Trained, step: int, **options: Any) -> list[Row]:
    """Linear decodability of the constituents by layer, with its controls, mean over constituents."""
    layers = [name for name in run.blueprint.layers() if name.endswith("/pre")]
    if not layers:
        return []
    found = probes["decodability"](run, layer=layers, held_out=run.support.asks, **options)
    return [
        row("decodability", "held_out", one["metric"], one["value"], layer=one["layer"].removesuffix("/pre"), step=step)
        for one in found.rows
        if one["factor"] == "mean"
    ]


def _value(rows: list[Row], stream: str, group: str, metric: str) -> float | None:
    key = {"reading": "score", "stream": stream, "group": group, "metric": metric}
    return next((r["value"] for r in rows if all(r.get(name) == word for name, word in key.items())), None)
