"""The report: everything on one page, nothing from outside, and no label that is more than a label."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from recombine.charts.figure import Figure
from recombine.errors import UserError
from recombine.intervals import over_seeds
from recombine.lab.cells import Cell
from recombine.lab.run import Failure, Result, Run, conclude
from recombine.lab.scales import Scale
from recombine.lab.store import Record, Store, tidy
from recombine.lab.study import Study, Texts
from recombine.lab.study_table import PreconditionFailed
from recombine.lab.verdicts import Bound, Claim, Measurement, at_least, at_most
from recombine.report import figure_png, origin, render, write_report
from recombine.report.page import number
from recombine.report.strip import WIDTH, strip
from recombine.studies import registry

HOSTILE = """</script><script>alert(1)</script><!-- "'><img src=x onerror=alert(2)> & {{ 7 * 7 }}"""


def _mean(t: Any) -> float:
    return t.value.mean()


def _unmet(t: Any) -> float:
    raise PreconditionFailed(f"not learned {HOSTILE}")


def _figures(table: Any) -> list[Figure]:
    rows = [{"name": HOSTILE, "value": float("nan")}, {"name": "x", "value": table.value.iloc[0]}]  # a numpy number
    x = {"field": "value", "type": "quantitative"}
    spec = {"data": {"values": rows}, "mark": "point", "encoding": {"x": x}}
    return [Figure(f"chart {HOSTILE}", f"caption {HOSTILE}", spec)]


def _certificates(records: Any) -> dict[str, str]:
    return {f"{r.cell.spec['at']['kind']}, seed {r.cell.spec['seed']}": r.facts["certificate"] for r in records}


def _claim(id: str, reading: Any, bound: Bound, text: str, description: str, source: str) -> Claim:
    return Claim(id, reading, bound, text, "none", description, source)


class Fruit(Study):
    """A study whose every word is hostile."""

    def __init__(self, **changes: Any):
        words: dict[str, Any] = dict(
            id="fruit",
            version=3,
            title=f"title {HOSTILE}",
            question=f"question {HOSTILE}",
            source=f"source {HOSTILE}",
            options={"size": Scale(1, 2, 2, 3), "sweet": False, "kind": "apple", "note": f"help {HOSTILE}"},
            vary={"options.kind": Scale(["apple"], ["apple", "pear"], ["apple"], ["apple"])},
            controls={"none": {}},
            claims=[
                _claim("high", _mean, at_least(0.5), f"claim {HOSTILE}", HOSTILE, f"first {HOSTILE}"),
                _claim("low", _mean, at_most(0.25), "at most a quarter", "the mean", "second source"),
                _claim("unmet", _unmet, at_most(0.25), "never decided", "nothing", "third source"),
            ],
            measurements=[
                Measurement("how-much", _mean, f"asked {HOSTILE}", "the mean"),
                Measurement("nothing", _unmet, "asked in vain", "nothing"),
            ],
            label_of=lambda spec: f"{spec['at']['kind']} {HOSTILE}",
            headline=lambda table, outcomes: f"answer {outcomes['high']} {HOSTILE}",
            charts=[_figures],
            texts=Texts("Certificates", "What each net was trained on, checked and not assumed.", _certificates),
        )
        super().__init__(**words | changes)


OPTIONS = {"size": 2, "sweet": False, "note": f"help {HOSTILE}"}


def fruit_record(seed: int, kind: str, **provenance: str) -> Record:
    cell = Cell("fruit", 3, {"seed": seed, "at": {"kind": kind}, "options": OPTIONS | {"kind": kind}})
    rows = [{"reading": "score", "value": 0.8 + 0.01 * seed}]
    facts = {"certificate": f"certificate of {kind} {seed} {HOSTILE}", "content": f"{seed:064d}", "seconds": 61.5}
    return Record(cell, rows, facts, {"jax": "1.0", "processor": HOSTILE} | provenance)


def fruit_result(records: list[Record] | None = None, store: Store | None = None, scale: str = "laptop") -> Result:
    records = [fruit_record(s, k) for s in range(3) for k in ("apple", "pear")] if records is None else records
    return fruit_conclusion(Fruit(), records, store, scale)


def fruit_conclusion(study: Study, records: list[Record], store: Store | None = None, scale: str = "laptop") -> Result:
    settings = study.settings(scale)
    seeds = store.about["seeds"] if store is not None else 1 + max((r.cell.spec["seed"] for r in records), default=0)
    cells = study.cells(settings, seeds) if records or store is not None else []
    return conclude(Run(study, scale, settings, cells, store), records, [])


