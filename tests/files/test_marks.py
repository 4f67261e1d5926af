"""Nothing that the tool writes replaces a file that it did not write, or that was changed since, unless forced."""

from __future__ import annotations

import dataclasses
import inspect
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import vl_convert

from recombine import cli
from recombine.cli.entry import command
from recombine.errors import UserError
from recombine.files import is_marked, marked, write_or_refuse, write_table
from recombine.lab.store import Store
from recombine.report.html import refuse_foreign_page

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="3" height="3"/></svg>'
CONTENTS = {
    ".html": lambda: b"<!DOCTYPE html><p>one</p>\n",
    ".md": lambda: b"# one\n",
    ".svg": lambda: SVG.encode(),
    ".json": lambda: b'{\n "a": 1\n}\n',
    ".png": lambda: vl_convert.svg_to_png(SVG),
    ".pdf": lambda: vl_convert.svg_to_pdf(SVG),
}


@pytest.mark.parametrize("ending", CONTENTS)
def test_what_was_written_is_known_and_what_was_changed_is_not(ending, tmp_path):
    data, path = CONTENTS[ending](), tmp_path / f"f{ending}"
    write_or_refuse(path, data)
    written = path.read_bytes()
    assert is_marked(written) and not is_marked(data) and len(written) - len(data) < 150
    write_or_refuse(path, data)  # ours, unchanged
    rng = np.random.default_rng(0)
    for at in [*rng.integers(len(written), size=50), len(data) - 9, len(written) - 9]:
        changed = bytearray(written)
        changed[at] ^= 1
        assert not is_marked(bytes(changed)), at
    path.write_bytes(written[:-20] + written[-19:])
    with pytest.raises(UserError, match="--force"):
        write_or_refuse(path, data)
    assert path.read_bytes() == written[:-20] + written[-19:]
    write_or_refuse(path, data, force=True)
    assert path.read_bytes() == written


def test_files_with_a_mark_are_what_they_were():
    image = pytest.importorskip("matplotlib.image", reason="matplotlib reads the PNG")
    plain = CONTENTS[".png"]()
    assert (image.imread(io.BytesIO(marked(plain, ".png"))) == image.imread(io.BytesIO(plain))).all()
    assert vl_convert.svg_to_png(marked(SVG.encode(), ".svg").decode()) == plain


def test_tables_are_known_where_they_can_say_so(tmp_path):
    table = pandas.DataFrame({"a": [1, 2]})
    for name, again in (("[t]'$f.parquet", True), ("t.csv", False)):
        path = tmp_path / "it's; here" / name
        write_table(path, table)
        if again:
            write_table(path, table)
        else:
            with pytest.raises(UserError, match="--force"):
                write_table(path, table)
        write_table(path, table, force=True)
        table.to_parquet(path) if again else path.write_text("mine")
        before = path.read_bytes()
        with pytest.raises(UserError, match="--force"):
            write_table(path, table)
        assert path.read_bytes() == before


@pytest.mark.parametrize("there", ["link", "broken link", "folder"])
def test_links_and_folders(there, tmp_path):
    mine, path = tmp_path / "mine.csv", tmp_path / "out.json"
    mine.write_text("a,b\n")
    {"link": lambda: path.symlink_to(mine), "broken link": lambda: path.symlink_to("gone"), "folder": path.mkdir}[
        there
    ]()
    with pytest.raises(UserError, match="--force|folder"):
        write_or_refuse(path, b"{}")
    assert mine.read_text() == "a,b\n" and sorted(os.listdir(tmp_path)) == ["mine.csv", "out.json"]


def defaults_of(one: Callable) -> dict[str, Any]:
    """Options of a command and what they are if they are not given; those of a group stand by themselves."""
    found = {}
    for name, parameter in inspect.signature(one).parameters.items():
        grouped = dataclasses.is_dataclass(parameter.default)
        found |= vars(parameter.default) if grouped else {name: parameter.default}
    return found


def test_every_command_that_writes_can_be_forced_and_is_not_by_itself():
    writing = {name: defaults_of(command(name)) for name in cli.COMMANDS}
    writing = {name: options for name, options in writing.items() if "out" in options and name != "run"}
    assert set(writing) >= {"audit", "plan", "split", "report", "gallery", "compare", "risk", "show-episode", "example"}
    for name, options in writing.items():
        assert options.get("force") is False, name


def test_commands_refuse_before_they_work(tmp_path, monkeypatch, capsys):
    """The data themselves as --out: the fault that this is about."""
    monkeypatch.chdir(tmp_path)
    data = "color,shape,right\n" + "red,box,1\nred,ball,0\nblue,box,1\n" * 4
    Path("data.csv").write_text(data)
    Path("page.html").write_text("mine")
    Path("prior.json").write_text("{}")
    Path("e.svg").write_text(SVG)
    Path("a").mkdir()
    Path("a", "audit.html").write_text("mine")
    for words in (
        "plan data.csv --out data.csv",
        "example --out data.csv",
        "gallery . --out page.html",
        "risk fit nowhere",
        "show-episode preference-v1 --out e.svg",
        "audit data.csv --out a",
        "split data.csv --factors color,shape --out a",
    ):
        before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
        with pytest.raises(SystemExit) as ended:
            cli.main(words.split())
        said = capsys.readouterr().err
        assert ended.value.code == 2 and said.count("\n") == 1, (words, said)
        assert "--force" in said or "another folder" in said or "store" in said or "holds other files" in said, said
        assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before, words


def test_an_audit_and_a_plan_can_be_made_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("color,shape,right\n" + "red,box,1\nred,ball,0\nblue,box,1\n" * 4)

    def run(words: str) -> int:
        with pytest.raises(SystemExit) as ended:
            cli.main(words.split())
        capsys.readouterr()
        return ended.value.code or 0

    for words in ("audit data.csv --factors color,shape --out a", "plan data.csv --out p.json"):
        assert run(words) == run(words) == 0
    Path("a", "combinations.csv").write_text("my notes")
    assert run("audit data.csv --factors color,shape --out a") == 2
    assert Path("a", "combinations.csv").read_text() == "my notes"
    assert run("audit data.csv --factors color,shape --out a --force") == 0


def test_a_page_beside_the_records_is_no_exception(tmp_path):
    store = Store.create(tmp_path / "s", {"study": "x", "version": 1, "scale": "smoke", "settings": {}, "seeds": 1})
    refuse_foreign_page(store.files)
    page = tmp_path / "s" / "report.html"
    page.write_bytes(marked(b"<!DOCTYPE html>", ".html"))
    refuse_foreign_page(store.files)
    page.write_text("mine")
    with pytest.raises(UserError, match="--force"):
        refuse_foreign_page(store.files)
    refuse_foreign_page(store.files, force=True)
