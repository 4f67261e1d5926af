"""The report as a text and as a print, and its charts one by one."""

from __future__ import annotations

import dataclasses
import html
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import why_not
from fruit_study import HOSTILE, Fruit, fruit_conclusion, fruit_result, fruit_store
from shown_studies import Everything, Pictured, Supports, played

import recombine as rc
from recombine.charts.saving import converted, drawn, sized_svg
from recombine.charts.split_map import SupportMap
from recombine.errors import UserError
from recombine.report import render
from recombine.report.formats import report_format
from recombine.report.markdown import markdown_files, plain, render_markdown
from recombine.report.printed_page import browser, printed


@pytest.fixture(scope="module")
def result() -> Any:
    return dataclasses.replace(fruit_result(), study=Everything())


def media_box(pdf: bytes) -> tuple[float, float]:
    found = re.search(rb"MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+) ?\]", pdf)
    assert found
    return float(found[1]), float(found[2])


def test_everything_there_is_to_look_at_is_a_chart_with_a_name(result: Any, tmp_path: Path):
    found = result.charts
    assert len(found) == 1 + 2 + 2 * 2  # a chart, two grids, the two maps that can be drawn, each with its graph
    assert found.figure(next(iter(found))).title == f"chart {HOSTILE}"
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in found)
    paths = found.save(tmp_path, "svg")
    assert {path.name for path in paths} == {f"{name}.svg" for name in found}
    for path in paths:
        ElementTree.fromstring(path.read_text())


def test_bad_requests_for_charts(result: Any, tmp_path: Path):
    name = next(iter(result.charts))
    with pytest.raises(UserError, match="colum"):
        drawn(result.charts[name], "svg", "colum")
    with pytest.raises(UserError, match="between 1 and 40"):
        drawn(result.charts[name], "svg", 0.1)
    with pytest.raises(UserError, match="svg, pdf or png, not as 'jpg'"):
        rc.charts.save(result.charts[name], tmp_path / "chart.jpg")
    with pytest.raises(UserError, match=f"did you mean '{name}'"):
        result.charts[name + "s"]
    assert name + "s" not in result.charts and not list(tmp_path.iterdir())


@pytest.mark.parametrize("width", ["column", "text", 5.0])
def test_a_chart_is_as_wide_as_asked_on_paper(result: Any, tmp_path: Path, width: Any):
    inches = {"column": 3.25, "text": 6.75}.get(width, width)
    stored = dataclasses.replace(result, study=Supports())
    name = next(iter(stored.charts))
    pdf = rc.charts.save(stored.charts[name], tmp_path / "chart.pdf", width).read_bytes()
    assert media_box(pdf)[0] == pytest.approx(72 * inches, abs=1.0)
    assert b"/FontFile" in pdf  # fonts stay fonts
    for format in ("svg", "png"):
        assert drawn(stored.charts[name], format, width) == drawn(stored.charts[name], format, width)


def test_what_a_user_changes_of_a_chart_stays(result: Any):
    stored = dataclasses.replace(result, study=Supports())
    name = next(iter(stored.charts))
    mine = stored.charts[name].properties(title="Mine & only mine", height=333).configure_axis(labelColor="#123456")
    svg = drawn(mine, "svg", "text").decode()
    assert "Mine &amp; only mine" in svg and "#123456" in svg
    assert "Mine" not in drawn(stored.charts[name], "svg").decode()


def test_the_format_is_what_the_name_ends_with():
    assert report_format(None, Path("a.pdf")) == "pdf" and report_format(None, None) == "html"
    assert report_format(None, Path("page")) == "html" and report_format("md", None) == "md"
    assert report_format(None, None, "gap") == "svg" and report_format(None, Path("a.png"), "gap") == "png"
    with pytest.raises(UserError, match="ends with .pdf and --format asks for md"):
        report_format("md", Path("a.pdf"))


