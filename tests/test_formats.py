"""The report as text and as a sheet, and figures for papers."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import recombine as rc
from recombine.charts.split_map import SupportMap
from recombine.errors import UserError
from recombine.lab.run import Result
from recombine.report import render
from recombine.report.formats import report_format
from recombine.report.graph import graph_svg
from recombine.report.images import drawn, map_image, on_paper, plate_svg
from recombine.report.markdown import markdown_files, plain, render_markdown
from recombine.report.sheet import sheet_svg
from recombine.tasks.episodes import Entry, Episode, Frame
from test_maps import Mapped
from test_plates import Pictured
from test_report import HOSTILE, Fruit, fruit_conclusion, fruit_result, fruit_store


class Everything(Mapped, Pictured):
    """Charts, plates and maps."""


def played(result: Result) -> Result:
    """A result whose first record kept an episode, too."""
    frames = (Frame((1, 1), (((1, 2), HOSTILE),), "right", "up", HOSTILE), Frame((1, 2), (), None))
    episode = Episode(HOSTILE, np.zeros((3, 4), bool), frames, (Entry(HOSTILE, HOSTILE),))
    first = result.records[0]
    kept = dataclasses.replace(first, facts=first.facts | {"episode": episode.to_json()})
    return dataclasses.replace(result, records=[kept, *result.records[1:]])


@pytest.fixture(scope="module")
def result() -> Any:
    return dataclasses.replace(fruit_result(), study=Everything())


def media_box(pdf: bytes) -> tuple[float, float]:
    found = re.search(rb"MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+) ?\]", pdf)
    assert found
    return float(found[1]), float(found[2])


def test_all_pictures_of_a_study_become_figures(result: Any, tmp_path: Path):
    found = rc.report.figures(result)
    assert len(found) == 1 + 2 + 2 * 2  # a chart, two plates, the two maps that can be drawn, each with its graph
    assert found[0].title == f"chart {HOSTILE}"
    for figure in found:
        assert re.fullmatch(r"fruit-\d\d[a-z0-9-]*", figure.name)
    paths = found.save(tmp_path, "svg")
    assert len({path.name for path in paths}) == 7
    for path in paths:
        ElementTree.fromstring(path.read_text())


def test_bad_requests_for_figures(result: Any, tmp_path: Path):
    with pytest.raises(UserError, match="colum"):
        rc.figures(result, width="colum")
    with pytest.raises(UserError, match="between 1 and 40"):
        rc.figures(result, width=0.1)
    with pytest.raises(UserError, match="jpg"):
        rc.figures(result)[0].save(tmp_path / "chart.jpg")
    with pytest.raises(UserError, match="not a store"):
        rc.figures(tmp_path)


def test_the_sheet_holds_words_claims_and_charts(result: Any):
    whole, top = sheet_svg(result), sheet_svg(result, whole=False)
    root = ElementTree.fromstring(whole)
    texts = " ".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text"))
    for word in ("supported", "refuted", "undecided", "at least 0.5", "0.785 to 0.835", "recombine run fruit"):
        assert word in texts
    images = [len(re.findall("<svg x=", text)) for text in (whole, top)]
    assert images == [1 + 2 + 2 * 2, 1]  # a chart, two plates, two maps, each with its graph
    assert "asked" in texts and "reason" in texts  # what was measured without a threshold; why a map is not there
    assert "<script" not in whole


def test_pictures_are_in_the_pdf_and_names_of_drawings_do_not_meet(result: Any):
    svg = sheet_svg(result)
    names = re.findall(r' id="([^"]+)"', svg)
    assert len(set(names)) == len(names) and names
    for name in re.findall(r'="url\(#([^)]+)\)', svg):
        assert name in names
    tiles = sum(tile is not None for plate in result.study.plates([]) for _, row in plate.rows for tile in row)
    assert drawn(svg, "pdf").count(b"/Subtype /Image") >= tiles


def test_the_format_is_what_the_name_ends_with(tmp_path: Path):
    assert report_format(None, Path("a.pdf")) == "pdf" and report_format(None, None) == "html"
    assert report_format(None, Path("page")) == "html" and report_format("png", Path("a.picture")) == "png"
    with pytest.raises(UserError, match="ends with .pdf and --format asks for md"):
        report_format("md", Path("a.pdf"))


def test_an_incomplete_study_says_so_in_every_format(result: Any, tmp_path: Path):
    store = fruit_store(tmp_path / "store")
    part = fruit_conclusion(result.study, result.records[:4], store)
    for text in (render(part), render_markdown(part), sheet_svg(part), sheet_svg(part, whole=False)):
        assert "This study is incomplete: 4 of 6 cells are here." in text


def test_what_was_changed_after_a_run_is_in_every_format(result: Any):
    changed = dataclasses.replace(result, study=Everything(history="A reading was mended."))
    for text in (render(changed), render_markdown(changed), sheet_svg(changed)):
        assert "Changed after a run was seen" in text and "A reading was mended" in text
        assert "Thresholds were written before" not in text
    assert "Thresholds were written before the run" in render(result)


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
    plate = dataclasses.replace(Pictured().plates([])[0], title=name, legend=name)
    one = SupportMap(name, rc.supports.random(space, held_out=0.25, seed=0), np.linspace(0, 1, 8))
    drawings = [map_image(one), on_paper(graph_svg(one.support)), plate_svg(plate)]
    for svg in drawings:
        ElementTree.fromstring(svg)
        assert drawn(svg, "png", scale=1).startswith(b"\x89PNG")
    assert float(re.search(r'width="(\d+)', drawings[0])[1]) < 1000


def test_episodes_are_in_every_format(result: Any):
    with_episode = played(result)
    assert len(re.findall("<svg x=", sheet_svg(with_episode))) == len(re.findall("<svg x=", sheet_svg(result))) + 1
    files = markdown_files(with_episode)
    assert files["report-images/fruit-episode-0.png"].startswith(b"\x89PNG")
    assert "](report-images/fruit-episode-0.png)" in files["report.md"].decode()
    page = render(with_episode)
    assert 'id="episodes"' in page and "<script>alert" not in page.split('id="episodes"')[1].split("</section>")[0]


def test_what_would_change_a_verdict_and_its_source_are_in_every_format(result: Any):
    decided = [verdict for verdict in result.verdicts if verdict.would_change]
    assert decided
    root = ElementTree.fromstring(sheet_svg(result))
    sheet = " ".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text"))
    page, text = render(result), render_markdown(result)
    for verdict in decided:
        assert verdict.would_change in page and verdict.would_change in sheet and plain(verdict.would_change) in text
    for source in {verdict.claim.source for verdict in result.verdicts}:
        assert source.split()[0] in sheet and plain(source) in text


def test_every_format_is_written_beside_the_records(tmp_path: Path):
    stored = fruit_result(store=fruit_store(tmp_path / "store"))
    heads = {"html": b"<!DOCTYPE html>", "md": b"# title", "pdf": b"%PDF", "png": b"\x89PNG"}
    for format, head in heads.items():
        path = rc.report.write(stored, format)
        assert path == tmp_path / "store" / f"report.{format}" and path.read_bytes().startswith(head)
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
    assert "0.785 to 0.835" in rows[0] and "0.800, 0.810, 0.820" in rows[0] and "at least 0.5" in rows[0]
    assert "recombine run fruit --scale laptop --seeds 3" in text


def test_plain_text_for_markdown():
    assert plain("a *b* [c](d)\n| <i>") == r"a \*b\* \[c\](d) \| \<i\>"
