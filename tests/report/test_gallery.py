"""Many studies on one page, and two stores side by side."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import urllib.parse
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.stats
from fruit_gallery import STUDIES, filled, gallery_of, only_fruit  # noqa: F401  (a fixture)
from fruit_study import HOSTILE, Fruit, fruit_record, fruit_result
from report_page import Page

from recombine.cli import main
from recombine.errors import UserError
from recombine.lab import comparing
from recombine.lab.comparing import compare
from recombine.lab.record import Failure
from recombine.lab.store import Store
from recombine.lab.study_table import StudyTable
from recombine.lab.verdicts import Bound, judge
from recombine.report import render
from recombine.report.comparison import render_comparison
from recombine.report.gallery import FAR, HEIGHT, sparkline, write_gallery
from recombine.statistics.intervals import of_difference


def compare_folders(first: Path, second: Path) -> Any:
    return comparing.compare_folders(first, second, STUDIES)


# -- gallery ----------------------------------------------------------------------------------------------------------
def test_the_gallery_shows_every_store_and_its_links_lead_somewhere(tmp_path: Path):
    filled(tmp_path / "runs" / "one & two")
    filled(tmp_path / "runs" / "three")
    broken = tmp_path / "runs" / "broken"
    broken.mkdir()
    (broken / "store.json").write_text("{")
    path = gallery_of([tmp_path / "runs"])
    assert path == tmp_path / "runs" / "gallery.html"
    page = Page(path.read_text())
    links = {a["href"] for tag, a in page.elements if tag == "a" and not a["href"].startswith("#")}
    assert len(links) == 2
    for link in links:
        assert (path.parent / urllib.parse.unquote(link or "")).is_file()
    assert "1 study in 2 runs with 6 claims: 2 supported, 2 refuted, 2 open; 12.3 min of computing" in page.text
    assert "1 store is not shown" in page.text and "store.json is damaged" in page.text
    assert "img" not in [tag for tag, _ in page.elements] and len(path.read_bytes()) < 200_000
    assert HOSTILE not in path.read_text()


def test_a_store_is_shown_once_however_it_is_named_and_two_of_one_name_are_told_apart(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filled(tmp_path / "a" / "store")
    filled(tmp_path / "b" / "store")
    (tmp_path / "link").symlink_to("a")
    page = Page(gallery_of([Path("a"), Path("link"), tmp_path / "a", Path("b")]).read_text())
    assert "1 study in 2 runs with 6 claims" in page.text
    assert "in a/store" in page.text and "in b/store" in page.text


def test_the_machine_is_not_told(tmp_path: Path):
    """Neither by a store that cannot be read nor by a cell that failed."""
    filled(tmp_path / "runs" / "one")
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "store.json").write_text("{")
    assert str(tmp_path) not in gallery_of([tmp_path / "runs"]).read_text()
    cell = fruit_record(0, "apple").cell
    trace = 'Traceback:\n  File "/home/someone/src/recombine/lab/run.py", line 3, in run\nValueError: x'
    failed = dataclasses.replace(fruit_result(), failures=[Failure(cell, "ValueError: x", trace)])
    page = render(failed)
    assert "someone" not in page and "File &#34;recombine/lab/run.py&#34;, line 3" in page


def test_reports_that_are_older_than_their_records_are_made_again(tmp_path: Path):
    store = filled(tmp_path / "store")
    report = store / "report.html"
    gallery_of([store])
    os.utime(report, (0, 0))
    assert gallery_of([store]) == tmp_path / "gallery.html" and report.stat().st_mtime > 0
    made = report.stat().st_mtime_ns
    gallery_of([store], tmp_path / "elsewhere" / "page.html")
    assert report.stat().st_mtime_ns == made
    assert 'href="../store/report.html"' in (tmp_path / "elsewhere" / "page.html").read_text()


@pytest.mark.parametrize("place", ["", ".", "/"])
def test_a_gallery_needs_the_name_of_a_file(place: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="is a folder; name a file"):
        write_gallery([], Path(place))
    assert not list(tmp_path.iterdir())


def test_a_folder_without_stores_is_refused(tmp_path: Path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(UserError, match="recombine run"):
            gallery_of([folder])


@pytest.mark.parametrize(
    ("values", "side", "up"),
    [
        ((0.6, 0.62, 0.61), "at least", True),
        ((0.6, 0.62, 0.61), "at most", False),
        ((0.9, 0.9, 0.9), "at least", True),
    ],
)
def test_a_bar_points_to_the_side_of_its_claim(values: tuple[float, ...], side: Any, up: bool):
    claim = dataclasses.replace(Fruit().claims[0], bound=Bound(side, 0.5))
    table = StudyTable(pandas.DataFrame({"seed": range(len(values)), "value": values}), "r2")
    verdict = judge(dataclasses.replace(claim, reading=lambda part: part.value.mean()), table, "laptop")
    assert verdict.outcome == ("supported" if up else "refuted")
    (bar,) = sparkline([verdict])
    assert (bar.y < HEIGHT / 2) == up and bar.y >= 0 and bar.y + bar.height <= HEIGHT
    assert bar.height > (HEIGHT / 2 - 2) / FAR  # beyond the dashed line
    (open_,) = sparkline([dataclasses.replace(verdict, outcome="open")])  # a precondition: it does not look decided
    assert open_.height == pytest.approx((HEIGHT / 2 - 2) / FAR, abs=0.1)


def test_the_gallery_marks_what_survives_over_all_claims_together(tmp_path: Path):
    gallery_of([filled(tmp_path / "store")])
    found = json.loads((tmp_path / "gallery.json").read_text())
    verdicts = [one for study in found["studies"] for one in study["verdicts"]]
    decided = [one for one in verdicts if one["verdict"] in ("supported", "refuted")]
    m = sum(one["e_value"] is not None for one in verdicts)
    assert decided and all(one["survives"] == (one["e_value"] >= m / (0.05 * len(decided))) for one in decided)
    assert not any(one["survives"] for one in verdicts if one not in decided)


# -- differences ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("a", "b"), [((1.0, 2.0, 4.0), (3.0, 3.5, 9.0, 2.0)), ((0.0, 1.0), (5.0, 5.0, 5.1))])
def test_the_interval_of_a_difference_is_that_of_welch(a: tuple[float, ...], b: tuple[float, ...]):
    ours = of_difference(a, b)
    low, high = scipy.stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert (ours.low, ours.high) == (pytest.approx(low), pytest.approx(high))
    assert ours.mean == pytest.approx(np.mean(b) - np.mean(a)) and ours.seeds == min(len(a), len(b))


def test_differences_of_few_values():
    assert of_difference([], [1.0]).seeds == 0 and of_difference([1.0], [1.0, 2.0]).low == -np.inf
    same = of_difference([1.0, 1.0], [3.0, 3.0])
    assert same.low == same.high == 2.0
    with pytest.raises(ValueError, match="NaN"):
        of_difference([np.nan], [1.0])


def test_a_store_does_not_differ_from_itself_and_differs_from_another(tmp_path: Path):
    first, second = filled(tmp_path / "a" / "s"), filled(tmp_path / "b" / "s", jax="2.0")
    (same,), alone = compare_folders(first, second)
    assert not alone and not [one for one in same.readings if one.differs or one.turned] and not same.settings
    assert same.made_by == [("jax", "1.0", "2.0")]
    (moved,), _ = compare_folders(first, filled(tmp_path / "c" / "s", -0.7))
    assert [one.differs for one in moved.claims] == [True, True, False]  # the third has no value
    assert [one.outcomes for one in moved.claims][:2] == [("supported", "refuted"), ("refuted", "supported")]
    assert "3 of 3 readings differ" in moved.sentence() and "2 of 3 verdicts changed" in moved.sentence()
    small, _ = compare_folders(first, filled(tmp_path / "d" / "s", 0.005))
    assert not [one for one in small[0].readings if one.differs]  # less than the spread of the seeds


def test_folders_are_compared_by_name(tmp_path: Path):
    for folder, names in (("a", ("s", "t")), ("b", ("s", "u"))):
        for name in names:
            filled(tmp_path / folder / name)
    found, alone = compare_folders(tmp_path / "a", tmp_path / "b")
    assert len(found) == 1 and alone == ["t", "u"]
    with pytest.raises(UserError, match="no store of the same name"):
        filled(tmp_path / "c" / "x")
        compare_folders(tmp_path / "a", tmp_path / "c")


def test_different_studies_are_not_compared():
    with pytest.raises(UserError, match="'fruit' and 'other'"):
        compare(fruit_result(), dataclasses.replace(fruit_result(), study=Fruit(id="other")))


def test_settings_that_differ_are_named():
    result = fruit_result()
    other = dataclasses.replace(result, settings=result.settings | {"options.size": 9})
    found = compare(result, other)
    assert found.settings == [("options.size", 2, 9)]
    source = render_comparison([found], [HOSTILE])
    assert (
        HOSTILE not in source and "within the interval" in source and "img" not in [t for t, _ in Page(source).elements]
    )


def test_another_version_of_a_study_can_be_compared(tmp_path: Path):
    old = filled(tmp_path / "old")
    about = json.loads((old / "store.json").read_text()) | {"version": 2}
    (old / "store.json").write_text(json.dumps(about))
    (found,), _ = compare_folders(old, filled(tmp_path / "new"))
    assert found.claims[0].first.mean == pytest.approx(found.claims[0].second.mean)
    assert "version 2 of the study" in render_comparison([found])


# -- on the command line ----------------------------------------------------------------------------------------------
def run(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_the_commands(capsys, tmp_path: Path):
    first, second = filled(tmp_path / "a"), filled(tmp_path / "b", -0.6)
    code, out, _ = run(capsys, "compare", str(first), str(second))
    assert code == 0 and "differs" in out and "-> refuted" in out
    assert (tmp_path / "compare.html").exists()
    code, out, _ = run(capsys, "compare", str(first), str(second), "--json", "--out", str(tmp_path / "p.html"))
    listed = json.loads(out)["studies"][0]
    assert code == 0 and listed["readings"][0]["differs"] and listed["readings"][2]["first"] is None
    code, out, _ = run(capsys, "gallery", str(tmp_path))
    assert code == 0 and out.split() == ["gallery:", str(tmp_path / "gallery.html")]
    code, out, _ = run(capsys, "report", str(first), "--format", "md", "--out", str(tmp_path / "x" / "r.md"))
    assert code == 0 and re.search(r"report: .*r\.md", out) and (tmp_path / "x" / "r.md").exists()
    code, _, err = run(capsys, "compare", str(first), str(tmp_path / "none"))
    assert code == 2 and "is not a folder" in err


def test_a_store_of_another_version_may_lack_settings(tmp_path: Path):
    """What an older version of a study knew and did not know: its records are compared as they are."""
    filled(tmp_path / "now")
    about = {"study": "fruit", "version": 2, "scale": "laptop", "settings": {"size": 2}, "seeds": 3}
    store = Store.create(tmp_path / "before", about)
    for seed in range(3):
        store.put(dataclasses.replace(fruit_record(seed, "apple")))
    comparisons, _ = compare_folders(tmp_path / "before", tmp_path / "now")
    page = Page(render_comparison(comparisons))
    assert "version 2 of the study; 3 seeds, 3 cells" in page.text and "kind" in page.text