@pytest.mark.parametrize(
    ("asked", "path", "chart", "said"),
    [
        (None, "x.docx", None, "x.docx ends with .docx, and a report is written as html, md or pdf"),
        ("docx", None, None, "--format is docx, and a report is written as html, md or pdf"),
        (None, "x.svg", None, "svg is for one chart: name it with --chart"),
        ("png", None, None, "png is for one chart: name it with --chart"),
        (None, "x.html", "gap", "a chart is written as svg, pdf or png"),
    ],
)
def test_a_format_that_is_not_there_is_refused_with_those_that_are(asked: Any, path: Any, chart: Any, said: str):
    with pytest.raises(UserError, match=re.escape(said)):
        report_format(asked, path and Path(path), chart)


# -- the page in print ------------------------------------------------------------------------------------------------
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)


def test_a_pdf_is_the_page_as_it_prints(result: Any, tmp_path: Path):
    if why_not():
        pytest.skip(why_not())
    path = rc.report.write(result, "pdf", tmp_path / "page.pdf")
    found = Path(path).read_bytes()
    assert found.startswith(b"%PDF") and len(re.findall(rb"/Type ?/Page\b", found)) >= 2
    pictures = sum(one is not None for grid in result.image_grids for _, row in grid.rows for one in row)
    assert found.count(b"/Subtype /Image") >= 1 and pictures


