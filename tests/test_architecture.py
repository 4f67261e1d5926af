"""The house is as docs/architecture.md draws it: no noun imports from a noun further down, and nothing unsafe."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "recombine"
FILES = sorted(SOURCE.rglob("*.py"))

# From the ground up; a file may import from its own level and from those above it in this list.
LEVELS = [
    {
        "errors",
        "registry",
        "keys",
        "intervals",
        "files",
        "processes",
        "distributions",
        "precision",
        "compilation",
        "devices",
        "progress",
        "shades",
        "labels",
        "context",
    },
    {"spaces"},
    {"supports"},
    {"planning"},
    {"encodings"},
    {"tasks"},
    {"nets"},
    {"theory"},
    {"training"},
    {"probes"},
    {"adapters"},
    {"trials"},
    {"charts"},
    {"lab"},
    {"audit"},
    {"studies"},
    {"report", "bench", "bench_engine"},
    {"testing", "testing_nets", "testing_studies", "cli", "__main__", "__init__"},
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def room(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imported_rooms(path: Path) -> set[str]:
    package = ["recombine", *path.relative_to(SOURCE).parent.parts]
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            full = [*base, *(node.module.split(".") if node.module else [])]
            if full[:1] != ["recombine"]:
                continue
            if len(full) > 1:
                rooms.add(full[1])
            else:
                rooms |= {alias.name for alias in node.names if alias.name in LEVEL_OF}
        elif isinstance(node, ast.Import):
            rooms |= {a.name.split(".")[1] for a in node.names if a.name.startswith("recombine.")}
    return rooms


def is_registration(path: Path, name: str) -> bool:
    """The worker process looks studies up by name: the one place where data becomes code."""
    return path.name == "worker.py" and name == "studies"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_file_imports_from_a_noun_further_down(path):
    for name in imported_rooms(path):
        assert name in LEVEL_OF, f"{name} has no place in the house: add it to LEVELS and to docs/architecture.md"
        if not is_registration(path, name):
            assert LEVEL_OF[name] <= LEVEL_OF[room(path)], f"{path.name} imports {name}, which lies further down"


def test_every_room_is_in_the_picture():
    picture = (ROOT / "docs" / "architecture.md").read_text()
    for path in FILES:
        if room(path) == "studies" and path.parent != SOURCE / "studies":  # studies are not listed by hand: by folder
            assert f"{path.parent.name}/" in picture, f"docs/architecture.md does not show {path.parent}"
        elif path.name != "__init__.py":
            assert path.name in picture, f"docs/architecture.md does not show {path.relative_to(SOURCE)}"
    for name in re.findall(r"^ {4,}(\S+\.py)\b", picture, re.MULTILINE):
        assert any(path.name == name for path in FILES), f"docs/architecture.md shows {name}, which is not there"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nothing_unsafe(path):
    text = path.read_text()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            assert name not in {"eval", "exec", "compile", "__import__", "importlib.import_module", "np.load"}, name
            assert "pickle" not in name and "joblib" not in name
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
            assert not any(n.split(".")[0] in {"pickle", "dill", "cloudpickle", "shelve", "marshal"} for n in names)
        if isinstance(node, ast.Assert):
            # type narrowing only: python -O must not change what is accepted
            assert "isinstance" in ast.unparse(node.test) or "is not None" in ast.unparse(node.test), ast.unparse(node)
    assert not re.search(r"(?<![\w.])/(home|root|work|tmp|Users)/", text), "a path of one machine"


@pytest.mark.parametrize("path", [p for p in FILES if room(p) != "spaces"], ids=lambda p: str(p.relative_to(SOURCE)))
def test_spaces_are_asked_for_abilities(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            asked = set(re.findall(r"\w+", ast.unparse(node.args[1])))
            assert not asked & {"Product", "Subsets", "Listed"}, f"{ast.unparse(node)}: see spaces/base.py"


def test_public_names_are_said_twice_and_alike():
    """Once to type checkers, once to whoever uses a name first."""
    import recombine

    tree = ast.parse((SOURCE / "__init__.py").read_text())
    told = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                assert alias.asname == alias.name, "a name that is not exported on purpose"
                told[alias.name] = f".{node.module}" if node.module else f".{alias.name}"
    assert told == recombine._WHERE
    assert set(told) <= set(dir(recombine)) and sorted(told) == recombine.__all__
    for name in told:
        assert getattr(recombine, name) is not None
    with pytest.raises(AttributeError, match="nothing_like_it"):
        recombine.nothing_like_it  # noqa: B018


def test_the_command_line_does_not_wait_for_jax():
    script = "import sys, recombine, recombine.cli; sys.exit(bool({'jax', 'scipy', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
