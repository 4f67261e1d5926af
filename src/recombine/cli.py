"""The command line: `recombine list | show | run | status | retry | report | gallery | compare | audit | plan | ...`.

Exit codes: 0 done, 2 bad input (one sentence on stderr), 3 some cells failed, 130 interrupted and 143 terminated (what
was done is kept).
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tyro.conf import Positional, UseAppendAction, arg

from .errors import UserError

COLORS = {"supported": "green", "refuted": "red", "undecided": "yellow"}


def list_(kind: Positional[str | None] = None) -> None:
    """Studies, tasks, nets, encodings, supports and probes, each with one line.

    Args:
        kind: only this kind, such as "studies"
    """
    from . import nets, probes, supports, tasks
    from .encodings import encodings
    from .errors import unknown
    from .studies import registry as studies

    kinds = {
        "studies": studies, "tasks": tasks.registry, "nets": nets.registry, "encodings": encodings,
        "supports": supports.registry, "probes": probes.registry,
    }  # fmt: skip
    if kind is not None and kind not in kinds:
        raise unknown("kind", kind, kinds)
    console = Console(highlight=False)
    for title, registry in kinds.items():
        if kind in (None, title):
            table = Table(
                "name", "", title=f"[bold]{title}[/]", title_justify="left", box=None, show_header=False, pad_edge=True
            )
            for name in registry:
                table.add_row(f"[cyan]{escape(name)}[/]", escape(registry.describe(name)))
            console.print(table)


def show(study: Positional[str]) -> None:
    """Claims with thresholds and sources, the grid, the knobs and the expected running time of a study.

    Args:
        study: its name; `recombine list studies` shows them
    """
    from .lab.study import DEFAULT_SEEDS, SCALES
    from .studies import registry

    chosen = registry[study]
    console = Console(highlight=False)
    console.print(f"[bold]{escape(chosen.title)}[/]\n{escape(chosen.question)}\n[dim]{escape(chosen.source)}[/]\n")
    console.print("[bold]Claims[/]")
    for claim in chosen.claims:
        console.print(f"  [cyan]{escape(claim.id)}[/]  {escape(claim.text)}")
        console.print(
            f"    [dim]decided by: {escape(claim.reads)}, {claim.side} {claim.threshold:g}; "
            f"control: {escape(claim.control)}[/]"
        )
    for source in dict.fromkeys(claim.source for claim in chosen.claims):
        console.print(f"  [dim]source: {escape(source)}[/]")
    if chosen.questions:
        console.print("\n[bold]Asked, without a threshold[/]")
    for question in chosen.questions:
        console.print(f"  {escape(question.text)}")
    console.print()
    console.print(f"[bold]Knobs[/], for --set name=value ({' | '.join(SCALES)} where they differ)")
    knobs = Table("knob", "value", "meaning", box=None, show_header=False, pad_edge=True)
    for knob in chosen.knobs:
        values = dict.fromkeys([_short(getattr(knob, scale)) for scale in SCALES])
        shown = values if len(values) == 1 else [_short(getattr(knob, scale)) for scale in SCALES]
        knobs.add_row(f"[cyan]{knob.name}[/]", escape(" | ".join(shown)), f"[dim]{escape(knob.help)}[/]")
    console.print(knobs)
    console.print(f"\n[bold]Grid[/], {DEFAULT_SEEDS} seeds")
    grid = Table("scale", "cells", "expected running time", box=None, pad_edge=True)
    for scale in SCALES:
        grid.add_row(scale, str(len(chosen.cells(chosen.settings(scale), DEFAULT_SEEDS))), chosen.running_time[scale])
    console.print(grid)


def run(
    study: Positional[str],
    scale: Literal["smoke", "laptop", "paper"] = "laptop",
    seeds: int = 3,
    out: str | None = None,
    set: Annotated[UseAppendAction[tuple[tuple[str, ...], ...]], arg(metavar="NAME=VALUE")] = (),
    engine: str = "local",
    cell_timeout: float | None = None,
    cell_memory: Annotated[str | None, arg(metavar="SIZE")] = None,
    open: bool = False,
    json: bool = False,
) -> int:
    """Runs a study, prints its verdicts and writes its report. The same command again continues.

    Args:
        study: its name, or all; `recombine list studies` shows them
        scale: smoke takes seconds, laptop minutes on two cores, paper is the published setting
        seeds: independent repetitions; a verdict takes at least three
        out: folder or URL (s3://bucket/prefix) for records and report (default: runs/STUDY-SCALE; all: the one above)
        set: changes of knobs; `recombine show STUDY` lists them
        engine: local (a process a core), local:N, inprocess, or ray[:ADDRESS] for a cluster (docs/cluster.md)
        cell_timeout: seconds after which a cell counts as failed
        cell_memory: memory of a worker above which its cell counts as failed, such as 4G or 500M
        open: show the report in a browser while the study runs; where there is none, its address is printed
        json: print one JSON object on stdout and nothing else there
    """
    from .lab.run import default_folder, prepare, run_study
    from .studies import registry

    changes = _changes(pair for group in set for pair in group)
    limits = _limits(cell_timeout, cell_memory)
    if study == "all":
        if changes:
            raise UserError(f"--set {next(iter(changes))} changes one study; name it instead of 'all'")
        # those that read the cells of others come last
        chosen = sorted(registry.values(), key=lambda one: bool(one.reads))
        places = [f"{(out or 'runs').rstrip('/')}/{one.id}-{scale}" for one in chosen]
    else:
        chosen = [registry[study]]
        places = [out or str(default_folder(chosen[0], scale, changes))]
    if study == "all":  # what cannot be run or continued is refused before the first of them starts
        for one, place in zip(chosen, places, strict=True):
            prepare(one, scale, seeds, {}, place)
    results = []
    with _live_page() if open else contextlib.nullcontext() as live:
        for one, place in zip(chosen, places, strict=True):
            options: dict[str, Any] = {
                "seeds": seeds, "changes": changes, "out": place, "engine": engine, "limits": limits
            }  # fmt: skip
            results.append(_run_and_show(functools.partial(run_study, one, scale, **options), place, json, live))
        if live is not None:
            live.finish()
    if json:
        found = [result.to_json() for result in results]
        _print_json({"studies": found} if study == "all" else found[0])
    elif study == "all":
        _print_overview(results, Console(highlight=False))
    return 3 if any(result.failures for result in results) else 0


@contextlib.contextmanager
def _live_page():
    """A page that shows the study that runs, in a browser or at an address that is printed."""
    from .report.live import LivePage

    with LivePage() as live:
        live.open()
        print(f"live page: {live.address}", file=sys.stderr, flush=True)
        yield live


def _run_and_show(run: Callable[[], Any], place: str, quiet: bool, live: Any = None):
    """Runs one study and shows what came out; meanwhile on the live page, if there is one."""
    from .lab.run import reopen
    from .lab.store import Store
    from .report import render, write_report
    from .studies import registry

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if live is not None:
        live.show(lambda: render(reopen(place, registry)))
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
        _print_result(result, Console(highlight=False))
        Console(highlight=False, soft_wrap=True).print(f"\nreport: {page}", markup=False)
    for failure in result.failures:
        console.print(f"failed: {result.study.label(failure.cell.spec)}: {failure.error}", markup=False)
    if result.failures:
        console.print(f"tracebacks: {place}/failures; `recombine retry {place}` tries these cells again", markup=False)
    return result


def plan(
    data: Positional[str],
    factors: str | None = None,
    budget: float | None = None,
    strength: int | None = None,
    forbid: tuple[str, ...] = (),
    cost: str | None = None,
    risk: str | None = None,
    levels: tuple[str, ...] = (),
    split: str | None = None,
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Says which combinations to collect next, in order, and what each buys.

    Args:
        data: a table, as a file or a quoted glob: .csv, .tsv, .jsonl or .parquet (larger than memory is fine)
        factors: columns that are combined, as a,b,c (default: proposed, and said which)
        budget: how many combinations, or with costs how much they may cost in all (default: until all is covered)
        strength: sets of so many levels are to be seen together: 1 for levels only, 3 for triples (default: 2, pairs)
        forbid: what cannot be had, such as "weather=snow & time=noon"; also | ! ( ) != < <= > >= and in {a, b}
        cost: a column, or a file with the columns factor, level and cost, or with all factors and cost
        risk: a file with all factors and a column risk, such as the combinations.parquet of an audit
        levels: levels that the data lack, as weather=fog,hail
        split: column whose value train marks the rows the model was trained on (default: all of them)
        seed: of choices among equals
        out: file for the plan: .csv, .parquet or .json
        json: print one JSON object on stdout and nothing else there
    """
    from .audit.plan import plan as make_plan

    found = make_plan(
        data, factors, budget=budget, strength=strength, forbid=forbid, cost=cost, risk=risk, levels=levels,
        split=split, seed=seed,
    )  # fmt: skip
    if out is not None:
        found.write(out)
    if json:
        _print_json(found.to_json() | ({"file": str(out)} if out else {}))
        return
    code = sys.stdout.encoding or "utf-8"
    print(str(found).encode(code, "replace").decode(code))
    if out is not None:
        print(f"plan: {out}")


def retry(
    place: Positional[str],
    failed: bool = False,
    all: bool = False,
    engine: str = "local",
    cell_timeout: float | None = None,
    cell_memory: Annotated[str | None, arg(metavar="SIZE")] = None,
    json: bool = False,
) -> int:
    """Tries cells again that failed, with the settings that are stored.

    Args:
        place: where `recombine run` put its records
        failed: only cells that failed (the default)
        all: every cell that has no record, also those that were never begun
        engine: local (a process a core), local:N, inprocess, or ray[:ADDRESS] for a cluster (docs/cluster.md)
        cell_timeout: seconds after which a cell counts as failed
        cell_memory: memory of a worker above which its cell counts as failed, such as 4G or 500M
        json: print one JSON object on stdout and nothing else there
    """
    from .lab.run import run_again
    from .studies import registry

    if failed and all:
        raise UserError("give either --failed or --all, not both")
    again = functools.partial(
        run_again, place, registry, only_failed=not all, engine=engine, limits=_limits(cell_timeout, cell_memory)
    )
    result = _run_and_show(again, place, json)
    if json:
        _print_json(result.to_json())
    return 3 if result.failures else 0


def status(place: Positional[str], watch: bool = False, json: bool = False) -> None:
    """Says how far a run is: cells done, running, failed and left, how fast it goes, and how long it will take.

    Args:
        place: where `recombine run` puts its records
        watch: go on until nobody is at work there
        json: print JSON objects, one a line
    """
    from .lab.claims import Watch
    from .lab.status import status_of
    from .lab.store import Store
    from .studies import registry

    remembered = Watch(Store.open(place).files)
    before = None
    while True:
        found = status_of(place, registry, remembered)
        if found != before:
            if json:
                _print_json(found.to_json())
            elif before is None or not found.drivers:
                print(found, flush=True)
            else:
                print(found.line(), flush=True)
        before = found
        if not watch or not found.drivers:
            return
        sys.stdout.flush()
        time.sleep(2.0)


def _limits(seconds: float | None, memory: str | None):
    from .lab.engines import Limits

    size = None
    if memory is not None:
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)B?", memory.strip().upper())
        if match is None:
            raise UserError(f"--cell-memory {memory!r} is no size; 4G or 500M would do")
        size = int(float(match[1]) * 1000 ** " KMGT".index(match[2] or " "))
    return Limits(seconds, size)


