"""What there is, by name: `recombine list` and `recombine show`."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tyro.conf import Positional

from ..errors import unknown
from .printing import short
from .registered_names import REGISTRIES, registered_names


def list_(kind: Positional[str | None] = None) -> None:
    """Studies, tasks, nets, encodings, supports and probes, each with one line.

    Args:
        kind: only this kind, such as "studies"
    """
    if kind is not None and kind not in REGISTRIES:
        raise unknown("kind", kind, REGISTRIES)
    console = Console(highlight=False)
    for title in REGISTRIES if kind is None else (kind,):
        table = Table(
            "name", "", title=f"[bold]{title}[/]", title_justify="left", box=None, show_header=False, pad_edge=True
        )
        for name, line in registered_names(title).items():
            table.add_row(f"[cyan]{escape(name)}[/]", escape(line))
        console.print(table)


def show(study: Positional[str]) -> None:
    """Claims with thresholds and sources, the grid, the settings and the expected running time of a study.

    Args:
        study: its name (see `recombine list studies`); or your own: package.module:study or ./file.py:study
    """
    from ..lab.own import is_reference, own_study
    from ..lab.settings import RESERVED, default_of, words_for
    from ..lab.study import DEFAULT_SEEDS, SCALES
    from ..studies import registry

    chosen = own_study(study) if is_reference(study) else registry[study]
    console = Console(highlight=False)
    console.print(f"[bold]{escape(chosen.title)}[/]\n{escape(chosen.question)}\n[dim]{escape(chosen.source)}[/]\n")
    console.print("[bold]Claims[/]")
    for claim in chosen.claims:
        console.print(f"  [cyan]{escape(claim.id)}[/]  {escape(claim.text)}")
        console.print(
            f"    [dim]decided by: {escape(claim.description)}, {claim.side} {claim.threshold:g}; "
            f"control: {escape(claim.false_in)}[/]"
        )
    for source in dict.fromkeys(claim.source for claim in chosen.claims):
        console.print(f"  [dim]source: {escape(source)}[/]")
    if chosen.history:
        console.print(f"  [dim]changed after a run was seen: {escape(chosen.history)}[/]")
    for sentence in chosen.differs:
        console.print(f"  [dim]otherwise than in the source: {escape(sentence)}[/]")
    if chosen.measurements:
        console.print("\n[bold]Asked, without a threshold[/]")
    for one in chosen.measurements:
        console.print(f"  {escape(one.text)}")
    console.print()
    console.print(f"[bold]Settings[/], for --set name=value ({' | '.join(SCALES)} where they differ)")
    settings = Table(box=None, show_header=False, pad_edge=True)
    settings.add_column(no_wrap=True)  # a name is copied from here
    settings.add_column()
    settings.add_column()
    by_scale = [chosen.settings(scale) for scale in SCALES]
    for name in dict.fromkeys(name for found in by_scale for name in found if name not in RESERVED):
        shown = [short(found.get(name, default_of(name))) for found in by_scale]
        text = shown[0] if len(set(shown)) == 1 else " | ".join(shown)
        settings.add_row(f"[cyan]{escape(name)}[/]", escape(text), f"[dim]{escape(words_for(name))}[/]")
    console.print(settings)
    console.print(f"\n[bold]Grid[/], {DEFAULT_SEEDS} seeds")
    grid = Table("scale", "cells", "expected running time", box=None, pad_edge=True)
    for scale in SCALES:
        grid.add_row(scale, str(len(chosen.cells(chosen.settings(scale), DEFAULT_SEEDS))), chosen.running_time(scale))
    console.print(grid)
