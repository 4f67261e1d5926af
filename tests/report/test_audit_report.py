"""What an audit writes and prints: a page, JSON, tables; labels of strangers stay text (faults 32, 33)."""

from __future__ import annotations

import csv
import html
import importlib
import inspect
import json
import re
import types
from html.parser import HTMLParser

import numpy as np
import pandas
import pytest
from audited_table import EVIL, NAME

import recombine as rc
from recombine.cli import main
from recombine.labels import inert, visible
from recombine.report import render_audit, write_audit
from recombine.report.audit_views import Views


class Page(HTMLParser):
    """Elements, and text outside of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.attributes, self._inside = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self._inside = tag if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside is None:
            self.text.append(data)


def test_labels_are_text_on_the_page(audit):
    text = render_audit(audit)
    assert text == render_audit(audit)
    page = Page(text)
    shown = "".join(page.text)
    for label in EVIL[:2] + EVIL[5:] + [NAME]:
        assert label in shown, label
    assert not {"img", "u"} & set(page.tags) and not [a for a in page.attributes if a.startswith("on")]
    assert "\x1b" not in text and "‮" not in text and "\\x1b[31m" in shown
    assert page.tags.count("script") == text.count("<script") == 1 + 3  # the data of the map, and our scripts
    for section in ("findings", "map", "groups", "seen", "risk", "next", "coverage", "apart"):
        assert f'<section id="{section}"' in text
    assert "was never seen with" in shown and "Said and happened" in shown


def test_the_page_asks_for_nothing_and_tells_nothing(audit, table, monkeypatch):
    text = render_audit(audit)
    assert "default-src 'none'" in html.unescape(text)
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # the bundled library names its schemas
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:|//|file:)""", outside)
    written = outside + json.dumps(audit.to_json())
    for secret in (str(table[0].parent), table[0].parent.name, "/root", "/home"):
        assert secret not in written


def test_files_are_whole_and_cells_are_inert(audit, tmp_path):
    paths = write_audit(audit, tmp_path / "new" / "folder")
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        "audit.html",
        "audit.json",
        "combinations.csv",
        "combinations.parquet",
    ]
    data = json.loads(paths["json"].read_text(), parse_constant=lambda name: pytest.fail(name))
    assert data["risk"]["basis"] == "outcomes" and data["factors"][NAME] == sorted(EVIL)
    exact = pandas.read_parquet(paths["parquet"])
    assert set(exact[NAME]) == set(EVIL) and len(exact) == 72
    assert (exact.training_rows > 0).sum() == audit.coverage.seen and exact["right"].sum() == audit.observed.right.sum()
    with open(paths["csv"], newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 73 and not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@", "\t"))]
    assert any(cell.startswith("'=cmd") for row in rows for cell in row)
    for text in ("=1+1", "+1", "-1", "@x", "\tx"):
        assert inert(text) == f"'{text}"
    assert inert("plain") == "plain" and visible("a\nb\u202e\U000e0001") == "a\\nb\\u202e\\U000e0001"
    (tmp_path / "file").write_text("")
    with pytest.raises(rc.UserError, match="name a folder"):
        write_audit(audit, tmp_path / "file")


def test_factors_called_as_our_columns_keep_their_values(tmp_path):
    audit = rc.audit({"risk": ["x", "y"] * 5, "reasons": ["p"] * 5 + ["q"] * 5}, factors=["risk", "reasons"])
    table = audit.table
    assert set(table["risk"]) == {"x", "y"} and {"risk_", "reasons_"} <= set(table.columns)
    write_audit(audit, tmp_path)


def test_the_page_without_model_outcome_or_pairs():
    for frame in ({"a": ["x", "y"], "b": ["p", "q"]}, {"a": ["x"], "b": ["y"]}):
        text = render_audit(rc.audit(frame, factors=list(frame)))
        assert "No outcome was given" in text and "No activations were given" in text


def test_many_levels_and_factors_keep_the_page_small():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({f"f{i}": rng.integers(0, 30, 600) for i in range(7)}).astype(str)
    with pytest.warns(UserWarning, match="7 factors make 21,870,000,000"):
        audit = rc.audit(frame, factors=list(frame))
    text = render_audit(audit)
    assert len(text) < 1_200_000
    drawn = Views(audit).map()
    assert [len(own) for own in drawn["levels"]] == [24] * 7 and drawn["all"] == [30] * 7 and len(drawn["pairs"]) == 21


# -- the package and the command --------------------------------------------------------------------------------------
def test_audit_is_a_function_and_a_package():
    assert callable(rc.audit) and isinstance(rc.audit, types.ModuleType)
    assert importlib.import_module("recombine.audit.seen") is rc.audit.seen
    assert list(inspect.signature(rc.audit).parameters)[:2] == ["data", "factors"]
    assert rc.audit({"a": ["x", "y"], "b": ["p", "q"]}, ["a", "b"]).factors == ("a", "b")


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def without_marks(text: str) -> dict:
    """A page's JSON without what says that the file, and those beside it, are ours."""
    return {key: value for key, value in json.loads(text).items() if key not in ("files", "sum")}


def test_the_command_prints_and_writes(capsys, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, layers = table
    arguments = ["audit", str(path), "--factors", f"{NAME},light,road", "--split", "split", "--outcome", "right"]
    code, out, _ = run(capsys, *arguments, "--activations", str(layers))
    assert code == 0 and "\x1b" not in out and "‮" not in out
    for word in ("Coverage", "Linearly decodable?", "Seen against unseen", "Risk", "Next", "audit.html"):
        assert word in out
    assert (tmp_path / "runs" / "audit-data--i" / "audit.html").exists()
    code, out, err = run(capsys, *arguments, "--json", "--out", "there")
    printed = json.loads(out)
    assert code == 0 and printed["kind"] == "recombine-audit" and printed["files"]["page"] == "there/audit.html"
    assert {key: value for key, value in printed.items() if key not in ("files", "sum")} == without_marks(
        (tmp_path / "there" / "audit.json").read_text()
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.csv"], "no file"),
        (["{data}", "--factors", "ligt"], "did you mean 'light'"),
        (["{data}", "--outcome", "road"], "1 for right"),
        (["{data}", "--split", "light"], "must say 'train'"),
        (["{data}", "--activations", "no.npy"], "no file"),
        (["{data}", "--prior", "no.json"], "cannot be read"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, table, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "audit", *(a.format(data=table[0]) for a in arguments))
    assert code == 2 and not out and words in err and err.count("\n") == 1
    assert not list(tmp_path.iterdir())