def report(
    folder: Positional[str], format: Literal["html", "md", "pdf", "png"] = "html", out: Path | None = None
) -> None:
    """(Re)makes the report from what is stored, running nothing.

    Args:
        folder: where `recombine run` put its records
        format: html is the page; md a text with images; pdf all charts on one sheet; png claims and the main chart
        out: file to write (default: report.FORMAT in the folder)
    """
    from .lab.run import reopen
    from .report import write
    from .studies import registry

    result = reopen(folder, registry)
    page = write(result, format, out)
    _print_result(result, Console(highlight=False))
    Console(highlight=False, soft_wrap=True).print(f"\nreport: {page}", markup=False)


def gallery(folders: Positional[tuple[Path, ...]] = (Path("runs"),), out: Path | None = None) -> None:
    """Makes one page of all studies that were run: verdicts, scale, time, and links to the reports.

    Args:
        folders: stores, or folders that hold them; reports that are missing or old are made, too
        out: file to write (default: gallery.html in the first folder)
    """
    from .report import write_gallery

    print(f"gallery: {write_gallery(folders or (Path('runs'),), out)}")


def compare(first: Positional[str], second: Positional[str], out: Path | None = None, json: bool = False) -> None:
    """Puts two stores of a study side by side and marks differences that are larger than their interval.

    Args:
        first: a store, or a folder of stores
        second: another one; in folders, stores of the same name are compared
        out: file for the page (default: compare.html beside the second; of a URL, here)
        json: print one JSON object on stdout and nothing else there
    """
    from .report import compare_folders, write_comparison

    found, alone = compare_folders(first, second)
    beside = Path() if "://" in second else Path(second).parent
    page = write_comparison(found, out or beside / "compare.html", alone)
    if json:
        _print_json({"studies": [one.to_json() for one in found], "only_in_one": alone, "page": str(page)})
        return
    console = Console(highlight=False)
    for one in found:
        _print_comparison(one, console)
    if alone:
        console.print(f"only in one of the two: {', '.join(alone)}", markup=False)
    Console(highlight=False, soft_wrap=True).print(f"\npage: {page}", markup=False)


