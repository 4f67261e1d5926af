"""What can be had by name, with one line each, read from the sources: nothing is imported, so a list comes at once.

Two ways of registering are known: `@tasks.register("name")` above a class or a function, whose docstring begins with
the line, and `study = Study(id="name", title="line")` or `replace(study, id=..., title=...)` in a file of a study. A
test compares what is read here with the registries themselves. Where an installed package adds to a kind by an entry
point, the registry of that kind is asked, which imports the package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from ..registry import entry_points

PACKAGE = Path(__file__).parents[1]
#: kind -> the attribute of `recombine.KIND` that is its registry
REGISTRIES = {
    "studies": "registry",
    "tasks": "registry",
    "nets": "registry",
    "encodings": "encodings",
    "supports": "registry",
    "probes": "registry",
}


def registered_names(kind: str) -> dict[str, str]:
    """Names of a kind, with the line that describes each.

    Args:
        kind: one of `REGISTRIES`, such as "tasks".
    """
    if entry_points(f"recombine.{kind}"):
        registry = getattr(import_module(f"recombine.{kind}"), REGISTRIES[kind])
        return {name: registry.describe(name) for name in registry}
    mark = "Study(" if kind == "studies" else f"@{kind}.register("
    read = _studies if kind == "studies" else _decorated
    found: dict[str, str] = {}
    for path in sorted((PACKAGE / kind).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if mark in text:  # parsing takes longer than reading
            found.update(read(ast.parse(text), kind))
    return found


def _decorated(module: ast.Module, kind: str) -> Iterator[tuple[str, str]]:
    """Classes and functions under `@KIND.register("name")`."""
    for node in module.body:
        for decorator in getattr(node, "decorator_list", ()):
            match decorator:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=registry), attr="register"), args=[name]):
                    if registry == kind:
                        yield ast.literal_eval(name), _first_line(ast.get_docstring(node))  # type: ignore[arg-type]


def _studies(module: ast.Module, kind: str) -> Iterator[tuple[str, str]]:
    """Calls at the top of a module that say an id and a title."""
    for node in module.body:
        match node:
            case ast.Assign(value=ast.Call(keywords=keywords)):
                given = {word.arg: word.value for word in keywords}
                if {"id", "title"} <= set(given):
                    yield ast.literal_eval(given["id"]), _first_line(ast.literal_eval(given["title"]))


def _first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]
