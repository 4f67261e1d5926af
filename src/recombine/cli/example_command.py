"""`recombine example`: a table to try the other commands on."""

from __future__ import annotations

import os
from pathlib import Path

from tyro.conf import Positional

from ..errors import UserError
from .printing import print_text


def example(name: Positional[str] = "drives", /, out: Path | None = None, force: bool = False) -> None:
    """Write an example table that the package ships, to try audit, plan and split on.

    Args:
        name: which table; "drives" is the only one so far
        out: where to write it; NAME.csv in this folder if nothing is said
        force: replace a file that is there
    """
    from ..examples import example as shipped
    from ..files import write_or_refuse

    source = shipped(name)
    target = Path(source.name) if out is None else out
    if os.path.lexists(target) and not force:
        raise UserError(f"{target} is there already; say where else to write it with --out, or --force")
    write_or_refuse(target, source.read_bytes(), force)
    print_text(f"{target}: try `recombine audit {target} --outcome right --split split`")
