"""Cells are computed: `recombine run`, and `recombine retry` for those that failed."""

from __future__ import annotations

import contextlib
import functools
import re
import shlex
import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal

from rich.console import Console
from tyro.conf import Positional, UseAppendAction, arg

from ..errors import UserError
from .changes import changes_of
from .printing import print_json, print_overview, print_result


def run(
    study: Positional[str],
    scale: Literal["smoke", "laptop", "night", "paper"] = "laptop",
    seeds: int = 3,
    out: str | None = None,
    set: Annotated[UseAppendAction[tuple[tuple[str, ...], ...]], arg(metavar="NAME=VALUE")] = (),
    engine: str = "local",
    cell_timeout: float | None = None,
    cell_memory: Annotated[str | None, arg(metavar="SIZE")] = None,
    open: bool = False,
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Runs a study, prints its verdicts and writes its report. The same command again continues.

    Args:
        study: its name, or all (see `recombine list studies`); or your own: package.module:study or ./file.py:study
        scale: smoke takes seconds, laptop minutes, night hours on two cores; paper is the published setting
        seeds: independent repetitions; a verdict takes at least three
        out: folder or URL (s3://bucket/prefix) for records and report (default: runs/STUDY-SCALE; all: the one above)
        set: changes of settings; `recombine show STUDY` lists them
        engine: local (one process per core), local:N, inprocess, or ray[:ADDRESS] for a cluster (docs/cluster.md)
        cell_timeout: seconds after which a cell counts as failed
        cell_memory: memory of a worker above which its cell counts as failed, such as 4G or 500M
        open: show the report in a browser while the study runs; where there is none, its address is printed
        dry_run: say how many cells there are, how long they take and how much they keep, and run nothing
        json: print one JSON object on stdout and nothing else there
    """
    from ..lab.run import run_study
    from ..studies import registry
    from .dry_run import print_dry_runs

    changes = changes_of(pair for group in set for pair in group)
    limits = _limits(cell_timeout, cell_memory)
    chosen, places = _chosen(study, scale, seeds, changes, out)
    if dry_run:
        print_dry_runs([(one, scale, seeds, changes, place) for one, place in zip(chosen, places, strict=True)], json)
        return 0
    results = []
    with _live_page() if open else contextlib.nullcontext() as live:
        for one, place in zip(chosen, places, strict=True):
            options: dict[str, Any] = {
                "seeds": seeds, "changes": changes, "out": place, "engine": engine, "limits": limits
            }  # fmt: skip
            known = {**{name: registry[name] for name in registry}, one.id: one}
            results.append(_run_and_show(functools.partial(run_study, one, scale, **options), place, json, live, known))
        if live is not None:
            live.finish()
    if json:
        found = [result.to_json() for result in results]
        print_json({"studies": found} if study == "all" else found[0])
    elif study == "all":
        print_overview(results, Console(highlight=False))
    return 3 if any(result.failures for result in results) else 0


def _chosen(study: str, scale: str, seeds: int, changes: dict[str, Any], out: str | None) -> tuple[list, list[str]]:
    """The studies that a word names, and where their records go."""
    from ..lab.own import is_reference, own_study
    from ..lab.run import default_folder, prepare
    from ..studies import registry

    if study != "all":
        one = own_study(study) if is_reference(study) else registry[study]
        return [one], [out or str(default_folder(one, scale, changes))]
    if changes:
        raise UserError(f"--set {next(iter(changes))} changes one study; name it instead of 'all'")
    # those that read the cells of others come last
    chosen = sorted(registry.values(), key=lambda one: bool(one.depends_on))
    places = [f"{(out or 'runs').rstrip('/')}/{one.id}-{scale}" for one in chosen]
    for one, place in zip(chosen, places, strict=True):
        prepare(one, scale, seeds, {}, place)  # what cannot be run or continued is refused before the first one starts
    return chosen, places


def retry(
    place: Positional[str],
    failed: bool = False,
    all: bool = False,
    engine: str = "local",
    cell_timeout: float | None = None,
    cell_memory: Annotated[str | None, arg(metavar="SIZE")] = None,
    study: str | None = None,
    json: bool = False,
) -> int:
    """Tries cells again that failed, with the settings that are stored.

    Args:
        place: where `recombine run` put its records
        failed: only cells that failed (the default)
        all: every cell that has no record, also those that were never begun
        engine: local (one process per core), local:N, inprocess, or ray[:ADDRESS] for a cluster (docs/cluster.md)
        cell_timeout: seconds after which a cell counts as failed
        cell_memory: memory of a worker above which its cell counts as failed, such as 4G or 500M
        study: where a study of your own is, as it was run: package.module:study or ./file.py:study
        json: print one JSON object on stdout and nothing else there
    """
    from ..lab.own import with_own
    from ..lab.run import run_again
    from ..report.origin import extent
    from ..studies import registry

    if failed and all:
        raise UserError("give either --failed or --all, not both")
    known = with_own(registry, study)
    again = functools.partial(
        run_again, place, known, only_failed=not all, engine=engine, limits=_limits(cell_timeout, cell_memory)
    )
    result = _run_and_show(again, place, json, studies=known)
    absent = 0 if all else extent(result).absent
    if absent:
        command = shlex.join(["recombine", "retry", place, "--all"])
        print(
            f"{absent} cell{'' if absent == 1 else 's'} did not fail and never ran; `{command}` runs them",
            file=sys.stderr,
        )
    if json:
        print_json(result.to_json())
    return 3 if result.failures else 0


@contextlib.contextmanager
def _live_page():
    """A page that shows the study that runs, in a browser or at an address that is printed."""
    from ..report.live import WAITING, LivePage

    with LivePage() as live:
        live.show(lambda: WAITING)
        live.open()
        print(f"live page: {live.address}", file=sys.stderr, flush=True)
        yield live


def _run_and_show(run: Callable[[], Any], place: str, quiet: bool, live: Any = None, studies: Any = None):
    """Runs one study and shows what came out; meanwhile on the live page, if there is one."""
    from ..lab.run import reopen
    from ..lab.status import status_of
    from ..lab.store import Store
    from ..report import render, write_report
    from ..report.live import WAITING
    from ..studies import registry

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    known = registry if studies is None else studies

    def current() -> str:
        try:
            return render(reopen(place, known), running=status_of(place, known).line())
        except UserError:  # it is being prepared
            return WAITING

    if live is not None:
        live.show(current)
    try:
        result = run()
    except KeyboardInterrupt:
        with contextlib.suppress(UserError):
            done = len(Store.open(place).done())
            console.print(
                f"\nstopped; {done} finished cells are kept in {place}, and the same command continues", markup=False
            )
        raise
    page = write_report(result)
    if live is not None:
        live.show(lambda: render(result))
    if not quiet:
        print_result(result, Console(highlight=False))
        Console(highlight=False, soft_wrap=True).print(f"\nreport: {page}", markup=False)
    for failure in result.failures:
        console.print(f"failed: {result.study.label(failure.cell.spec)}: {failure.error}", markup=False)
    if result.failures:
        console.print(f"tracebacks: {place}/failures; `recombine retry {place}` tries these cells again", markup=False)
    return result


def _limits(seconds: float | None, memory: str | None):
    from ..lab.engines import Limits

    size = None
    if memory is not None:
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)B?", memory.strip().upper())
        if match is None:
            raise UserError(f"--cell-memory {memory!r} is no size; 4G or 500M would do")
        size = int(float(match[1]) * 1000 ** " KMGT".index(match[2] or " "))
    return Limits(seconds, size)
