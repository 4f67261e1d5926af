"""The pages as scripts: every Python block is run, and what is shown below it is what it prints.

    python docs/executed.py                 runs all pages, says what differs
    python docs/executed.py --update        ... and writes what they print into them

    ```python                    run, in the order of the page, in one namespace
    ```python needs torch        run where torch is installed
    ```python not run: WHY       shown only
    ```text output               what the block above prints; numbers with a point may differ a little

Numbers of trained nets differ in their last digits between machines: one with a point may be off by .1, or by a tenth.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import runpy
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
FENCE = re.compile(r"^```(python|text output)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?|-?\.\d+")
HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b")
MARK = "\N{INFORMATION SEPARATOR FOUR}"


@dataclass
class Block:
    """Python of a page, and what the page says that it prints."""

    code: str
    info: str
    output: str | None = None
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
    def runs(self) -> bool:
        return self.why_not is None and self.missing is None


def blocks(text: str) -> list[Block]:
    """The Python blocks of a page in order."""
    found: list[Block] = []
    for match in FENCE.finditer(text):
        kind, info, body = match.groups()
        if kind == "python":
            found.append(Block(body, info.strip()))
        else:
            found[-1].output, found[-1].place = body, match.span(3)
    return found


def run(page: Path) -> list[str]:
    """What each block prints, in a folder of its own; blocks that cannot run here print nothing."""
    parts = [block.code if block.runs else "" for block in blocks(page.read_text())]
    script = f"\nprint({MARK!r}, end='')\n".join(parts)
    here, printed = os.getcwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{page.stem.replace('-', '_')}.py"
        path.write_text(script)
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(printed):
                runpy.run_path(str(path), run_name="page")
        finally:
            os.chdir(here)
    return printed.getvalue().split(MARK)


def same(shown: str, printed: str) -> bool:
    """The same words and whole numbers, and numbers with a point that are near."""
    shown, printed = (HASH.sub("#", text) for text in (shown, printed))
    if [" ".join(part.split()) for part in NUMBER.split(shown)] != [" ".join(p.split()) for p in NUMBER.split(printed)]:
        return False
    for a, b in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        x, y = float(a.replace(",", "")), float(b.replace(",", ""))
        near = abs(x - y) <= max(0.1, 0.1 * abs(x)) if "." in a else x == y
        if not near:
            return False
    return True


def pages() -> list[Path]:
    """Pages with Python in them."""
    found = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
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
            if block.runs and block.output is not None and not same(block.output, new):
                bad += 1
                print(f"{page.name} shows\n{block.output}and prints\n{new}")
        if "--update" in arguments:
            update(page, printed)
    return int(bad > 0 and "--update" not in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
