"""Every public name says what it gives, names each of its parameters under Args, and has one example that runs.

The examples share the names that docs/api/index.md makes: a teacher and a net that draws, trained for two steps.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import recombine as rc
from recombine.encodings import encodings

PAGE = Path(__file__).parents[2] / "docs" / "api" / "index.md"
REGISTRIES = {
    "tasks": rc.tasks.registry,
    "nets": rc.nets.registry,
    "encodings": encodings,
    "supports": rc.supports.registry,
    "probes": rc.probes.registry,
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ENTRY = re.compile(r"    (\w+(?:, \w+)*): \S")


def exported(room: ModuleType) -> list[str]:
    """Names that a package exports on purpose: `from .x import Name as Name`; also those for type checkers only."""
    nodes = [node for node in ast.walk(ast.parse(inspect.getsource(room))) if isinstance(node, ast.ImportFrom)]
    return [alias.name for node in nodes if node.level for alias in node.names if alias.asname == alias.name]


def documented() -> dict[str, Any]:
    """What the pages of docs/api show, by the name they show it under."""
    text = "\n".join(page.read_text() for page in sorted(PAGE.parent.glob("*.md")))
    found = {}
    for name in re.findall(r"^\.\. public-names:: (\S+)", text, re.MULTILINE):
        room = importlib.import_module(name)
        found |= {f"{name}.{one}": getattr(room, one) for one in exported(room)}
    for name in re.findall(r"^\.\. auto(?:function|class):: (\S+)", text, re.MULTILINE):
        module, _, one = name.rpartition(".")
        found[name] = getattr(importlib.import_module(module), one)
    return {name.replace("recombine", "rc", 1): thing for name, thing in found.items()}


def public_things() -> dict[str, Any]:
    """Functions and classes by a name that a user would write; each once."""
    found = {f"rc.{name}": getattr(rc, name) for name in rc.__all__} | {"rc.audit": rc.audit} | documented()
    for kind, registry in REGISTRIES.items():
        found |= {f"{kind}:{name}": thing for name, thing in registry.items()}
    once: dict[int, str] = {}
    for name, thing in found.items():
        if not inspect.ismodule(thing) and callable(thing) or name == "rc.audit":
            once.setdefault(id(thing), name)
    return {name: found[name] for name in once.values()}


PUBLIC = {name: thing for name, thing in public_things().items() if not hasattr(thing, "__origin__")}


def parameters(thing: Any) -> list[str]:
    """What a call takes; of an exception, and of what is only subclassed, nothing."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return []
    return [name for name in inspect.signature(thing).parameters if name != "self"]


def section(text: str, title: str) -> list[str]:
    """The indented lines below "Args:" or "Example:"."""
    lines = text.splitlines()
    if f"{title}:" not in lines:
        return []
    rest = lines[lines.index(f"{title}:") + 1 :]
    end = next((i for i, line in enumerate(rest) if line and not line.startswith("    ")), len(rest))
    return rest[:end]


def described(text: str) -> list[str]:
    """The names under Args, in order."""
    entries = [found for line in section(text, "Args") if (found := ENTRY.match(line))]
    return [name for entry in entries for name in entry[1].split(", ")]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What examples may use, made by the page that tells of it."""
    text = PAGE.read_text().split("```pycon\n")[1].split("```")[0]
    page = doctest.DocTestParser().get_doctest(text, {}, "docs/api/index.md", None, None)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(page, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0
    return page.globs


def test_there_is_something_to_look_at():
    assert len(PUBLIC) > 250
    some = {"rc.train", "rc.audit", "rc.tasks.Goal", "rc.testing.check_net", "supports:fewer-active", "encodings:bump"}
    some |= {"rc.planning.plan_space", "rc.report.render", "rc.training.Items", "rc.lab.verdicts.judge"}
    assert some <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_stands_under_args(name):
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert text, f"{name} has no docstring"
    first, *rest = text.splitlines()
    assert first.endswith((".", "?")) and (not rest or not rest[0]), f"the first line of {name} is no sentence: {first}"
    named, wanted = described(text), parameters(PUBLIC[name])
    assert [one for one in wanted if one not in named] == [], f"{name} does not say what these are"
    assert [one for one in named if one not in wanted] == [], f"{name} describes what it does not take"
    assert len(set(named)) == len(named), f"{name} describes a parameter twice"


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_runs(name, names, tmp_path, monkeypatch, capsys):
    text = "\n".join(section(inspect.getdoc(PUBLIC[name]) or "", "Example"))
    for needed in ("torch", "transformers"):
        if re.search(rf"(import|from) {needed}", text) and find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed; make check-extras runs this example")
    example = doctest.DocTestParser().get_doctest(text, dict(names), name, None, None)
    assert example.examples, f"{name} has no example"
    shows = any(one.want for one in example.examples)
    assert shows or name.startswith("rc.testing"), f"the example of {name} shows nothing"  # checks are silent
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    runner.run(example, out=print)
    assert runner.summarize(verbose=False).failed == 0, capsys.readouterr().out


def test_help_of_the_audit_shows_its_parameters(capsys):
    help(rc.audit)
    shown = capsys.readouterr().out
    for name in parameters(rc.audit):
        assert re.search(rf"^\s*{name}: ", shown, re.MULTILINE), f"help(rc.audit) says nothing of {name}"
