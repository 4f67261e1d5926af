"""How things look in a notebook: small HTML tables, every word of them escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from .labels import visible


def table_html(title: str, rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    """A titled table as HTML. Labels in it are data, whatever they look like.

    Args:
        title: what the table is about; its caption.
        rows: one sequence of values per row.
        head: names of the columns, if they have any.
    """
    cells = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    names = f"<thead><tr>{_cells('th', head)}</tr></thead>" if head else ""
    caption = f"<caption style='text-align:left'><b>{escape(visible(title))}</b></caption>"
    return f"<table>{caption}{names}<tbody>{cells}</tbody></table>"


def _cells(kind: str, values: Iterable[Any]) -> str:
    return "".join(f"<{kind} style='text-align:left'>{escape(visible(value))}</{kind}>" for value in values)