def test_without_chromium_one_sentence_says_what_is_missing_and_what_else_would_do(
    result: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    no_browser(monkeypatch)
    with pytest.raises(UserError, match="Chromium, which is not installed .*--format html .*--chart NAME") as problem:
        rc.report.write(result, "pdf", tmp_path / "page.pdf")
    assert "\n" not in str(problem.value) and not list(tmp_path.iterdir())
    name = next(iter(result.charts))  # a chart alone needs none
    assert rc.report.write(result, "pdf", tmp_path / "one.pdf", chart=name) == tmp_path / "one.pdf"
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("script", "said"), [("sleep 30", "within 0.5 seconds"), ("echo no display >&2", "no display")]
)
def test_a_browser_that_does_not_print_is_given_up(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\nexec {script}\n" if script.startswith("sleep") else f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("RECOMBINE_CHROMIUM", str(program))
    assert browser() == str(program)
    with pytest.raises(UserError, match=said):
        printed("<p>words</p>", seconds=0.5 if script.startswith("sleep") else 20)
    monkeypatch.setenv("RECOMBINE_CHROMIUM", str(tmp_path / "nothing"))
    with pytest.raises(UserError, match="no such program"):
        browser()


def test_an_incomplete_study_says_so_in_every_format(result: Any, tmp_path: Path):
    store = fruit_store(tmp_path / "store")
    part = fruit_conclusion(result.study, result.records[:4], store)
    for text in (render(part), render_markdown(part)):
        assert "This study is incomplete: 4 of 6 cells are here." in text


def test_what_was_changed_after_a_run_is_in_every_format(result: Any):
    changed = dataclasses.replace(result, study=Everything(history="A reading was mended."))
    for text in (render(changed), render_markdown(changed)):
        assert "Changed after a run was seen" in text and "A reading was mended" in text
        assert "Thresholds were written before" not in text
    assert "Thresholds were written before the run" in render(result)


def test_what_differs_from_the_source_is_in_every_format(result: Any):
    other = dataclasses.replace(result, study=Everything(differs=("Its mazes are ours.", "So are its <words>.")))
    for text in (render(other), render_markdown(other)):
        assert "Otherwise than in the source" in text and "Its mazes are ours." in text and "<words>" not in text
    assert "Otherwise than in the source" not in render(result)


def test_two_texts_in_one_folder_keep_their_pictures(result: Any, tmp_path: Path):
    other = dataclasses.replace(result, study=Fruit())
    for name, one in (("first.md", result), ("the second.md", other)):
        assert rc.report.write(one, "md", str(tmp_path / name)) == tmp_path / name
    text = (tmp_path / "the second.md").read_text()
    assert (tmp_path / "first-images").is_dir() and "](the%20second-images/" in text
    assert len(list((tmp_path / "first-images").iterdir())) > len(list((tmp_path / "the second-images").iterdir()))


@pytest.mark.parametrize("name", ["var(--x)", '"var(--ink)"', "a\x1b[31mb\x00", "x" * 3000])
def test_no_name_breaks_a_drawing(name: str):
    """Names are text: not a color of the page, no character that XML does not have, and not wider than a page."""
    space = rc.Product(a=[name, "b"], c=2, d=[name, "e"])
    grid = dataclasses.replace(Pictured().image_grids([])[0], title=name, legend=name)
    one = SupportMap(name, rc.supports.random(space, held_out=0.25, seed=0), np.linspace(0, 1, 8))
    assert one.support is not None
    drawings = [rc.charts.map(one), rc.charts.graph(one.support), rc.charts.images(grid)]
    for chart in drawings:
        svg = sized_svg(chart, 40, "light")
        ElementTree.fromstring(svg)
        assert "var(" not in re.sub(r">[^<]*<|aria-label=\"[^\"]*\"", "", svg)
        assert converted(svg, "png", scale=1).startswith(b"\x89PNG")
    assert drawings[0].to_dict()["width"] < 1000


def test_episodes_are_in_every_format(result: Any):
    with_episode = played(result)
    files = markdown_files(with_episode)
    assert files["report-images/fruit-episode-0.png"].startswith(b"\x89PNG")
    assert "](report-images/fruit-episode-0.png)" in files["report.md"].decode()
    page = render(with_episode)
    assert 'id="episodes"' in page and "<script>alert" not in page.split('id="episodes"')[1].split("</section>")[0]


def test_what_decided_a_verdict_and_its_source_are_in_every_format(result: Any):
    page, text = render(result), render_markdown(result)
    for words in [words for verdict in result.verdicts for words in (*verdict.effect_words, *verdict.notes)]:
        assert html.escape(words) in page.replace("&#34;", "&quot;").replace("&#39;", "&#x27;") and plain(words) in text
    assert {verdict.decided_at for verdict in result.verdicts} == {0, 3}
    for source in {verdict.claim.source for verdict in result.verdicts}:
        assert plain(source) in text


def test_every_format_is_written_beside_the_records(tmp_path: Path):
    stored = fruit_result(store=fruit_store(tmp_path / "store"))
    heads = {"html": b"<!DOCTYPE html>", "md": b"# title"} | ({} if why_not() else {"pdf": b"%PDF"})
    for format, head in heads.items():
        path = rc.report.write(stored, format)
        assert path == tmp_path / "store" / f"report.{format}" and path.read_bytes().startswith(head)
    name = next(iter(stored.charts))
    assert rc.report.write(stored, "svg", chart=name) == tmp_path / "store" / f"{name}.svg"
    (image,) = re.findall(r"\]\((report-images/[^)]*)\)", (tmp_path / "store" / "report.md").read_text())
    assert (tmp_path / "store" / image).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UserError, match="docx"):
        rc.report.write(stored, "docx")
    with pytest.raises(UserError, match="say where"):
        rc.report.write(fruit_result(), "md")


def test_markdown_says_what_the_page_says_and_nothing_acts():
    text = render_markdown(fruit_result(), {"a.png": (HOSTILE, HOSTILE)})
    assert "<script>" not in re.sub(r"\\[<>]", "", text) and "<img" not in re.sub(r"\\[<>]", "", text)
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert len(rows) == 3 and all(len(re.findall(r"(?<!\\)\|", row)) == 8 for row in rows)
    assert "0.766 to 0.854" in rows[0] and "0.800, 0.810, 0.820" in rows[0] and "at least 0.5" in rows[0]
    assert "recombine run fruit --scale laptop --seeds 3" in text


def test_plain_text_for_markdown():
    assert plain("a *b* [c](d)\n| <i>") == r"a \*b\* \[c\](d) \| \<i\>"
