"""Shared settings of the tests: runtime checks of shapes and types, one cache of compiled programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

# Before recombine is imported: compiled programs are kept between tests.
os.environ.setdefault("RECOMBINE_CACHE", str(Path(tempfile.gettempdir()) / "recombine-test-programs"))
# Trained nets are not: a test must train what it tests, and nets of an older program must not stand in for it.
os.environ["RECOMBINE_NETS"] = "0"
# The many small programs of a test run once each: they are compiled quickly rather than well. The older emitters take
# three quarters of the time; jaxlib ends the process at a flag that it does not know, so it is asked for its version.
os.environ["XLA_FLAGS"] = " ".join(
    [
        os.environ.get("XLA_FLAGS", ""),
        "--xla_backend_optimization_level=1",
        "--xla_cpu_use_fusion_emitters=false" if version("jaxlib").startswith(("0.7", "0.8", "0.9", "0.10")) else "",
    ]
).strip()

import hypothesis
import pytest
from jaxtyping import install_import_hook

with install_import_hook("recombine", "beartype.beartype"):
    import recombine as rc
    from recombine.machine.compilation import enable_cache, let_go_of_programs

enable_cache()

# `make test` draws the same examples everywhere; other runs explore, and say how to see a failure again.
hypothesis.settings.register_profile("same-everywhere", derandomize=True, database=None)
hypothesis.settings.register_profile("explore", print_blob=True)
hypothesis.settings.load_profile("explore")


#: folders of `make check`: proofs of the contract of nets, which train until they learn; speed; faults that kill
#: processes, a server of S3; every block of the docs, the site as it is built
SLOW_FOLDERS = ("bench", "contract", "docs", "faults")
#: what a test of `make check` asks for: a browser
SLOW_FIXTURES = {"browser"}


def pytest_collection_modifyitems(items):
    """Marks what is slow by what it is, so that no new test of a kind can forget it."""
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0] if item.path.is_relative_to(here) else ""
        if folder in SLOW_FOLDERS or SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def pytest_runtest_teardown(item, nextitem):
    """Between two files of tests, and two studies: lets go of compiled programs where there are too many."""
    if nextitem is None or nextitem.path != item.path or item.get_closest_marker("studies"):
        let_go_of_programs()


def pytest_terminal_summary(terminalreporter):
    """What smoke grids and controls took, so that one that comes near its limit is seen before it is refused."""
    reports = terminalreporter.stats.get("passed", [])
    taken = [value for report in reports for name, value in report.user_properties if name == "core_seconds"]
    if taken:
        terminalreporter.section("core-seconds of the reference core, by study: smoke grid (20 at most), controls (15)")
    for study, took in sorted(taken):
        terminalreporter.line(f"{study:28}" + ", ".join(f"{what} {seconds:.1f}" for what, seconds in took.items()))


@pytest.fixture(scope="session")
def space():
    return rc.Subsets(modules=6, at_most=2)


@pytest.fixture(scope="session")
def task(space):
    return rc.tasks.Hyperteacher(space, seed=0)


@pytest.fixture(scope="session")
def support(space):
    return rc.supports.random(space, held_out=0.25, seed=0)


@pytest.fixture(scope="session")
def teacher():
    """Of the published size."""
    return rc.tasks.Hyperteacher(rc.Subsets(16, 3))


@pytest.fixture(scope="session")
def small():
    """A teacher with few combinations."""
    return rc.tasks.Hyperteacher(rc.Subsets(6, 2))


@pytest.fixture(scope="session")
def preference():
    return rc.tasks.Preference(rc.Subsets(16, 3), seed=2)


@pytest.fixture(scope="session")
def goal():
    return rc.tasks.Goal(rc.Product(quadrant=4, interaction=5, maze=5, object=5), seed=2)


WITHOUT_TYPE_CHECKS = """
import json, sys
import numpy as np
from recombine import Product, Subsets, supports, tasks
answers = {}
for text in json.loads(sys.argv[1]):
    try:
        answers[text] = repr(eval(text))
    except Exception as error:
        answers[text] = f"{type(error).__name__}: {error}"
print(json.dumps(answers))
"""


@pytest.fixture(scope="session")
def ask():
    """What expressions give in a process without the tests' runtime type checks, which users do not have either."""

    def answers(expressions: list[str]) -> dict[str, str]:
        command = [sys.executable, "-c", WITHOUT_TYPE_CHECKS, json.dumps(expressions)]
        return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    return answers
