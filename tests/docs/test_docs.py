"""The docs: examples that run, pages that are made and not written, links that lead somewhere."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path

import pytest

import recombine as rc
from recombine.studies import registry

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKDOWN = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
FOUND = sorted((DOCS / "studies").glob("*.json"))


def module(name: str):
    """A script of the docs folder."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    loaded = sys.modules.setdefault(spec.name, importlib.util.module_from_spec(spec))
    if not hasattr(loaded, "main"):
        spec.loader.exec_module(loaded)
    return loaded


executed, study_pages = module("executed"), module("study_pages")


# -- examples ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("page", executed.pages(), ids=lambda path: path.stem)
def test_a_page_runs_and_prints_what_it_shows(page):
    blocks = executed.blocks(page.read_text())
    for block in blocks:
        assert block.info == "" or re.match(r"needs \w+$|not run: \w+", block.info), block.info
    printed = executed.run(page)
    assert len(printed) == len(blocks)
    for block, new in zip(blocks, printed, strict=True):
        if block.output is not None and block.runs:
            assert executed.same(block.output, new, block.roughly), f"shown:\n{block.output}\nprinted:\n{new}"


def test_python_is_only_shown_in_blocks_that_are_run():
    allowed = r"(python|shell)( needs \w+| not run: .+)?$|text( output(, roughly)?)?$|\{(toctree|eval-rst)\}"
    for path in MARKDOWN:
        fences = re.findall(r"^```(\S[^\n]*)$", path.read_text(), re.MULTILINE)
        for info in fences:
            by_docstrings = info == "pycon" and path == DOCS / "api" / "index.md"  # test_docstrings runs it
            assert by_docstrings or re.match(allowed, info), info


def test_what_a_tutorial_runs_is_shown_with_what_it_prints():
    for page in executed.pages():
        for block in executed.blocks(page.read_text()):
            if block.kind == "python" and "print(" in block.code:
                assert block.output, f"{page.name} does not show what this prints:\n{block.code}"


def test_your_own_task_takes_thirty_lines():
    page = DOCS / "tutorials" / "your-own-task.md"
    first = executed.blocks(page.read_text())[0]
    assert "check_task(task)" in first.code and len(first.code.splitlines()) <= 30


@pytest.mark.parametrize("path", [ROOT / "README.md", *MARKDOWN], ids=lambda path: path.stem)
def test_commands_that_are_shown_have_these_options(path):
    from recombine.cli import COMMANDS
    from recombine.cli.entry import command

    for line in re.findall(r"^(?:    )?recombine ([a-z-]+.*)$", path.read_text(), re.MULTILINE):
        name, *words = re.split(r" {2,}|#", line)[0].split()
        assert name in COMMANDS, f"{path.name} shows `recombine {name}`"
        known = _options_of(command(name))
        for word in words:
            if word.startswith("--"):
                option = word.removeprefix("--").split("=")[0].replace("-", "_")
                assert option in known, f"{path.name} shows `recombine {name} {word}`"


def _options_of(function) -> set[str]:
    """What a command takes: its parameters, and the fields of those that are groups of options."""
    found = set()
    for name, parameter in inspect.signature(function).parameters.items():
        grouped = dataclasses.is_dataclass(parameter.default)
        found |= {field.name for field in dataclasses.fields(parameter.default)} if grouped else {name}
    return found


def test_what_counts_as_the_same_output():
    same = executed.same
    assert same("r2 0.71 [0.6, 0.8]\n", "r2 0.75 [0.55, 0.84]") and same("12 of 1,024", "12 of 1,024\n")
    assert not same("r2 0.71", "r2 0.95") and not same("12 of 1,024", "13 of 1,024") and not same("yes 1", "no 1")
    assert not same("1 2", "1") and same("error 30.1", "error 32.9") and not same("error 30.1", "error 40.0")
    assert same("3 of 5", "4 of 5", roughly=True) and not same("3 of 5", "3 in 5", roughly=True)
    assert same("content d0fc6d7922ba15db", "content 00aa6d7922ba15ff") and not same("-0.4", "0.4")


def test_pages_are_cut_into_blocks_and_updated(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A\n\n```python\nx = 3\nprint(x)\n```\n\n```text output\nold\n```\n\n```python needs no_such_module\nimport "
        "no_such_module\n```\n\n```python not run: it takes a day\nforever()\n```\n\n```python\nprint(x + 1)\n```\n"
    )
    blocks = executed.blocks(page.read_text())
    assert [block.runs for block in blocks] == [True, False, False, True]
    assert blocks[2].why_not == "it takes a day" and blocks[1].missing == "no_such_module"
    printed = executed.run(page)
    assert printed == ["3\n", "", "", "4\n"]
    executed.update(page, printed)
    assert "```text output\n3\n```" in page.read_text() and "old" not in page.read_text()


