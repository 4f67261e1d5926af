"""The reference, from docstrings: what a package makes public, and the commands.

    .. public-names:: recombine.tasks       every name that its __init__ exports as `X as X`, with its docstring
    .. registered:: recombine.tasks         what can be had by name, with the first line of its docstring
    .. commands::                           every command with its options

Docstrings are plain text with `code` in them; here they become what Sphinx reads. Nothing is listed by hand, so
nothing can be forgotten.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Mapping
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from recombine.lab.study import Study
from recombine.registry import Registry

ENTRY = re.compile(r"[a-z]\w*(, [a-z]\w*)*: ")  # of a list of arguments


def public_names(package: str) -> list[str]:
    """Names that a package exports on purpose: `from .x import Name as Name`, in the order of the file."""
    module = importlib.import_module(package)
    found = []
    for node in ast.walk(ast.parse(inspect.getsource(module))):  # also those for type checkers only
        if isinstance(node, ast.ImportFrom):
            found += [alias.name for alias in node.names if alias.asname == alias.name]
    if not found:
        raise ValueError(f"{package} exports nothing")
    return [name for name in found if not inspect.ismodule(getattr(module, name))]


class PublicNames(SphinxDirective):
    required_arguments = 1
    option_spec = {"but-not-of": str.split}  # packages that have a page of their own

    def run(self) -> list[nodes.Node]:
        package = self.arguments[0]
        module = importlib.import_module(package)
        elsewhere = {name for other in self.options.get("but-not-of", ()) for name in public_names(other)}
        lines = [f".. py:currentmodule:: {package}", ""]  # two packages may have a class of the same name
        for name in public_names(package):
            if name in elsewhere:
                continue
            thing = getattr(module, name)
            kind = "class" if inspect.isclass(thing) else "function" if inspect.isroutine(thing) else "data"
            options = {"class": ["   :members:"], "data": ["   :no-value:"]}.get(kind, [])
            lines += [f".. auto{kind}:: {package}.{name}", *options, ""]
        return self.parse(lines)

    def parse(self, lines: list[str]) -> list[nodes.Node]:
        node = nodes.Element()
        self.state.nested_parse(StringList(lines, source="public names"), self.content_offset, node)
        return node.children


class Registered(PublicNames):
    """Names as `recombine list` shows them; those of studies lead to their pages."""

    option_spec = {"whole": directives.flag}  # all of the docstring: for things that no other page describes

    def run(self) -> list[nodes.Node]:
        module = importlib.import_module(self.arguments[0])
        registry = getattr(module, "registry", None) or module.encodings
        lines = []
        for name, thing in registry.items():
            about = inspect.getdoc(thing).splitlines() if "whole" in self.options else [registry.describe(name)]
            if isinstance(thing, Study):
                linked = (Path(self.env.srcdir) / "studies" / f"{name}.md").exists()
                word, about = f":doc:`{name} </studies/{name}>`" if linked else f"``{name}``", [thing.question]
            else:
                word = f"``{name}``"
            lines += [word, *(f"   {line}" for line in as_rst(about)), ""]
        return self.parse(lines)


class Commands(PublicNames):
    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        from recombine import cli
        from recombine.cli.entry import COMMANDS
        from recombine.cli.entry import command as look_up

        lines = [*as_rst(inspect.getdoc(cli).split("\n\n", 1)[1].splitlines()), ""]
        for name in COMMANDS:
            command = look_up(name)
            about, _, options = inspect.getdoc(command).partition("\nArgs:\n")
            lines += [f".. _recombine-{name}:", "", f".. rubric:: recombine {name}", ""]
            lines += [*as_rst(about.strip().splitlines()), ""]
            known = inspect.signature(command).parameters
            continued = re.sub(r"\n +", " ", inspect.cleandoc(options))  # an indented line goes on
            for option in continued.splitlines():
                word, _, meaning = option.partition(": ")
                shown = word.upper() if "Positional" in str(known[word].annotation) else f"--{word.replace('_', '-')}"
                described = as_rst([f"{meaning}{_choices(known[word], meaning)}".replace("--", "\\--")])
                lines += [f"``{shown}``", *(f"   {line}" for line in described), ""]
        return self.parse(lines)


def _choices(parameter: inspect.Parameter, meaning: str) -> str:
    """What an option may be, and what it is if it is not given, where its meaning does not say so."""
    words = ""
    if found := re.search(r"Literal\[(.*?)\]", str(parameter.annotation)):
        words += f"; one of {found[1].replace(chr(39), '').replace(chr(34), '')}"
    default = parameter.default
    if default is not inspect.Parameter.empty and "default" not in meaning and type(default) in (str, int, float):
        words += f" (default: {default})"
    return words


def as_rst(lines: list[str]) -> list[str]:
    """A docstring of ours as reStructuredText: `code`, Args as a list, examples and indented blocks as they are.

    A paragraph of "name: what it is" is a list, too; an indented line below continues it. An indented block by itself
    is drawn (a table, a layout).
    """
    text: list[str] = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
        rows = [row.rstrip() for row in paragraph.splitlines() if row.strip()]
        flush = [row for row in rows if not row.startswith("    ")]
        if flush == ["Args:"]:
            described = [row.removeprefix("    ") for row in rows[1:]]
            text += ["**Args**", "", *as_rst(described)]
        elif flush == ["Example:"]:
            text += ["**Example**", "", ".. code-block:: pycon", "", *rows[1:], ""]
        elif rows and not flush:
            text += ["::", "", *rows, ""]
        elif all(ENTRY.match(row) for row in flush):
            for row in rows:
                text += [f"  {_inline(row.strip())}" if row.startswith("    ") else f"- {_entry(row)}"]
            text += [""]
        elif len(flush) < len(rows):
            text += [*(f"| {_inline(row)}" for row in rows), ""]
        else:
            text += [*(_inline(row) for row in rows), ""]
    return text


def _entry(row: str) -> str:
    names, _, meaning = row.partition(": ")
    return f"{', '.join(f'``{name}``' for name in names.split(', '))}: {_inline(meaning)}"


def _inline(row: str) -> str:
    parts = re.split(r"(`[^`]+`)", row)
    return "".join(f"`{part}`" if part.startswith("`") else re.sub(r"([*|\\_])", r"\\\1", part) for part in parts)


def _process(app, what, name, thing, options, lines: list[str]) -> None:
    if what != "data":
        lines[:] = as_rst(lines)
    elif isinstance(thing, Registry):
        lines[:] = [f"What there is by name: {', '.join(f'``{word}``' for word in thing)}."]
    elif isinstance(thing, Mapping):  # what a dictionary is need not be said
        lines[:] = [f"- ``{word}``: {_inline(str(meaning))}" for word, meaning in thing.items()]
    elif isinstance(thing, tuple):
        lines[:] = [", ".join(f"``{word}``" for word in thing)]
    else:  # an alias of a type
        lines[:] = [f"``{_shortened(str(thing))}``"]


def _skip(app, what, name, thing, skip, options) -> bool | None:
    """A field of a dataclass is in the signature already."""
    return True if what == "class" and not callable(thing) and not isinstance(thing, property) else None


def _sign(app, what, name, thing, options, signature: str | None, returns: str | None):
    """Types by their own name: where they live is no part of how a function is called."""
    return tuple(text and _shortened(text) for text in (signature, returns))


def _shortened(text: str) -> str:
    return re.sub(r"~(?:\w+\.)*(\w+)|(?:\w+\.)+(Array)\b", r"\1\2", text)


def setup(app) -> dict[str, bool]:
    app.add_directive("public-names", PublicNames)
    app.add_directive("registered", Registered)
    app.add_directive("commands", Commands)
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _sign)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}