def fruit_store(folder: Path, seeds: int = 3) -> Store:
    about = {"study": "fruit", "version": 3, "scale": "laptop", "settings": Fruit().settings("laptop"), "seeds": seeds}
    return Store.create(folder, about)


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, text, and the content of scripts."""

    def __init__(self, source: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self._raw = ""
        self.feed(source)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._raw = tag if tag in ("script", "style") else ""
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""

    def handle_data(self, data: str) -> None:
        if self._raw == "script":
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))
        elif not self._raw:
            self.words.append(data)

    @property
    def islands(self) -> dict[str | None, Any]:
        return {a.get("id"): json.loads(text) for a, text in self.scripts if a.get("type") == "application/json"}


def squeezed(text: str) -> str:
    return " ".join(text.split())


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
    # the charts' library and three scripts of ours, one specification, one configuration
    assert len(page.scripts) == 6
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
    assert set(page.islands) == {"chart-0", "chart-config"}
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
    assert sorted(badges[3:]) == ["badge refuted", "badge supported", "badge undecided"]
    assert len(badges) == 6  # the tally has one of each
    for claim in Fruit().claims:
        assert squeezed(claim.text) in page.text
        assert squeezed(claim.source) in page.text
    assert "at least 0.5" in page.text and "at most 0.25" in page.text
    assert "0.810" in page.text and "0.785 to 0.835" in page.text
    assert "seed 0: not learned" in page.text
    assert "Verdict at laptop scale" in page.text
    assert "undecided with one more seed below" in page.text


def test_every_seed_is_drawn(page: Page):
    circles = [a for tag, a in page.elements if tag == "circle"]
    assert len(circles) == 9  # two claims and one question with three seeds each
    assert "seed 2: 0.820" in page.text


def test_all_certificates(page: Page):
    for seed in range(3):
        for kind in ("apple", "pear"):
            assert f"certificate of {kind} {seed}" in page.text
    outer = [a for tag, a in page.elements if tag == "details" and a.get("class") == "exhibit"]
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
    assert origin.content(records) == origin.content(elsewhere)
    other = dataclasses.replace(records[0], rows=[{"reading": "score", "value": 0.81}])
    assert origin.content([other, records[1]]) != origin.content(records) and origin.content([]) == ""


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


def test_a_study_without_figures_or_exhibits():
    bare = Fruit(measurements=(), charts=(), texts=None)
    source = render(dataclasses.replace(fruit_result(), study=bare, measurements=[]))
    assert not Page(source).islands and len(source) < 100_000  # without charts their library is not there either


def test_one_seed_has_no_interval():
    page = Page(render(fruit_result([fruit_record(0, "apple"), fruit_record(0, "pear")])))
    assert "1 seed; it takes 3" in page.text and "inf" not in page.text and "nan" not in page.text


# -- files ------------------------------------------------------------------------------------------------------------
def test_write_report(tmp_path: Path, source: str):
    store = fruit_store(tmp_path / "store")
    assert write_report(fruit_result(store=store)) == store.path / "report.html"
    assert write_report(fruit_result(), tmp_path / "deep" / "page.html").read_text() == source
    with pytest.raises(UserError, match="say where"):
        write_report(fruit_result())


def test_an_image_of_a_chart(tmp_path: Path):
    figure = registry["supports"].figures(supports_table())[0]
    path = figure_png(figure, tmp_path / "chart.png", scale=1.0)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert figure.spec["width"] == "container"  # the figure itself is left as it was


# -- small parts ------------------------------------------------------------------------------------------------------
def test_a_strip_stays_within_its_frame():
    s = strip({0: -3.0, 1: 5.0, 2: 1e6}, over_seeds([-3.0, 5.0, 1e6]), 0.5, "at least")
    assert s is not None and s.bar is not None and s.shade is not None
    assert all(0 <= place <= WIDTH for place in (*s.bar, s.mean, s.threshold, sum(s.shade), *(d[0] for d in s.dots)))  # type: ignore[misc]
    same = strip({0: 1.0, 1: 1.0}, over_seeds([1.0, 1.0]), 1.0, "at most")
    assert same is not None and same.mean == same.threshold == WIDTH / 2
    assert strip({}, over_seeds([]), 0.5, "at least") is None


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
            ]  # fmt: skip
            for step in (3, 6, 9):
                for stream in ("validation", "held_out/cross-block"):
                    rows.append({"reading": "history", "stream": stream, "group": "", "metric": "r2", "step": step,
                                 "value": float("nan") if step == 3 else 0.1 * step})  # fmt: skip
            probe = {"reading": "decodability", "stream": "held_out", "group": "", "layer": "layer2", "step": 9,
                     "value": 0.5}  # fmt: skip
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