def audit(
    data: Positional[str],
    factors: str | None = None,
    split: str | None = None,
    outcome: str | None = None,
    activations: tuple[Path, ...] = (),
    id: str | None = None,
    prior: Path | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Says what your data cover, whether your model holds the factors apart, and which unseen combinations will fail.

    Args:
        data: a table, as a file or a quoted glob: .csv, .tsv, .jsonl or .parquet (larger than memory is fine)
        factors: columns that are combined, as a,b,c (default: proposed, and said which)
        split: column whose value train marks the rows the model was trained on (default: all of them)
        outcome: column that says whether the model was right, as 1 or 0, true or false, or a score between them
        activations: .npy, .npz or .safetensors files with a layer's vector for each row
        id: column with the ids that activation files carry as "ids" (default: rows in the same order)
        prior: a file made by `recombine risk fit`, for when there are too few outcomes
        out: folder for the page, the JSON and the table of combinations (default: runs/audit-DATA)
        json: print one JSON object on stdout and nothing else there
    """
    from .audit import STEPS
    from .audit.run import audit as run_audit
    from .progress import steps
    from .report import write_audit

    with steps((*STEPS, "writing"), False if json else None) as tell:
        found = run_audit(
            data,
            factors,
            outcome=outcome,
            split=split,
            activations=activations or None,
            id=id,
            prior=prior,
            progress=tell,
        )
        tell("writing")
        paths = write_audit(found, out or _audit_folder(data))
    if json:
        _print_json(found.to_json() | {"files": {kind: str(path) for kind, path in paths.items()}})
        return
    code = sys.stdout.encoding or "utf-8"
    print(f"{found}\n".encode(code, "replace").decode(code))
    for kind, path in paths.items():
        print(f"{kind}: {path}".encode(code, "replace").decode(code))


def risk(
    what: Positional[Literal["fit"]],
    folders: Positional[tuple[Path, ...]],
    out: Path = Path("prior.json"),
    json: bool = False,
) -> None:
    """Learns a prior of failure from lab records that keep which combinations failed: `recombine risk fit DIR...`.

    Args:
        what: fit
        folders: where `recombine run` put its records
        out: the file to write; `recombine audit --prior FILE` uses it
        json: print the prior as one JSON object
    """
    from .audit import fit_prior
    from .files import write_or_refuse

    if not folders:
        raise UserError("risk fit needs at least one folder of records")
    model = fit_prior(folders)
    write_or_refuse(out, model.to_bytes())
    if json:
        _print_json(model.to_json())
        return
    quality = model.quality
    print(
        f"learned from {model.combinations:,} combinations of {', '.join(model.provenance['families'])}; on other "
        f"{model.provenance['judged_on']}: AUROC {quality.auroc:.3f}, Brier {quality.brier:.3f} (the base rate: "
        f"{quality.brier_of_the_rate:.3f}), calibration error {quality.calibration_error:.3f}\n{out}"
    )


def certify(
    design: Positional[str],
    modules: int | None = None,
    at_most: int | None = None,
    factors: Annotated[tuple[str, ...], arg(metavar="NAME=LEVELS")] = (),
    held_out: float | None = None,
    elements: tuple[str, ...] = (),
    blocks: tuple[int, ...] = (),
    within: float | None = None,
    low: int | None = None,
    high: int | None = None,
    width: int | None = None,
    factor: str | None = None,
    trained: int | None = None,
    bumps: int | None = None,
    stripes: int | None = None,
    empty: bool = False,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Makes a support and prints its certificate.

    Args:
        design: such as random, missing or donut; `recombine list supports` shows them
        modules: for a space of subsets: number of modules
        at_most: for a space of subsets: most modules active at once
        factors: for a product space: name=number, name=level,level,... or, if it can be absent, name=number,none
        held_out: share of the combinations that is held out
        elements: for missing: modules ("m3") or levels ("color=red") that are never trained
        blocks: for disconnected: block sizes
        within: for disconnected: share held out inside the blocks
        low: for regions: first level inside (of 0, 1, ...)
        high: for regions: last level inside
        width: for band: levels by which two factors may differ inside
        factor: for gap: name of the factor
        trained: for regions: train only so many of the combinations outside
        bumps: for bumps-and-stripes: how many bumps are trained
        stripes: for bumps-and-stripes: how many stripes are trained
        empty: for bumps-and-stripes: train the empty picture, too
        seed: of the support
        json: print the certificate as one JSON object
    """
    import inspect

    from .supports import registry

    make = registry[design]
    space = _space(modules, at_most, factors)
    given = {
        "held_out": held_out, "elements": elements or None, "blocks": blocks or None, "within": within,
        "low": low, "high": high, "width": width, "factor": factor, "trained": trained,
        "bumps": bumps, "stripes": stripes, "empty": empty or None,
    }  # fmt: skip
    options = {name: value for name, value in given.items() if value is not None}
    accepted = inspect.signature(make).parameters
    for name in options:
        if name not in accepted:
            takes = ", ".join(f"--{p.replace('_', '-')}" for p in accepted if p in given) or "none of these"
            raise UserError(f"--{name.replace('_', '-')} does not apply to the design {design!r}, which takes {takes}")
    certificate = make(space, seed=seed, **options).certificate()
    if json:
        _print_json(certificate.to_json())
    else:
        print(f"{design} support\n{certificate}")


def bench(
    part: Literal["all", "throughput", "convolutions", "time-to-score", "engine"] = "all",
    repeats: int = 3,
    engine: str | None = None,
    json: bool = False,
) -> None:
    """Measures speed on one core: time to score against the published settings, throughput against a plain loop.

    And, with --engine, how much an engine adds to a cell, at 1,000 and at 10,000 cells.

    Args:
        part: what to measure; time-to-score takes a quarter of an hour a repeat without bfloat16 hardware
        repeats: rounds or seeds
        engine: measure this engine and nothing else: local (if no name follows), local:N, inprocess, ...
        json: print one JSON object on stdout and nothing else there
    """
    from .bench import run_bench
    from .errors import require_int

    require_int("repeats", repeats, at_least=1)

    def say(text: str) -> None:
        print(text, file=sys.stderr if json else sys.stdout, flush=True)

    if engine is not None or part == "engine":
        from .bench_engine import run_bench_engine

        if part not in ("all", "engine"):
            raise UserError(f"--engine measures engines and --part {part} does not; give one of them")
        found = run_bench_engine(engine or "local", say)
    else:
        parts = ("throughput", "convolutions", "time-to-score") if part == "all" else (part,)
        found = run_bench(parts, repeats, say)
    if json:
        _print_json(found)


def show_episode(
    task: Positional[str],
    combination: str | None = None,
    seed: int = 0,
    episode: int = 0,
    set: Annotated[UseAppendAction[tuple[tuple[str, ...], ...]], arg(metavar="NAME=VALUE")] = (),
    out: Path | None = None,
) -> None:
    """Draws an episode of a grid world, in characters or as an image: what is there and what the expert does.

    Args:
        task: its name, such as preference-v1; `recombine list tasks` shows them
        combination: module numbers, or a level for each factor: 0,3,5 (default: a random one)
        seed: of the world
        episode: number of the episode in it
        set: the space (modules=8 at_most=2, or quadrant=2 ...) and options of the task (features=32)
        out: an .svg or .png to write
    """
    from .errors import require_int
    from .files import write_or_refuse
    from .keys import key_for
    from .report.episodes import episode_png, episode_svg, episode_text

    drawn = {".svg": lambda e: episode_svg(e).encode(), ".png": episode_png}
    if out is not None and out.suffix.lower() not in drawn:
        raise UserError(f"--out {out} must end in .svg or .png")
    require_int("episode", episode, at_least=0)
    world = _grid_world(task, seed, _changes(pair for group in set for pair in group))
    row = _combination(world.space, combination, seed)
    found = world.episode(key_for("show-episode", episode), row)
    if out is not None:
        write_or_refuse(out, drawn[out.suffix.lower()](found))
        print(out)
        return
    text = episode_text(found, shutil.get_terminal_size().columns)
    code = sys.stdout.encoding or "utf-8"
    print(text.encode(code, "replace").decode(code))  # a terminal that knows no arrows gets question marks


COMMANDS = {
    "list": list_, "show": show, "run": run, "status": status, "retry": retry, "report": report, "gallery": gallery,
    "compare": compare, "audit": audit, "plan": plan, "risk": risk, "certify": certify, "bench": bench,
    "show-episode": show_episode,
}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    warnings.showwarning = _show_warning
    try:
        code = tyro.extras.subcommand_cli_from_dict(
            COMMANDS, prog="recombine", args=_spelled_out(sys.argv[1:] if arguments is None else arguments),
            description="Will a neural network handle combinations it has never seen, where will it fail, "
            "and which data would fix it?",
        )  # fmt: skip
        sys.stdout.flush()
    except UserError as problem:
        print(f"recombine: {problem}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt as stopped:
        code = getattr(stopped, "exit_code", 130)
    except BrokenPipeError:  # `recombine list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code or 0)


def _spelled_out(words: list[str]) -> list[str]:
    """`bench --engine` without a name means the default engine; the parser knows no options with a value or without."""
    words = list(words)
    if words[:1] == ["bench"] and "--engine" in words:
        place = words.index("--engine") + 1
        if place == len(words) or words[place].startswith("-"):
            words.insert(place, "local")
    return words


def _changes(pairs: Iterable[str]) -> dict[str, str]:
    changes = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UserError(f"--set takes name=value, got {pair!r}")
        if name in changes:
            raise UserError(f"--set names {name!r} twice")
        changes[name] = value
    return changes


def _space(modules: int | None, at_most: int | None, factors: tuple[str, ...]):
    from .spaces import Product, Subsets

    if factors and (modules is not None or at_most is not None):
        raise UserError("give either --modules and --at-most, or --factors, not both")
    if factors:
        levels = {}
        for name, value in _changes(factors).items():
            number, _, rest = value.partition(",")
            if number.isdecimal() and rest == "none":
                levels[name] = [*range(int(number)), "none"]
            else:
                levels[name] = int(value) if value.isdecimal() else [part for part in value.split(",") if part]
        return Product(**levels)
    if modules is None or at_most is None:
        raise UserError("a space is needed: --modules 16 --at-most 3, or --factors color=3 shape=round,square")
    return Subsets(modules, at_most)


def _grid_world(task: str, seed: int, changes: dict[str, str]):
    """A registered task with episodes, its space and its options changed as asked."""
    import inspect

    from .errors import unknown
    from .spaces import Product
    from .tasks import Episodes, registry

    made = registry[task]
    if not issubclass(made, Episodes):
        worlds = [name for name in registry if issubclass(registry[name], Episodes)]
        raise UserError(f"{task} has no episodes; those that have are {', '.join(worlds)}")
    space: Any = made.default_space()
    make: Any = made  # its constructor takes more than that of the base
    kind: Any = type(space)
    if isinstance(space, Product):
        sizes: dict[str, Any] = dict(zip(space.factors, space.levels, strict=True))
    else:
        sizes = {"modules": space.modules, "at_most": space.at_most}
    options = [name for name in inspect.signature(made.__init__).parameters if name not in _NOT_SET]
    values = {name: int(value) if value.isdecimal() else value for name, value in changes.items()}
    for name in values:
        if name not in (*sizes, *options):
            raise unknown("option", name, (*sizes, *options))
    sizes |= {name: value for name, value in values.items() if name in sizes}
    return make(kind(**sizes), seed=seed, **{name: value for name, value in values.items() if name not in sizes})


_NOT_SET = ("self", "space", "seed", "samples", "encoding_options")


def _combination(space: Any, text: str | None, seed: int):
    from .spaces import Subsets

    if text is None:
        return space.sample(seed, 1)[0]
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"--combination takes whole numbers, such as 0,3,5, got {text!r}") from None
    if any(number >= len(space.element_names) for number in numbers):
        raise UserError(f"--combination {text} lies outside {space}")
    return space.from_sets([numbers])[0] if isinstance(space, Subsets) else space.check([numbers])[0]


def _audit_folder(data: str) -> Path:
    """runs/audit-NAME, NAME being what of the data's name can safely be a folder."""
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(data).name.split(".")[0]).strip("-")
    return Path("runs") / f"audit-{name[:80] or 'data'}"


