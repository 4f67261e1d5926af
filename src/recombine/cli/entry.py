"""The console script: commands by name, the parser, errors and exit codes."""

from __future__ import annotations

import inspect
import os
import sys
import textwrap
import warnings
from collections.abc import Callable
from importlib import import_module

from .. import __version__
from ..errors import UserError, unknown
from .printing import print_text

MOST_LETTERS = 1200  # of a message: what would do stands at its end

#: command -> the module of this package and the function in it that is the command; one is imported when it is named
COMMANDS = {
    "list": "list_commands:list_",
    "show": "list_commands:show",
    "run": "run_command:run",
    "status": "store_commands:status",
    "retry": "run_command:retry",
    "report": "store_commands:report",
    "gallery": "store_commands:gallery",
    "compare": "store_commands:compare",
    "example": "example_command:example",
    "audit": "audit_command:audit",
    "plan": "plan_command:plan",
    "split": "split_command:split",
    "risk": "audit_command:risk",
    "certify": "certify_command:certify",
    "export": "export_commands:export",
    "score": "export_commands:score",
    "bench": "bench_command:bench",
    "show-episode": "episode_command:show_episode",
    "show-item": "item_command:show_item",
    "clean": "clean_command:clean",
}

WELCOME = """\
recombine {version}: will a neural network handle combinations it has never seen, where will it fail,
and which data would fix it?

  recombine list studies          claims of the literature that can be run
  recombine run supports          run one of them, and open its page with --open
  recombine audit table.csv       your own examples and model: what is covered, what fails
  recombine plan table.csv        which combinations to collect next
  recombine split table.csv       your own examples, split by combinations, with a certificate
  recombine export TASK           a world and a split as files for any framework; recombine score judges predictions

recombine --help shows all commands, and recombine COMMAND --help their options.
"""

HELP = """\
usage: recombine COMMAND [OPTIONS]

Will a neural network handle combinations it has never seen, where will it fail, and which data would fix it?

commands:
{commands}

recombine COMMAND --help shows what a command takes, and recombine --version which one this is.
"""


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    warnings.showwarning = _shown_once()
    words = sys.argv[1:] if arguments is None else list(arguments)
    if not words or words == ["--version"]:
        print(f"recombine {__version__}" if words else WELCOME.format(version=__version__), end="\n" if words else "")
        sys.exit(0)
    try:
        code = _run(_spelled_out(words))
        sys.stdout.flush()
    except UserError as problem:
        print_text(f"recombine: {_short(str(problem))}", sys.stderr)
        code = 2
    except KeyboardInterrupt as stopped:
        code = getattr(stopped, "exit_code", 130)
    except BrokenPipeError:  # `recombine list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as problem:
        if not _out_of_memory(problem):
            raise
        print_text("recombine: this takes more memory than there is; smaller sizes would do", sys.stderr)
        code = 2
    sys.exit(code or 0)


def _out_of_memory(problem: Exception) -> bool:
    """Whether memory was asked for that is not there: of Python, or of jax, whose errors say so in words only."""
    words = ("RESOURCE_EXHAUSTED", "Out of memory allocating")
    return isinstance(problem, MemoryError) or any(word in str(problem) for word in words)


def _run(words: list[str]) -> int | None:
    """Runs the command that the first word names; the parser takes long to import, and only where it is needed."""
    name, *rest = words
    if name in ("--help", "-h"):
        print(HELP.format(commands=_summaries()), end="")
        return 0
    if name not in COMMANDS:
        raise unknown("command", name, COMMANDS)
    if not rest and _takes_nothing(command(name)):
        return command(name)()
    import tyro

    return tyro.cli(command(name), prog=f"recombine {name}", args=rest)


def _summaries() -> str:
    """The first sentence of each command."""
    lines = []
    for name in COMMANDS:
        said = " ".join((inspect.getdoc(command(name)) or "").partition("\n\n")[0].split())
        first = said.partition(". ")[0].rstrip(".")
        lines.append(textwrap.fill(first, 98, initial_indent=f"  {name:14}", subsequent_indent=" " * 16))
    return "\n".join(lines)


def _takes_nothing(function: Callable[..., int | None]) -> bool:
    """Whether a command can be called without a word."""
    return all(one.default is not one.empty for one in inspect.signature(function).parameters.values())


def command(name: str) -> Callable[..., int | None]:
    module, _, function = COMMANDS[name].partition(":")
    return getattr(import_module(f".{module}", __package__), function)


def _spelled_out(words: list[str]) -> list[str]:
    """`bench --engine` without a name means the default engine; the parser knows no options with a value or without."""
    words = list(words)
    if words[:1] == ["bench"] and "--engine" in words:
        place = words.index("--engine") + 1
        if place == len(words) or words[place].startswith("-"):
            words.insert(place, "local")
    return words


def _shown_once() -> Callable[..., None]:
    """Shows each warning as a sentence; the same one that comes from several places is one."""
    said: set[str] = set()

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        if (text := _short(str(message))) not in said:
            said.add(text)
            print_text(f"recombine: warning: {text}", sys.stderr)

    return show


def _short(sentence: str) -> str:
    """One line that can be read: what is quoted in it may be of any length."""
    line = " ".join(sentence.split("\n"))
    return line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS * 2 // 3]} … {line[-MOST_LETTERS // 3 :]}"
