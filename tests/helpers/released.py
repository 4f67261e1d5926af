"""Released data sets, where they are: tests against them are skipped elsewhere, and say why."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

#: the folder with scan/, cogs/ and pcfg/; beside the repository if RECOMBINE_DATA does not say where
DATA = Path(os.environ.get("RECOMBINE_DATA") or Path(__file__).parents[3] / "shared" / "data")


def released(*parts: str) -> Path:
    """The path of a released file; the test is skipped, with the reason, if it is not there."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} is not there: RECOMBINE_DATA names the folder of released data")
    return path


def rows_of(path: Path) -> list[str]:
    """The rows of a packed file."""
    return gzip.decompress(path.read_bytes()).decode().splitlines()
