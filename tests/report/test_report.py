"""The report: everything on one page, nothing from outside, and no label that is more than a label."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from fruit_study import (
    HOSTILE,
    Fruit,
    fruit_record,
    fruit_result,
    fruit_store,
)
from report_page import Page, squeezed

import recombine as rc
from recombine.errors import UserError
from recombine.lab.cells import Cell
from recombine.lab.extent import content_of
from recombine.lab.record import Failure, Record, tidy
from recombine.report import render, write_report
from recombine.report.claim_plot import WIDTH, plot_of
from recombine.report.page import code_names, number
from recombine.statistics.intervals import over_seeds
from recombine.studies import registry


@pytest.fixture(scope="module")
def source() -> str:
    return render(fruit_result())


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


# -- safety -----------------------------------------------------------------------------------------------------------
def test_hostile_labels_are_text(source: str, page: Page):
    tags = [tag for tag, _ in page.elements]
    assert "img" not in tags
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "49" not in page.text.split()
    for word in ("title", "question", "answer supported", "claim", "first", "asked", "chart", "caption", "help"):
        assert squeezed(f"{word} {HOSTILE}") in page.text
    # the charts' library and four scripts of ours, a chart, the pictures of two claims, one configuration
    assert len(page.scripts) == 9
    assert HOSTILE not in source.replace(html.escape(HOSTILE), "")


def test_only_our_scripts_may_run(source: str, page: Page):
    import base64
    import hashlib

    policy = next(a["content"] or "" for tag, a in page.elements if tag == "meta" and "http-equiv" in a)
    allowed = re.search(r"script-src ([^;]*)", policy)
    assert allowed and "unsafe" not in allowed[1]
    assert policy.startswith("default-src 'none';")
    for attributes, text in page.scripts:
        if "type" not in attributes:
            assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in allowed[1]


def test_nothing_is_fetched(source: str, page: Page):
    for tag, attributes in page.elements:
        if tag == "link":  # an empty icon, so that no browser asks for one
            assert attributes == {"rel": "icon", "href": "data:,"}
            continue
        for name in ("src", "srcset", "action", "data", "poster"):
            assert name not in attributes, (tag, attributes)
        assert (attributes.get("href") or "#").startswith("#")  # to another place on the page
        assert tag not in ("iframe", "object", "embed", "base", "form")
    styles = "".join(re.findall(r"<style>(.*?)</style>", source, re.DOTALL))
    assert styles and "@import" not in styles and "url(" not in styles
    assert "http" not in json.dumps(page.islands)


def test_islands_parse_back(page: Page):
    assert set(page.islands) == {"chart-0", "chart-1", "chart-2", "chart-config"}  # the last two are of claims
    rows = page.islands["chart-0"]["data"]["values"]
    assert rows[0] == {"name": HOSTILE, "value": None}  # JSON has no NaN
    assert rows[1]["value"] == pytest.approx(0.8)


def test_one_file_of_moderate_size(source: str):
    assert len(source.encode()) < 3_000_000
    assert source.startswith("<!DOCTYPE html>")


# -- content ----------------------------------------------------------------------------------------------------------
def test_claims_and_their_verdicts(page: Page):
    classes = [a.get("class") or "" for tag, a in page.elements if tag == "span"]
    badges = [name for name in classes if name.startswith("badge")]
    assert sorted(badges[3:]) == ["badge open", "badge refuted", "badge supported"]
    assert len(badges) == 6  # the tally has one of each
    for claim in Fruit().claims:
        assert squeezed(claim.text) in page.text
        assert squeezed(claim.source) in page.text
    assert "at least 0.5" in page.text and "at most 0.25" in page.text
    assert "0.810" in page.text and "0.766 to 0.854" in page.text  # the sequence at three seeds: 7.649 sd / sqrt(3)
    assert "seed 0: not learned" in page.text
    assert "Verdict at laptop scale" in page.text
    assert "decided at 3 seeds" in page.text and "3 of 3 seeds on its side" in page.text
    assert "31.0 sd above the threshold" in page.text and "learned in 0 of 3 seeds" in page.text


def test_a_reason_of_many_words_stands_under_its_claim_and_a_short_one_beside_the_verdict(source: str):
    first, *rows = source.partition('aria-label="claims"')[2].partition("</table>")[0].split('<td class="what">')
    cells = [row.partition("</td>") for row in rows]
    assert len(cells) == 3 and "small why" not in first
    assert any("not learned" in under and "not learned" not in beside for under, _, beside in cells)
    assert any("decided at 3 seeds" in beside and "decided at" not in under for under, _, beside in cells)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a run of `supports` in <b>", "a run of <code>supports</code> in &lt;b&gt;"),
        ("`<i>`", "<code>&lt;i&gt;</code>"),
        ("a lone ` stays", "a lone ` stays"),
        ("none", "none"),
    ],
)
def test_names_between_backticks_are_code_and_all_else_is_text(text: str, shown: str):
    assert str(code_names(text)) == shown


def test_every_seed_is_drawn(page: Page):
    circles = [a for tag, a in page.elements if tag == "circle"]
    assert len(circles) == 9  # two claims and one question with three seeds each
    assert "seed 2: 0.820" in page.text


def test_all_certificates(page: Page):
    for seed in range(3):
        for kind in ("apple", "pear"):
            assert f"certificate of {kind} {seed}" in page.text
    outer = [a for tag, a in page.elements if tag == "details" and a.get("class") == "text-kept"]
    assert len(outer) == 6  # two kinds, each with two more seeds inside


def test_settings_versions_hashes_and_time(page: Page):
    assert "recombine run fruit --scale laptop --seeds 3" in page.text
    assert "--set" not in page.text
    assert "apple, pear" in page.text
    assert "6.2 min of computing in 6 cells" in page.text
    assert "different setups" not in page.text
    assert fruit_record(0, "apple").cell.id in page.text and "0" * 16 in page.text


def test_changed_settings_are_in_the_command():
    settings = {"kind": ["apple", "kiwi $"], "options.size": 5, "options.sweet": True}
    text = Page(render(dataclasses.replace(fruit_result(), settings={"scale": "laptop"} | settings))).text
    asked = "--set 'kind=apple,kiwi $' options.size=5 options.sweet=true"
    assert f"recombine run fruit --scale laptop --seeds 3 {asked}" in text


def test_the_content_of_readings_is_what_was_measured():
    records = [fruit_record(s, "apple") for s in range(2)]
    elsewhere = [fruit_record(s, "apple", jax="2.0") for s in (1, 0)]
    assert content_of(records) == content_of(elsewhere)
    other = dataclasses.replace(records[0], rows=[{"reading": "score", "value": 0.81}])
    assert content_of([other, records[1]]) != content_of(records) and content_of([]) == ""


def test_mixed_versions_are_said():
    records = [fruit_record(s, k, jax="1.0" if s else "0.9") for s in range(3) for k in ("apple", "pear")]
    text = Page(render(fruit_result(records))).text
    assert "The records were made by 2 different setups" in text and "0.9" in text


def test_the_same_result_gives_the_same_page(source: str):
    assert render(fruit_result()) == source


# -- what is missing --------------------------------------------------------------------------------------------------
def test_failures_and_missing_cells(tmp_path: Path):
    store = fruit_store(tmp_path / "store")
    records = [fruit_record(s, "apple") for s in range(3)]
    lost = fruit_record(1, "pear")
    store.put(lost)
    (store.path / "records" / f"{lost.cell.id}.json").write_text("{")
    failed = Failure(fruit_record(2, "pear").cell, f"ValueError: {HOSTILE}", f"Traceback {HOSTILE}")
    result = dataclasses.replace(fruit_result(records, store), failures=[failed])
    page = Page(render(result))
    assert "3 of 6 cells" in page.text
    assert "1 failed. 1 left a damaged record, which does not count. 1 was not run." in page.text
    assert squeezed(f"ValueError: {HOSTILE}") in page.text and squeezed(f"Traceback {HOSTILE}") in page.text


def test_an_empty_result(tmp_path: Path):
    text = Page(render(fruit_result([], fruit_store(tmp_path / "store")))).text
    assert "0 of 6 cells are here" in text and "nothing was measured" in text
    assert "Nothing was measured" in Page(render(fruit_result([]))).text


def test_a_study_without_figures_or_texts():
    bare = Fruit(measurements=(), charts=(), texts=None, headline=lambda table, outcomes: "")
    source = render(dataclasses.replace(fruit_result(), study=bare, measurements=[], verdicts=[]))
    assert not Page(source).islands and len(source) < 100_000  # without charts their library is not there either


def test_one_seed_has_no_interval():
    page = Page(render(fruit_result([fruit_record(0, "apple"), fruit_record(0, "pear")])))
    assert "1 seed; it takes 3" in page.text and "inf" not in page.text and "nan" not in page.text


# -- files ------------------------------------------------------------------------------------------------------------
def test_write_report(tmp_path: Path, source: str):
    store = fruit_store(tmp_path / "store")
    assert write_report(fruit_result(store=store)) == store.path / "report.html"
    assert write_report(fruit_result(), tmp_path / "deep" / "page.html").read_text().startswith(source)
    with pytest.raises(UserError, match="say where"):
        write_report(fruit_result())


def test_an_image_of_a_chart(tmp_path: Path):
    figure = registry["supports"].figures(supports_table())[0]
    path = rc.charts.save(figure.chart, tmp_path / "chart.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert figure.spec["width"] == "container"  # the figure itself is left as it was


# -- small parts ------------------------------------------------------------------------------------------------------
def test_a_claim_plot_stays_within_its_frame():
    s = plot_of({0: -3.0, 1: 5.0, 2: 1e6}, over_seeds([-3.0, 5.0, 1e6]), 0.5, "at least")
    assert s is not None and s.bar is not None and s.shaded is not None
    assert all(0 <= place <= WIDTH for place in (*s.bar, s.mean, s.threshold, sum(s.shaded), *(d[0] for d in s.dots)))  # type: ignore[misc]
    same = plot_of({0: 1.0, 1: 1.0}, over_seeds([1.0, 1.0]), 1.0, "at most")
    assert same is not None and same.mean == same.threshold == WIDTH / 2
    assert plot_of({}, over_seeds([]), 0.5, "at least") is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.5, "−0.500"),
        (-0.0004, "0.000"),
        (3, "3"),
        (float("nan"), "–"),
        (float("inf"), "–"),
        ("a-b", "a-b"),
        (True, "True"),
    ],
)
def test_numbers(value: Any, text: str):
    assert number(value) == text


# -- charts of the study of supports ----------------------------------------------------------------------------------
def supports_table(supports: tuple[str, ...] = ("random", "disconnected", "missing"), seeds: int = 3) -> Any:
    """Readings like those of the study, with values far off any axis among them."""
    records = []
    for seed in range(seeds):
        for support in supports:
            groups = ["", "1 active", "2 active"]
            groups += ["cross-block", "within-block"] if support == "disconnected" else ["with rarest (m1)"]
            rows = [{"reading": "score", "stream": "test", "group": "", "metric": "r2", "step": 9, "value": 0.9}]
            rows += [
                {
                    "reading": "score",
                    "stream": "held_out",
                    "group": group,
                    "metric": "r2",
                    "step": 9,
                    "asked": group == ("cross-block" if support == "disconnected" else ""),
                    "value": -40.0 if support == "missing" else 0.7 + 0.01 * seed,
                }
                for group in groups
            ]
            for step in (3, 6, 9):
                for stream in ("validation", "held_out/cross-block"):
                    rows.append(
                        {
                            "reading": "history",
                            "stream": stream,
                            "group": "",
                            "metric": "r2",
                            "step": step,
                            "value": float("nan") if step == 3 else 0.1 * step,
                        }
                    )
            probe = {
                "reading": "decodability",
                "stream": "held_out",
                "group": "",
                "layer": "layer2",
                "step": 9,
                "value": 0.5,
            }
            metrics = ("r2", "r2_test", "r2_shuffled", "r2_untrained", "r2_encoding")
            rows += [probe | {"metric": metric} for metric in metrics]
            cell = Cell("supports", 1, {"seed": seed, "at": {"support": support, "recipe": "default"}})
            records.append(Record(cell, rows, {}, {}))
    return registry["supports"].table(tidy(records))


def test_figures_of_supports_compile():
    import vl_convert

    figures = registry["supports"].figures(supports_table())
    assert len(figures) == 5
    for figure in figures:
        json.dumps(figure.spec, allow_nan=False)
        assert vl_convert.vegalite_to_vega(figure.spec)["marks"]


def test_the_main_chart_takes_the_cross_block_group():
    table = supports_table()
    table.frame.loc[table.group == "cross-block", "value"] = 0.25
    rows = registry["supports"].figures(table)[0].spec["data"]["values"]
    found = {(row["support"], row["series"]): row["value"] for row in rows}
    assert found["disconnected", "held-out combinations"] == 0.25
    assert found["random", "held-out combinations"] == pytest.approx(0.72)
    assert found["random", "trained combinations"] == 0.9


@pytest.mark.parametrize("readings", [(), ("history",), ("score",), ("decodability",)])
def test_figures_of_partial_tables(readings: tuple[str, ...]):
    table = supports_table()
    figures = registry["supports"].figures(table[table.reading.isin(readings)])
    assert len(figures) == {(): 0, ("history",): 1, ("score",): 3, ("decodability",): 1}[readings]


def test_importing_charts_is_light():
    import subprocess
    import sys

    heavy = ("altair", "vl_convert", "jinja2")
    code = f"import sys, recombine.studies, recombine.report; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
