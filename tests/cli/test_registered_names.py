"""`recombine list` reads names from the sources: exactly what the registries hold, and nothing heavy is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import pytest

from recombine.cli import registered_names as names

LISTED = """
import sys
from recombine.cli import main
try:
    main(["list", *sys.argv[1:]])
finally:
    print("imported:", *(name for name in ("jax", "equinox", "pandas", "numpy") if name in sys.modules))
"""
PLUG_IN = '''
import recombine as rc


class Dishes(rc.tasks.Task):
    """Dishes with [spices], as a plug-in."""
'''


def listed(*arguments: str, path: str = "") -> str:
    """What a new process prints, wide enough that no line is broken."""
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "250"}
    command = [sys.executable, "-c", LISTED, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout


@pytest.mark.parametrize("kind", names.REGISTRIES)
def test_the_names_are_those_of_the_registry(kind):
    registry = getattr(import_module(f"recombine.{kind}"), names.REGISTRIES[kind])
    wanted = {name: registry.describe(name) for name in registry}
    found = names.registered_names(kind)
    assert found == wanted and all(found.values()) and len(found) > 5


def test_the_list_shows_all_of_them_and_imports_neither_jax_nor_numpy():
    out = listed()
    lines = [line.strip() for line in out.splitlines()]
    for kind in names.REGISTRIES:
        assert kind in lines
        for name, line in names.registered_names(kind).items():
            assert any(one.startswith(f"{name} ") and one.endswith(line) for one in lines), name
    assert lines[-1] == "imported:"


def test_plug_ins_are_listed_with_the_others(tmp_path):
    (tmp_path / "dishes_package.py").write_text(PLUG_IN)
    info = tmp_path / "dishes_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dishes-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[recombine.tasks]\ndishes-v1 = dishes_package:Dishes\n")
    out = listed("tasks", path=str(tmp_path))
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert ["dishes-v1", "Dishes with [spices], as a plug-in."] in [[part.strip() for part in line] for line in lines]
    assert {line[0] for line in lines} >= set(names.registered_names("tasks")), "ours are there, too"
