"""The page of a split of a table: what is in which set, the certificate, and a map of what is trained and held out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..charts.all_charts import of_split
from ..charts.map_layout import MOST, words
from ..charts.split_map import SupportMap
from ..labels import quoted, thousands, visible
from ..spaces import Listed
from ..splitting import Split
from ..supports import Support
from ..supports.support import from_ranks
from .page import fill

PAGE_NAME = "map.html"


def write_split(split: Split, folder: str | os.PathLike, *, force: bool = False) -> dict[str, Path]:
    """Writes the files of a split, its certificate and its page into a folder; says where each is.

    Args:
        split: what `rc.split` gave.
        folder: a new one, or an empty one.
        force: replace what an earlier split wrote there, if it is unchanged.

    Example:
        >>> parts = rc.split(rc.example("drives"), "weather,light,road,vehicle")
        >>> sorted(path.name for path in rc.report.write_split(parts, "parts").values())
        ['certificate.json', 'certificate.txt', 'held_out.csv', 'map.html', 'test.csv', 'train.csv', 'validation.csv']
    """
    return split.write(folder, force=force, more={PAGE_NAME: render_split(split).encode()})


def render_split(split: Split) -> str:
    """The page as text. The same split gives the same text.

    Args:
        split: what `rc.split` gave.

    Example:
        >>> parts = rc.split(rc.example("drives"), "weather,light,road,vehicle")
        >>> rc.report.render_split(parts).startswith("<!DOCTYPE html>")
        True
    """
    shown = SupportMap("the split", _drawable(split.support))
    return fill(
        "split.html.j2",
        list(of_split(shown)),
        {"visible": visible, "quoted": quoted, "thousands": thousands},
        page_name="split",
        split=split,
        rows={name: count for name, count in split.rows.items() if count},
        certificate="\n".join(visible(line) for line in str(split.certificate).splitlines()),
        factors=[(name, len(levels)) for name, levels in split.support.space.columns.items()],
        words=words(shown),
    )


def _drawable(support: Support) -> Support:
    """The split on the whole product, where what the table lacks is a gap, or on a list if that is too large."""
    space: Any = support.space
    train, held_out = support.train.combinations(), support.held_out.combinations()
    if space.product.size <= MOST:
        whole = space.product
        return from_ranks(whole, whole.rank(train), whole.rank(held_out), support.design)
    if space.size > MOST:
        return support
    rows = Listed(space.elements(space.table), space.element_names)
    return from_ranks(rows, space.rank(train), space.rank(held_out), support.design)
