"""The bare wheel in environments of its own: core dependencies only, in the lowest versions and the newest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KINDS = ("csv", "jsonl", "parquet")
TABLES = """
import duckdb, pandas
table = pandas.read_csv("drives.csv", dtype=str)
table.to_json("drives.jsonl", orient="records", lines=True)
duckdb.sql("COPY (SELECT * FROM 'drives.csv') TO 'drives.parquet' (FORMAT parquet)")
"""
RUN = ["run", "supports", "--scale", "smoke", "--engine", "inprocess", "--seeds", "1", "--set", "support=random"]
RUN += ["steps=30", "modules=6", "at_most=2", "width=16"]


def said(*command: str | Path, **more) -> subprocess.CompletedProcess:
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=900, env=outside, check=False, **more
    )


@pytest.fixture(scope="module")
def uv(tmp_path_factory) -> Path:
    """uv, which alone can resolve to the lowest versions; installed beside the tests where it is not there."""
    if found := shutil.which("uv"):
        return Path(found)
    folder = tmp_path_factory.mktemp("uv")
    said(sys.executable, "-m", "venv", folder)
    done = said(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "uv")
    if done.returncode:
        pytest.skip(f"uv is not installed and cannot be: {done.stderr.strip().splitlines()[-1][:200]}")
    return folder / "bin" / "uv"


@pytest.fixture(scope="module")
def wheel(uv, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = said(uv, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT)
    assert not done.returncode, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module", params=["lowest", "newest"])
def environment(request, uv, wheel, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp(request.param) / "env"
    resolution = "lowest-direct" if request.param == "lowest" else "highest"
    pins = folder.parent / "pins.txt"
    python = folder / "bin" / "python"
    of_python = ("--python", sys.executable, ROOT / "pyproject.toml")
    for words in (
        ("venv", "--quiet", "--python", sys.executable, folder),
        ("pip", "compile", "--quiet", "--resolution", resolution, *of_python, "--output-file", pins),
        ("pip", "install", "--quiet", "--python", python, "--requirement", pins),
        ("pip", "install", "--quiet", "--python", python, "--no-deps", wheel),
    ):
        done = said(uv, *words)
        assert not done.returncode, done.stderr
    return folder


@pytest.fixture(scope="module")
def commands(environment, tmp_path_factory):
    """Runs a command of the installed wheel in one folder; it must succeed without a warning."""
    folder = tmp_path_factory.mktemp("work")

    def run(*words: str) -> str:
        done = said(environment / "bin" / "recombine", *words, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr.lower(), done.stderr
        return done.stdout

    run("example", "drives")
    done = said(environment / "bin" / "python", "-c", TABLES, cwd=folder)
    assert not done.returncode, done.stderr
    run.folder = folder  # type: ignore[attr-defined]
    return run


def test_nothing_but_what_the_wheel_asks_for_is_installed(environment):
    done = said(environment / "bin" / "python", "-c", "import pytest")
    assert done.returncode and "No module named 'pytest'" in done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_each_kind_are_audited_planned_and_split(kind, commands):
    data, factors = f"drives.{kind}", ("--factors", "weather,light,road,vehicle")
    audit = json.loads(commands("audit", data, *factors, "--outcome", "right", "--split", "split", "--json"))
    assert (
        audit["rows"] > 1000 and audit["factors"]["weather"] and Path(commands.folder, audit["files"]["page"]).exists()
    )
    for ending in KINDS if kind == "csv" else ():  # what is written does not depend on what was read
        name = f"plan-{kind}.{ending.replace('jsonl', 'json')}"
        commands("plan", data, *factors, "--outcome", "right", "--budget", "3", "--out", name)
        assert Path(commands.folder, name).stat().st_size
    split = json.loads(commands("split", data, *factors, "--out", f"split-{kind}", "--json"))
    written = sorted(Path(commands.folder, f"split-{kind}").glob(f"*.{kind}"))
    assert len(written) >= 4 and split["rows"]["train"] > split["rows"]["held_out"] > 0


def test_a_study_runs_and_is_reported(commands):
    commands(*RUN, "--out", "run")
    for ending in ("html", "md"):
        commands("report", "run", "--format", ending)
        assert Path(commands.folder, "run", f"report.{ending}").stat().st_size
    chart = commands("report", "run", "--chart", "list").partition(":")[0]
    for ending in ("svg", "pdf", "png"):  # of one chart, which needs no browser
        commands("report", "run", "--format", ending, "--chart", chart, "--out", f"chart.{ending}")
        assert Path(commands.folder, f"chart.{ending}").stat().st_size
    commands("list", "studies")
    commands("certify", "random", "--modules", "6", "--at-most", "2")
