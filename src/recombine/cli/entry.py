"""The console script: commands by name, the parser, errors and exit codes."""

from __future__ import annotations

import os
import sys
import warnings

import tyro

from ..errors import UserError
from .audit import audit, risk
from .bench import bench
from .certify import certify
from .clean import clean
from .episode import show_episode
from .lists import list_, show
from .plan import plan
from .run import retry, run
from .stores import compare, gallery, report, status

COMMANDS = {
    "list": list_, "show": show, "run": run, "status": status, "retry": retry, "report": report, "gallery": gallery,
    "compare": compare, "audit": audit, "plan": plan, "risk": risk, "certify": certify, "bench": bench,
    "show-episode": show_episode, "clean": clean,
}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    warnings.showwarning = _show_warning
    try:
        code = tyro.extras.subcommand_cli_from_dict(
            COMMANDS, prog="recombine", args=_spelled_out(sys.argv[1:] if arguments is None else arguments),
            description="Will a neural network handle combinations it has never seen, where will it fail, "
            "and which data would fix it?",
        )  # fmt: skip
        sys.stdout.flush()
    except UserError as problem:
        print(f"recombine: {problem}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt as stopped:
        code = getattr(stopped, "exit_code", 130)
    except BrokenPipeError:  # `recombine list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code or 0)


def _spelled_out(words: list[str]) -> list[str]:
    """`bench --engine` without a name means the default engine; the parser knows no options with a value or without."""
    words = list(words)
    if words[:1] == ["bench"] and "--engine" in words:
        place = words.index("--engine") + 1
        if place == len(words) or words[place].startswith("-"):
            words.insert(place, "local")
    return words


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    print(f"recombine: warning: {message}", file=sys.stderr)
