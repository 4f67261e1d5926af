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
from ..labels import visible
from .changes import changes_of
from .following_page import FollowingPage, open_browser, require_local
from .printing import print_json, print_overview, print_result


def run(
    study: Positional[str],
    scale: Literal["smoke", "laptop", "night", "paper"] = "laptop",
    seeds: int = 4,
    out: str | None = None,
    set: Annotated[UseAppendAction[tuple[tuple[str, ...], ...]], arg(metavar="NAME=VALUE")] = (),
    engine: str = "local",
    cell_timeout: float | None = None,
    cell_memory: Annotated[str | None, arg(metavar="SIZE")] = None,
    until_decided: bool = False,
    budget: Annotated[str | None, arg(metavar="TIME")] = None,
    open: bool = False,
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Runs a study, prints its verdicts and writes its report. The same command again continues.

    Args:
        study: its name, or all (see `recombine list studies`); or your own: package.module:study or ./file.py:study
        scale: smoke takes seconds, laptop minutes, night hours on two cores; paper is the published setting
        seeds: independent repetitions; they run to the next look (3, 4, 6, 8, 12, 16, 24, 32, 48 or 64)
        out: folder or URL (s3://bucket/prefix) for records and report (default: runs/STUDY-SCALE; all: the one above)
        set: changes of settings; `recombine show STUDY` lists them
        engine: local (one process per core), local:N, inprocess, or ray[:ADDRESS] for a cluster (docs/cluster.md)
        cell_timeout: seconds after which a cell counts as failed
        cell_memory: memory of a worker above which its cell counts as failed, such as 4G or 500M
        until_decided: give open claims more seeds, until they are decided or seeds will not decide them
        budget: with --until-decided, how long, such as 90s, 10m or 2h (of `all`: for each study); --seeds always run
        open: show the report in a browser while the study runs (of `all`, that of the first); it follows by itself
        dry_run: say how many cells there are, how long they take and how much they keep, and run nothing
        json: print one JSON object on stdout and nothing else there
    """
    from ..files import open_files
    from ..lab.driver.run import prepare, run_study
    from ..report.html import refuse_foreign_page
    from ..studies import registry
    from ..trials.kept import allowed_megabytes
    from .dry_run import print_dry_runs

    allowed_megabytes()  # what the environment says of kept nets is refused here, and not by every cell
    changes = changes_of(pair for group in set for pair in group)
    limits = _limits(cell_timeout, cell_memory)
    feeding = {"until_decided": until_decided, "budget": _seconds(budget, until_decided)}
    chosen, places = _chosen(study, scale, seeds, changes, out, begun=not dry_run)
    if open:
        require_local(places[0])
    if dry_run:
        print_dry_runs([(one, scale, seeds, changes, place) for one, place in zip(chosen, places, strict=True)], json)
        return 0
    for place in places:
        refuse_foreign_page(open_files(place))  # before hours are spent on what it is to show
    results = []
    for one, place in zip(chosen, places, strict=True):
        options: dict[str, Any] = {
            "seeds": seeds,
            "changes": changes,
            "out": place,
            "engine": engine,
            "limits": limits,
            **feeding,
        }
        if open:
            prepare(one, scale, seeds, changes, place)  # the page lies beside the records
        known = {**{name: registry[name] for name in registry}, one.id: one}
        page = _page(place, known, browser=one is chosen[0]) if open else contextlib.nullcontext()
        results.append(_run_and_show(functools.partial(run_study, one, scale, **options), place, json, page))
    if json:
        found = [result.to_json() for result in results]
        print_json({"studies": found} if study == "all" else found[0])
    elif study == "all":
        print_overview(results, Console(highlight=False))
    return 3 if any(result.failures for result in results) else 0


def _chosen(
    study: str, scale: str, seeds: int, changes: dict[str, Any], out: str | None, begun: bool
) -> tuple[list, list[str]]:
    """The studies that a word names, and where their records go. begun: the stores of `all` are begun, or refused."""
    from ..lab.driver.run import default_folder, prepare
    from ..lab.own import is_reference, own_study
    from ..studies import registry

    if study != "all":
        one = own_study(study) if is_reference(study) else registry[study]
        return [one], [out or str(default_folder(one, scale, changes))]
    if changes:
        raise UserError(f"--set {next(iter(changes))} changes one study; name it instead of 'all'")
    # those that read the cells of others come last
    chosen = sorted(registry.values(), key=lambda one: bool(one.depends_on))
    places = [f"{(out or 'runs').rstrip('/')}/{one.id}-{scale}" for one in chosen]
    for one, place in zip(chosen, places, strict=True) if begun else ():
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
    from ..lab.driver.run import run_again
    from ..lab.own import with_own
    from ..studies import registry
    from ..trials.kept import allowed_megabytes

    allowed_megabytes()
    if failed and all:
        raise UserError("give either --failed or --all, not both")
    known = with_own(registry, study)
    again = functools.partial(
        run_again, place, known, only_failed=not all, engine=engine, limits=_limits(cell_timeout, cell_memory)
    )
    result = _run_and_show(again, place, json)
    absent = 0 if all else result.extent.absent
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
def _page(place: str, studies: Any, browser: bool):
    """The page of the study that runs, in a browser where there is one; where it is, is printed."""
    with FollowingPage(place, studies) as page:
        print(f"page: {page.path}", file=sys.stderr, flush=True)
        if browser:
            open_browser(page.path.as_uri())
        yield


def _run_and_show(run: Callable[[], Any], place: str, quiet: bool, meanwhile: Any = None):
    """Runs one study and shows what came out.

    meanwhile: a context to run it in.
    """
    from ..lab.store import Store
    from ..report import write_report

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with meanwhile or contextlib.nullcontext():
            result = run()
    except KeyboardInterrupt:
        with contextlib.suppress(UserError):
            done = len(Store.open(place).done())
            console.print(
                f"\nstopped; {done} finished cells are kept in {place}, and the same command continues", markup=False
            )
        raise
    page = write_report(result)
    if not quiet:
        print_result(result, Console(highlight=False))
        Console(highlight=False, soft_wrap=True).print(f"\nreport: {page}", markup=False)
    for failure in result.failures:
        line = f"failed: {result.study.label(failure.cell.spec)}: {failure.error}"
        console.print(visible(line), markup=False)
    if result.failures:
        console.print(f"tracebacks: {place}/failures; `recombine retry {place}` tries these cells again", markup=False)
    return result


def _seconds(budget: str | None, until_decided: bool) -> float | None:
    """A time such as 90s, 10m or 2h, in seconds."""
    if budget is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", budget.strip().lower())
    if match is None or not float(match[1]):
        raise UserError(f"--budget {budget!r} is no time; 90s, 10m or 2h would do")
    if not until_decided:
        raise UserError(f"--budget {budget} goes with --until-decided: it says how long open claims get more seeds")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def _limits(seconds: float | None, memory: str | None):
    from ..lab.driver.engines import Limits

    size = None
    if memory is not None:
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)B?", memory.strip().upper())
        if match is None:
            raise UserError(f"--cell-memory {memory!r} is no size; 4G or 500M would do")
        size = int(float(match[1]) * 1000 ** " KMGT".index(match[2] or " "))
    return Limits(seconds, size)