def test_commands_of_a_page_are_run(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("```shell\nrecombine certify random --modules 4 --at-most 2\n```\n\n```python\nprint(3)\n```\n")
    commands, three = executed.run(page)
    assert "connected      yes" in commands and three == "3\n"
    page.write_text("```shell\nrecombine show no-such-study\n```\n")
    with pytest.raises(RuntimeError, match="ended with code 2"):
        executed.run(page)
    page.write_text("```shell\nrm -r .\n```\n")
    with pytest.raises(ValueError, match="does not begin with recombine"):
        executed.run(page)


# -- studies ----------------------------------------------------------------------------------------------------------
def test_study_pages_are_made_from_their_data_and_not_by_hand():
    made = study_pages.pages()
    there = {path.name: path.read_text() for path in (DOCS / "studies").glob("*.md")}
    assert set(made) == set(there)
    for name, text in made.items():
        assert there[name] == text, f"{name} differs from what `python docs/study_pages.py` makes"


def test_every_study_has_a_page_of_its_version_or_one_that_says_of_which_it_is_or_is_said_not_to_be_run():
    shown = {path.stem: json.loads(path.read_text())["version"] for path in FOUND}
    assert set(shown) <= set(registry), f"pages of no study: {sorted(set(shown) - set(registry))}"
    listed = (DOCS / "studies" / "index.md").read_text().splitlines()
    for name, study in registry.items():
        if name not in shown:
            (line,) = [line for line in listed if line.startswith(f"| `{name}`")]
            assert f"`recombine run {name}`" in line
            continue
        text = (DOCS / "studies" / f"{name}.md").read_text()
        says = f"made by version {shown[name]} of the study, which is at version {study.version};" in text
        assert says == (shown[name] != study.version), (
            f"docs/studies/{name}.md is of version {shown[name]} and the study of version {study.version}: "
            f"run `recombine run {name}`, then `python docs/study_pages.py runs/{name}-laptop`"
        )
        (line,) = [line for line in listed if line.startswith(f"| [{name}]")]
        assert (f"(version {shown[name]})" in line) == says


def test_a_page_says_what_is_otherwise_than_in_the_source():
    found = json.loads(FOUND[0].read_text())
    made = study_pages.page(found | {"differs": ["Its *mazes* are ours.", "So are its words."]}, found["version"])
    assert r"**Otherwise than in the source.** Its \*mazes\* are ours. So are its words." in made
    assert "made by version" not in made and "made by version 7" in study_pages.page(found | {"version": 7}, 8)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_a_study_page_says_follows_from_its_numbers(path):
    found = json.loads(path.read_text())
    assert found["study"] == path.stem and path.stem in registry and found["scale"] in ("laptop", "paper")
    for claim in study_pages.rejudged(found, registry[path.stem])["claims"]:
        if claim["verdict"] not in ("supported", "refuted") or claim.get("cells"):
            continue
        rule = claim.get("rule", {})
        if rule.get("how_often") is None:
            values = list(claim["by_seed"].values())
            more = {"scale": rule["transform"], "tie": rule["tie"], "floor": rule["floor"]} if rule else {}
            judged = rc.verdict(values, **{claim["side"].replace(" ", "_"): claim["threshold"]}, **more)
            assert judged.outcome == claim["verdict"], claim["id"]
    svg = path.with_suffix(".svg").read_text()
    assert len(svg) < 60_000 and svg.startswith("<svg") and "<script" not in svg and "href=" not in svg


def test_a_store_becomes_a_page(tmp_path, capsys):
    from recombine.lab.driver.run import run_study

    changes = {"support": "random,missing", "steps": "20", "modules": "6", "at_most": "2", "width": "16"}
    folder = tmp_path / "store"
    run_study(registry["supports"], "laptop", seeds=1, changes=changes, out=folder, quiet=True)
    pages = tmp_path / "pages"
    assert study_pages.main([str(folder)], pages) == 0
    text = (pages / "supports.md").read_text()
    assert "?\N{NO-BREAK SPACE}open" in text and "--set" in text and "(supports.svg)" in text
    assert "(supports.md)" in (pages / "index.md").read_text()
    next((folder / "records").glob("*.json")).unlink()
    capsys.readouterr()
    assert study_pages.main([str(folder)], pages) == 2
    assert "complete it" in capsys.readouterr().err
    run_study(registry["supports"], "smoke", seeds=1, changes=changes, out=tmp_path / "smoke", quiet=True)
    assert study_pages.main([str(tmp_path / "smoke")], pages) == 2


def test_text_of_a_study_is_not_markup():
    assert study_pages._text("a|b *c* <d> `e`\nf [g](h)") == r"a\|b \*c\* \<d\> \`e\` f \[g\](h)"


# -- links ------------------------------------------------------------------------------------------------------------
def anchors(text: str) -> set[str]:
    """Names that can be linked to: headings as they are slugged, and targets."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return slugs | set(re.findall(r"^\((\S+)\)=$", text, re.MULTILINE))


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: str(path.relative_to(DOCS)))
def test_links_of_a_page_lead_somewhere(path):
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target, anchor in re.findall(r"(?<!\\)\]\(([^)#\s]*)(?:#([^)\s]+))?\)", text):
        if target.startswith("https://"):
            continue  # the network is not asked
        to = path.parent / target if target else path
        assert to.exists(), f"{path.name} links to {target}"
        if anchor:
            assert anchor in anchors(to.read_text()), f"{path.name} links to {target}#{anchor}"


def test_every_page_can_be_reached():
    listed: set[Path] = {DOCS / "index.md"}
    for path in MARKDOWN:
        for body in re.findall(r"^```\{toctree\}\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL):
            entries = [line.strip() for line in body.splitlines() if line.strip() and not line.startswith(":")]
            listed |= {path.parent / f"{entry}.md" for entry in entries}
    assert listed == set(MARKDOWN)
