"""The pages as scripts: every block of Python or commands is run, and what is shown below it is what it prints.

    python docs/executed.py                 runs all pages, says what differs
    python docs/executed.py --update        ... and writes what they print into them

    ```python                    run, in the order of the page, in one namespace
    ```python needs torch        run where torch is installed
    ```python not run: WHY       shown only
    ```shell                     lines that begin with recombine, run as commands; needs and not run as above
    ```text output               what the block above prints; numbers with a point may differ a little
    ```text output, roughly      ... and other numbers may differ, too: what another version of torch counts

Numbers of trained nets differ in their last digits between machines: one with a point may be off by .1, or by a tenth.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
FENCE = re.compile(r"^```(python|shell|text output)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?|-?\.\d+")
HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b")
MARK = "\N{INFORMATION SEPARATOR FOUR}"


@dataclass
class Block:
    """Python or commands of a page, and what the page says that it prints."""

    code: str
    info: str
    kind: str = "python"
    output: str | None = None
    roughly: bool = False
    place: tuple[int, int] | None = None  # of the output, in the page

    @property
    def missing(self) -> str | None:
        """What is not installed here and needed, if anything."""
        names = self.info.removeprefix("needs").replace(",", " ").split() if self.info.startswith("needs") else []
        return next((name for name in names if importlib.util.find_spec(name) is None), None)

    @property
    def why_not(self) -> str | None:
        return self.info.removeprefix("not run:").strip() if self.info.startswith("not run") else None

    @property
    def script(self) -> str:
        """The block as Python; nothing where it does not run."""
        if not self.runs or self.kind == "python":
            return self.code if self.runs else ""
        return "\n".join(f"__command__({line!r})" for line in self.code.splitlines() if line.strip())

    @property
    def runs(self) -> bool:
        return self.why_not is None and self.missing is None


def blocks(text: str) -> list[Block]:
    """The blocks of a page that run, in order."""
    found: list[Block] = []
    for match in FENCE.finditer(text):
        kind, info, body = match.groups()
        if kind != "text output":
            found.append(Block(body, info.strip(), kind))
        else:
            found[-1].output, found[-1].place, found[-1].roughly = body, match.span(3), info == ", roughly"
    return found


def command(line: str) -> None:
    """A command of ours in this process, which need not be started for each line."""
    from recombine.cli import main

    program, *arguments = shlex.split(line)
    if program != "recombine":
        raise ValueError(f"{line!r} does not begin with recombine; other commands are not run")
    with warnings.catch_warnings():  # the command line shows them in its own way
        try:
            main(arguments)
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"{line!r} ended with code {end.code}") from None


def run(page: Path) -> list[str]:
    """What each block prints, in a folder of its own; blocks that cannot run here print nothing."""
    parts = [block.script for block in blocks(page.read_text())]
    script = f"\nprint({MARK!r}, end='')\n".join(parts)
    here, printed = os.getcwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{page.stem.replace('-', '_')}.py"
        path.write_text(script)
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(printed):
                runpy.run_path(str(path), {"__command__": command}, run_name="page")
        finally:
            os.chdir(here)
    return printed.getvalue().split(MARK)


def same(shown: str, printed: str, roughly: bool = False) -> bool:
    """The same words and whole numbers, and numbers with a point that are near; roughly: the same words."""
    shown, printed = (HASH.sub("#", text) for text in (shown, printed))
    if [" ".join(part.split()) for part in NUMBER.split(shown)] != [" ".join(p.split()) for p in NUMBER.split(printed)]:
        return False
    if roughly:
        return True
    for a, b in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        x, y = float(a.replace(",", "")), float(b.replace(",", ""))
        near = abs(x - y) <= max(0.1, 0.1 * abs(x)) if "." in a else x == y
        if not near:
            return False
    return True


def pages() -> list[Path]:
    """Pages with something to run, and the README."""
    found = [DOCS.parent / "README.md", *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)]
    return [path for path in found if blocks(path.read_text())]


def update(page: Path, printed: list[str]) -> None:
    text = page.read_text()
    for block, new in reversed(list(zip(blocks(text), printed, strict=True))):
        if block.place and block.runs:
            text = text[: block.place[0]] + new + text[block.place[1] :]
    page.write_text(text)


def main(arguments: list[str]) -> int:
    bad = 0
    chosen = [Path(name) for name in arguments if name != "--update"]
    for page in chosen or pages():
        printed = run(page)
        for block, new in zip(blocks(page.read_text()), printed, strict=True):
            if block.runs and block.output is not None and not same(block.output, new, block.roughly):
                bad += 1
                print(f"{page.name} shows\n{block.output}and prints\n{new}")
        if "--update" in arguments:
            update(page, printed)
    return int(bad > 0 and "--update" not in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
