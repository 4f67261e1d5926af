"""What there is, by name: `recombine list` and `recombine show`."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tyro.conf import Positional

from ..errors import unknown
from .printing import short


def list_(kind: Positional[str | None] = None) -> None:
    """Studies, tasks, nets, encodings, supports and probes, each with one line.

    Args:
        kind: only this kind, such as "studies"
    """
    from .. import nets, probes, supports, tasks
    from ..encodings import encodings
    from ..studies import registry as studies

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
    from ..lab.study import DEFAULT_SEEDS, SCALES
    from ..studies import registry

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
    if chosen.history:
        console.print(f"  [dim]changed after a run was seen: {escape(chosen.history)}[/]")
    if chosen.questions:
        console.print("\n[bold]Asked, without a threshold[/]")
    for question in chosen.questions:
        console.print(f"  {escape(question.text)}")
    console.print()
    console.print(f"[bold]Knobs[/], for --set name=value ({' | '.join(SCALES)} where they differ)")
    knobs = Table("knob", "value", "meaning", box=None, show_header=False, pad_edge=True)
    for knob in chosen.knobs:
        values = dict.fromkeys([short(getattr(knob, scale)) for scale in SCALES])
        shown = values if len(values) == 1 else [short(getattr(knob, scale)) for scale in SCALES]
        knobs.add_row(f"[cyan]{knob.name}[/]", escape(" | ".join(shown)), f"[dim]{escape(knob.help)}[/]")
    console.print(knobs)
    console.print(f"\n[bold]Grid[/], {DEFAULT_SEEDS} seeds")
    grid = Table("scale", "cells", "expected running time", box=None, pad_edge=True)
    for scale in SCALES:
        grid.add_row(scale, str(len(chosen.cells(chosen.settings(scale), DEFAULT_SEEDS))), chosen.running_time[scale])
    console.print(grid)
