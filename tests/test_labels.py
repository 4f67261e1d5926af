"""Labels of strangers at the doors: terminal, page, drawing, CSV. Nothing in them acts, hides or turns a line."""

from __future__ import annotations

import io
import json
import unicodedata

import pandas
import pytest

import recombine as rc
from recombine import cli
from recombine.charts.saving import converted as drawn
from recombine.cli.printing import print_text
from recombine.labels import visible_text
from recombine.report.audit import render_audit
from recombine.report.page import to_island

EVIL = "\x1b[31mred\x1b]0;t\x07\u202ecba\u2028\x9b1m\u200b"
ACTS = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def acting(text: str) -> set[str]:
    return {c for c in text if c not in "\n\t" and unicodedata.category(c) in ACTS}


def test_what_is_seen_stays_and_what_is_not_is_spelled_out():
    assert visible_text("plain – Größe\n\tnaïve é 漢") == "plain – Größe\n\tnaïve é 漢"
    assert acting(EVIL) and not acting(visible_text(EVIL)) and "red" in visible_text(EVIL)


def test_the_door_of_the_terminal():
    out = io.StringIO()
    print_text(f"one\n{EVIL}", out)
    assert not acting(out.getvalue()) and out.getvalue().count("\n") == 2


@pytest.mark.parametrize(
    "command", ["audit", "plan", "split --dry-run", "audit --outcome nothing", "plan --levels x=y"]
)
def test_no_command_passes_on_what_a_header_holds(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = pandas.DataFrame({f"{EVIL}a": list("xyz") * 8, "b": [f"p{EVIL}", "q", "r", "q"] * 6})
    name = f"t{EVIL.replace('/', '')}.csv"
    table.to_csv(name, index=False)
    first, *rest = command.split()
    with pytest.raises(SystemExit):
        cli.main([first, name, *rest])
    said = capsys.readouterr()
    assert (said.out or said.err) and not acting(said.out) and not acting(said.err)


def test_messages_have_a_length_that_can_be_read(capsys):
    for words in (["list", "x" * 9000], ["show", "x" * 9000], ["run", "supports", "--set", "x" * 9000]):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 2
        assert len(capsys.readouterr().err) < 1300 or words[0] == "list"


def test_the_doors_of_pages_and_drawings():
    table = {f"{EVIL}a<b>": list("xyz") * 8, "b": [f"p{EVIL}<script>", "q", "r", "q"] * 6}
    page = render_audit(rc.audit(table, list(table)))
    ours = page.split("<script>")[0]
    assert not acting(ours) and "a<b>" not in ours and "a&lt;b&gt;" in ours
    assert not acting(json.loads(to_island({"name": EVIL}))["name"])
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>{EVIL}</text></svg>'
    assert not acting(drawn(svg, "svg").decode()) and drawn(svg, "pdf") and drawn(svg, "png")


def test_the_door_of_csv(tmp_path):
    table = {"=a": list("xyz") * 8, "b": ["=1+1", "@x", "-2", "+3"] * 6}
    made = rc.plan(table, list(table), levels={"b": ["=cmd()"]})
    made.write(tmp_path / "p.csv")
    found = pandas.read_csv(tmp_path / "p.csv", dtype=str)
    cells = [*found.columns, *found.to_numpy(dtype=str).ravel()]
    assert len(made) and not [cell for cell in cells if cell.startswith(("=", "@", "+", "\t"))]
