"""Progress: bars on a terminal, nothing on a pipe, or a callable of the user's."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

#: what begins now
Tell = Callable[[str], None]
#: (seed, step, steps, facts): facts holds scores when they were just taken
Report = Callable[[int, int, int, dict], None]


def silent(seed: int, step: int, steps: int, facts: dict) -> None:
    """Shows nothing."""


def in_words(facts: dict) -> str:
    """A row of history in a few words: the loss, its parts and notes if it has several, and the held-out score."""
    said = {name.removeprefix("train/"): value for name, value in facts.items() if name.startswith("train/")}
    if len(said) <= 1:
        said = {"loss": facts["loss"]} if "loss" in facts else {}
    words = [f"{name} {value:.3g}" for name, value in said.items()]
    losses = {*said, "loss", "total"}
    held_out = [name for name in facts if name.startswith("held_out") and name.rpartition("/")[2] not in losses]
    words += [f"held out {facts[name]:.3f}" for name in held_out[:1]]
    return ", ".join(words)


@contextlib.contextmanager
def bars(progress: bool | Report | None, seeds: list[int], steps: int) -> Iterator[Report]:
    """One bar per member while the block runs."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[score]}"),
    )
    lock = threading.Lock()
    with Progress(*columns, console=Console(stderr=True)) as shown:
        lines = {seed: shown.add_task(f"seed {seed}", total=steps, score="") for seed in seeds}

        def report(seed: int, step: int, steps: int, facts: dict) -> None:
            with lock:
                shown.update(lines[seed], completed=step)
                if facts:
                    shown.update(lines[seed], score=in_words(facts))

        yield report


@contextlib.contextmanager
def steps(names: Sequence[str], progress: bool | None) -> Iterator[Tell]:
    """One bar over named steps while the block runs; call what is given with the name of the step that begins."""
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        line = shown.add_task(names[0], total=len(names))

        def tell(name: str) -> None:
            shown.update(line, description=name, completed=names.index(name))

        yield tell
