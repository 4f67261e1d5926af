"""The page of an audit in a browser: findings that unfold, the map of two factors and its filter; and its formats."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from browser import Browser, browser  # noqa: F401
from planted_failures import KIOSK, LEVELS, PAIR, failing

import recombine as rc
from recombine.cli import audit_command, main
from recombine.cli.audit_printing import audit_text
from recombine.report import render_audit, write_audit
from recombine.report.audit_views import Views

FACTORS = list(LEVELS)


@pytest.fixture(scope="module")
def found():
    """Kiosks fail, and Polish insurances, which were never trained; the earlier version failed on kiosks more often."""
    tables = [failing({KIOSK: kiosk, PAIR: 0.8}, 2400) for kiosk in (0.7, 0.4)]
    for table in tables:
        hole = (table.language == "pl") & (table.topic == "insurance")
        table["split"] = np.where(~hole & (np.arange(len(table)) % 2 == 0), "train", "test")
    return rc.audit(
        tables[1],
        FACTORS,
        outcome="right",
        split="split",
        id="id",
        before=tables[0],
        fail_if="accuracy(place=kiosk) < .9",
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory, found) -> Path:
    path = tmp_path_factory.mktemp("audit") / "audit.html"
    path.write_text(render_audit(found))
    return path


def open_page(browser: Browser, place: Path, width: int = 1200) -> None:  # noqa: F811
    browser.resize(width)
    browser.open(place)
    browser.complaints()


def test_the_page_answers_its_title(found):
    text = render_audit(found)
    assert found.headline.startswith("Fails on ") and "kiosk" in found.headline
    answer = re.search(r'<p class="answer">(.*?)</p>', text)
    assert answer is not None and "kiosk" in answer[1] and "insurance" in answer[1]
    order = [text.index(f'<section id="{name}"') for name in ("findings", "changes", "map", "groups", "risk", "next")]
    assert order == sorted(order) and "FAILED: accuracy(place=kiosk)" in text.replace("&lt;", "<")
    for name in re.findall(r'<li><a href="#(\w+)">', text):
        assert f'<section id="{name}"' in text


def test_a_finding_unfolds_to_its_combinations(browser: Browser, place: Path, found):  # noqa: F811
    open_page(browser, place)
    assert len(browser.all("details.finding")) == len(found.findings) >= 2
    table = browser.one("details.finding table")
    assert not table.is_displayed()
    browser.click("details.finding > summary")
    assert table.is_displayed()
    first = found.findings[0]
    column = FACTORS.index(next(iter(first.pattern))) + 1
    levels = set(browser.texts(f"details.finding:first-of-type tbody td:nth-child({column})"))
    assert levels == {next(iter(first.pattern.values()))}
    said = browser.texts("details.finding > p")
    assert first.examples[0] in said[0] and any("not for lack of data" in one for one in said)
    assert browser.complaints() == []


def test_the_map_shows_any_two_factors_and_filters(browser: Browser, place: Path, found):  # noqa: F811
    open_page(browser, place)
    set_to = """const [name, value] = arguments; const box = document.querySelector(`[data-${name}]`);
      box.value = String(value); box.dispatchEvent(new Event('change'));"""
    browser.run(set_to, "down", FACTORS.index("language"))
    browser.run(set_to, "across", FACTORS.index("topic"))
    heads, rows = browser.texts(".heat thead th span"), browser.texts(".heat tbody th")
    assert heads == LEVELS["topic"] and rows == LEVELS["language"]
    observed = found.observed
    codes = (observed.rows[:, 1] == rows.index("pl")) & (observed.rows[:, 2] == heads.index("insurance"))
    share = Views(found).share(codes)
    nth = f".heat tbody tr:nth-child({rows.index('pl') + 1}) td:nth-child({heads.index('insurance') + 2}) button"
    assert browser.texts(nth) == [f"{100 * share.right:.0f} %"]
    said = browser.one(nth).get_attribute("aria-label")
    for words in (
        "0 training rows",
        f"{share.n:,.0f} answers",
        f"[{100 * share.low:.0f} %",
        f"{100 * share.high:.0f} %]",
    ):
        assert words in said
    browser.point_at(nth)
    assert browser.texts("[data-readout]") == [said]
    for measure, shown in (("coverage", "0"), ("risk", None)):
        browser.click(f"[name=measure][value={measure}]")
        assert browser.texts(nth)[0] == shown or (shown is None and browser.texts(nth)[0].endswith("%"))
    before = len(browser.all("[data-listed] tbody tr"))
    browser.click(nth)
    lines = browser.texts("[data-listed] tbody tr td:nth-child(3)")
    assert lines and set(lines) == {"insurance"} and len(lines) == 3 < before
    assert "pl" in browser.texts("[data-filtered]")[0] and browser.one(nth).get_attribute("aria-pressed") == "true"
    browser.click("[data-filtered] button")  # show all
    assert len(browser.all("[data-listed] tbody tr")) == before
    browser.run(set_to, "across", FACTORS.index("language"))  # the same factor: the other one gives way
    assert browser.run("return document.querySelector('[data-down]').value") == str(FACTORS.index("topic"))
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [360, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_on_every_cell(browser: Browser, place: Path, width: int, scheme: str):  # noqa: F811
    """Contrast of 4.5 (WCAG 2.2, 1.4.3), and nothing wider than the screen."""
    browser.prefer(scheme)
    open_page(browser, place, width)
    widths = browser.run("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths[0] <= widths[1]
    worst = browser.run("""
      const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
      const paper = getComputedStyle(document.body).backgroundColor;
      const seen = (...layers) => {
        canvas.clearRect(0, 0, 1, 1);
        layers.forEach((color) => { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); });
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
      };
      const linear = (v) => (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
      const light = (rgb) => {
        const [r, g, b] = rgb.map((v) => linear(v / 255));
        return .2126 * r + .7152 * g + .0722 * b;
      };
      const contrast = (e) => {
        const { backgroundColor, color } = getComputedStyle(e);
        const both = [seen(paper, backgroundColor), seen(paper, backgroundColor, color)].map(light);
        return (Math.max(...both) + .05) / (Math.min(...both) + .05);
      };
      let least = 99;
      for (const radio of document.querySelectorAll('[name=measure]')) {
        radio.click();
        document.querySelectorAll('.heat button').forEach((e) => { least = Math.min(least, contrast(e)); });
      }
      return least;""")
    assert worst >= 4.5
    browser.prefer("light")


def test_on_paper_findings_are_unfolded_and_controls_are_gone(browser: Browser, place: Path):  # noqa: F811
    open_page(browser, place)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = "return [...document.querySelectorAll(arguments[0])].map((e) => getComputedStyle(e).display !== 'none')"
    assert not any(browser.run(shown, ".top, .switches, .filter")) and all(browser.run(shown, ".heat, .finding"))
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert all(browser.run("return [...document.querySelectorAll('details.finding')].map((e) => e.open)"))
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert not any(browser.run("return [...document.querySelectorAll('details.finding')].map((e) => e.open)"))
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


# -- views, formats, the terminal, notebooks ---------------------------------------------------------------------------
def test_cells_of_the_map_are_what_the_table_says(found):
    """Against a group-by of the combinations."""
    views, observed = Views(found), found.observed
    drawn = views.map()
    table = found.table
    for pair in drawn["pairs"]:
        a, b = FACTORS[pair["a"]], FACTORS[pair["b"]]
        grouped = table.groupby([a, b]).training_rows.sum()
        names = [(x, y) for x in drawn["levels"][pair["a"]] for y in drawn["levels"][pair["b"]]]
        assert [cell[0] for cell in pair["cells"]] == [grouped[one] for one in names]
    answers = sum(cell[2] for cell in drawn["pairs"][0]["cells"])
    assert answers == views.answers[0].sum() == sum(one.found.n for one in views.groups()["place"])
    assert len(views.combinations()) == observed.space.size == 36


def test_groups_say_what_the_risk_says(found):
    groups = Views(found).groups()
    risky = {one.level: one for one in groups["place"]}
    assert risky["kiosk"].found.high < risky["home"].found.low
    assert all(abs(one.said - one.found.right) < 0.1 for own in groups.values() for one in own)
    plain = rc.audit(failing({}, 200), FACTORS)
    assert Views(plain).groups() == {}


def test_formats(found, tmp_path):
    paths = write_audit(found, tmp_path, formats=("html", "md"))
    text = paths["md"].read_text()
    assert text.startswith("# Audit of ") and "**Fails on" in text and "| 'kiosk' |" in text
    for head in ("## Findings", "## Since", "## Conditions", "## What to collect next", "## Coverage", "## Risk"):
        assert head in text
    assert {line.count("|") for line in text.split("## Findings\n\n")[1].split("\n\n")[0].splitlines()} == {7}
    write_audit(found, tmp_path, formats=("html", "md"))  # its own files are replaced, others are not
    (tmp_path / "audit.md").write_text("mine")
    with pytest.raises(rc.UserError, match="--force"):
        write_audit(found, tmp_path, formats=("md",))
    assert (tmp_path / "audit.md").read_text() == "mine"
    with pytest.raises(rc.UserError, match="unknown format"):
        write_audit(found, tmp_path, formats=("docx",))


def test_hostile_labels_in_markdown_do_nothing(tmp_path):
    table = failing({KIOSK: 0.7}, 600).replace({"kiosk": "a|b](x)<script>", "pl": "`*_#"})
    text = write_audit(rc.audit(table, FACTORS, outcome="right"), tmp_path, formats=("md",))["md"].read_text()
    assert "<script>" not in text and "a|b" not in text and "a\\|b" in text


@pytest.mark.skipif(not shutil.which("chromium"), reason="no Chromium")
def test_the_pdf_is_the_page_on_paper(found, tmp_path):
    paths = write_audit(found, tmp_path, formats=("pdf",))
    assert paths["pdf"].read_bytes().startswith(b"%PDF")


def test_without_a_browser_pdf_is_refused_before_anything_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECOMBINE_CHROMIUM", "no-such-browser")
    failing({}, 50).to_csv("t.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(["audit", "t.csv", "--format", "pdf"])
    assert ended.value.code == 2 and "no such program" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_open_shows_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr("recombine.cli.following_page.open_browser", lambda address: opened.append(address) or True)
    failing({KIOSK: 0.6}, 400).to_csv("t.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(["audit", "t.csv", "--factors", ",".join(FACTORS), "--outcome", "right", "--open", "--format", "md"])
    assert ended.value.code == 0 and opened == [(tmp_path / "runs" / "audit-t" / "audit.html").as_uri()]
    assert (tmp_path / "runs" / "audit-t" / "audit.md").exists()
    monkeypatch.setattr("recombine.cli.following_page.open_browser", lambda address: False)
    audit_command._show(tmp_path / "page.html")
    assert "no browser" in capsys.readouterr().err


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_terminal_gets_tables_where_there_is_room(found, width):
    text = audit_text(found, width)
    assert "kiosk" in text and "Findings" in text and "Changes" in text
    head = [line for line in text.splitlines() if "what fails" in line and "combinations" in line]
    assert bool(head) == (width >= 64)
    inside = text.split("Findings\n")[1].split("\n\n")[0].splitlines()
    assert width < 64 or max(map(len, inside)) <= width


def test_notebooks(found):
    shown = found._repr_html_()
    assert "what fails" in shown and "kiosk" in shown and "What to collect next" in shown
    table = failing({}, 200).replace({"kiosk": "<script>alert(1)</script>"})
    for thing in (
        rc.audit(table, FACTORS),
        rc.plan(table[table.place != "home"], FACTORS[:2], levels=["place=<b>x</b>"]),
    ):
        assert "<script" not in thing._repr_html_() and "<b>x" not in thing._repr_html_()
    assert "Coverage" not in shown and "combinations were seen" in rc.audit(table, FACTORS)._repr_html_()
    assert "new pair" in rc.plan(table[(table.place != "home") | (table.topic != "bank")], FACTORS)._repr_html_()


def test_what_the_page_was_made_with_is_a_command_that_makes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = failing({KIOSK: 0.6}, 600).assign(age=np.arange(600) % 60, label="a")
    table["said"] = np.where(table.right == 1, "a", "b")
    table.to_csv("t.csv", index=False)
    made = rc.audit(
        "t.csv",
        ["place", "age"],
        label="label",
        prediction="said",
        bin={"age": 3},
        forbid="place=home & place=shop",
        fail_if="accuracy(place=home) < .2",
        id="id",
    )
    command = re.search(r'<pre class="command">(.*?)</pre>', render_audit(made), re.DOTALL)
    assert command is not None
    import html
    import shlex

    words = shlex.split(html.unescape(command[1]))
    assert words[:2] == ["recombine", "audit"]
    with pytest.raises(SystemExit) as ended:
        main([*words[1:], "--json"])
    again = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    same = SimpleNamespace(**{key: value for key, value in again.items() if key not in ("files", "sum")})
    assert same.findings == made.to_json()["findings"] and same.reading == made.to_json()["reading"]