def _short(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _print_json(data: object) -> None:
    print(json.dumps(data, allow_nan=False))


def _print_result(result, console: Console) -> None:
    """A table of verdicts and the answers to questions without a threshold."""
    table = Table(
        "verdict",
        "claim",
        "value [95 % over seeds]",
        "threshold",
        title=f"{result.study.id}, {escape(result.scale)} scale",
    )
    for verdict in result.verdicts:
        claim = verdict.claim
        text = escape(claim.text) + (f"\n[dim]{escape(verdict.why)}[/]" if verdict.why else "")
        value = str(verdict.interval) if verdict.interval.seeds else "-"
        table.add_row(
            f"[{COLORS[verdict.outcome]}]{verdict.outcome}[/]", text, escape(value), f"{claim.side} {claim.threshold:g}"
        )
    console.print(table)
    for question, interval, _ in result.answers:
        if interval.seeds:
            console.print(f"{question.text}: {interval}", markup=False)
    outcomes = {verdict.claim.id: verdict.outcome for verdict in result.verdicts}
    console.print(f"\n{result.study.answer(result.table, outcomes)}", markup=False, style="bold")


def _print_comparison(comparison, console: Console) -> None:
    """A line a reading: both values, their difference, and whether it is larger than its interval."""
    table = Table(title=comparison.first.study.id)
    for name in ("reading", "first", "second", "difference [95 %]", ""):
        table.add_column(escape(name), no_wrap=name != "reading")
    for one in comparison.readings:
        means = (f"{side.mean:.3f}" if side.seeds else "-" for side in (one.first, one.second))
        change = f"{one.outcomes[0]}\n-> {one.outcomes[1]}" if one.turned else ""
        mark = "[bold]differs[/]" if one.differs else "" if one.difference.seeds >= 2 else "[dim]few seeds[/]"
        difference = str(one.difference) if one.difference.seeds else "-"
        table.add_row(escape(one.text), *means, escape(difference), "\n".join(filter(None, (mark, change))))
    console.print(table)
    for name, a, b in comparison.settings:
        console.print(f"{name}: {_short(a)} -> {_short(b)}", markup=False)
    console.print(comparison.sentence(), markup=False, style="bold")


def _print_overview(results, console: Console) -> None:
    """One line a study: how its claims came out."""
    table = Table("study", "supported", "refuted", "undecided", "answer", title="all studies", title_justify="left")
    for result in results:
        outcomes = {verdict.claim.id: verdict.outcome for verdict in result.verdicts}
        counts = [str(list(outcomes.values()).count(name) or "") for name in COLORS]
        table.add_row(result.study.id, *counts, escape(result.study.answer(result.table, outcomes)))
    console.print(table)


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    print(f"recombine: warning: {message}", file=sys.stderr)
