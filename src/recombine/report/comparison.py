"""The page of two stores side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..files import write_or_refuse
from ..lab.comparing import Comparison
from ..labels import short_place, spelled
from .page import fill, interval_text


def write_comparison(
    comparisons: Sequence[Comparison], path: Path, alone: Sequence[str] = (), force: bool = False
) -> Path:
    """Writes the page of comparisons; returns where it is.

    Args:
        comparisons: of two results each, as `lab.comparing.compare` makes them.
        path: the file to write.
        alone: studies of which only one side has a result.
        force: replace a file there that we did not write.

    Example:
        >>> from recombine.lab.comparing import compare
        >>> result = rc.run(study, "smoke", seeds=2, quiet=True)
        >>> rc.report.write_comparison([compare(result, result)], "compared.html").name
        'compared.html'
    """
    write_or_refuse(Path(path), render_comparison(comparisons, alone).encode(), force)
    return Path(path)


def render_comparison(comparisons: Sequence[Comparison], alone: Sequence[str] = ()) -> str:
    """The page as text."""
    compared = sum(one.difference.seeds >= 2 for c in comparisons for one in c.readings)
    return fill(
        "compare.html.j2",
        [],
        {"spell": spelled, "span": interval_text},
        styles=["gallery.css"],
        page_name="compare",
        comparisons=[_shown(c) for c in comparisons],
        alone=list(alone),
        compared=compared,
        by_chance=0.05 * compared,
    )


def _shown(comparison: Comparison) -> dict[str, Any]:
    sides = []
    for result in (comparison.first, comparison.second):
        sides.append(
            {
                "folder": short_place(result.store.place) if result.store else "not stored",
                "scale": result.scale,
                "extent": result.extent,
                "seconds": result.seconds,
                "version": result.version,
                "content": result.content,
            }
        )
    return {"sides": sides, "comparison": comparison, "study": comparison.first.study}
