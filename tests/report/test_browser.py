"""Pages in a real browser: they open from disk, ask for nothing, every control works, no label acts."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, browser, why_not  # noqa: F401
from fruit_study import HOSTILE, Fruit, fruit_conclusion, fruit_result
from shown_studies import Everything, played

from recombine.charts.figure import Figure
from recombine.lab.comparing import compare
from recombine.lab.verdicts import Claim, at_least
from recombine.report import render, render_audit
from recombine.report.comparison import render_comparison
from recombine.report.gallery import render_gallery
from recombine.report.page import asset

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a browser"),
    pytest.mark.filterwarnings("default"),  # of the driver's, which are not ours
]


class Busy(Everything):
    """All there can be on a page, with enough claims to filter."""

    def __init__(self):
        more = [
            Claim(f"c{i}", lambda t: t.value.mean(), at_least(0.1 * i), f"more claim-{i}", "none", "mean", "ours")
            for i in range(8)
        ]
        super().__init__(claims=[*Fruit().claims, *more])

    def figures(self, table: Any) -> list[Figure]:
        (chart,) = super().figures(table)
        shown = [{"field": name, "type": "nominal"} for name in ("name", "value")]
        wide = {"field": "name", "type": "nominal", "legend": {"title": "W" * 40, "titleLimit": 900, "orient": "top"}}
        encoding = chart.spec["encoding"] | {"tooltip": shown, "color": wide}
        rows = [{"name": HOSTILE, "value": 0.8}, {"name": "x", "value": 0.81}]
        fit = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding", "resize": True}}
        spec = chart.spec | fit | {"encoding": encoding, "data": {"values": rows}}
        return [dataclasses.replace(chart, source=spec)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory, audit) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    plain = fruit_result()
    result = played(fruit_conclusion(Busy(), plain.records))
    (folder / "report.html").write_text(render(result))
    (folder / "gallery.html").write_text(render_gallery([result, plain], ["report.html", "report.html"]))
    other = dataclasses.replace(plain, settings=plain.settings | {"options.size": 7})
    (folder / "compare.html").write_text(render_comparison([compare(plain, other)], [HOSTILE]))
    (folder / "audit.html").write_text(render_audit(audit))
    return folder


@pytest.fixture
def page(browser: Browser, pages: Path) -> Browser:  # noqa: F811
    """The report, freshly opened at full width."""
    browser.resize(1200)
    browser.prefer("light")
    browser.open(pages / "report.html", charts=1)
    return browser


@pytest.mark.parametrize("name", ["report", "gallery", "compare", "audit"])
def test_a_page_asks_for_nothing_and_complains_of_nothing(browser: Browser, pages: Path, name: str):  # noqa: F811
    browser.requests(), browser.complaints()  # those before
    browser.open(pages / f"{name}.html", charts={"report": 1}.get(name, 0))
    assert browser.requests() == [(pages / f"{name}.html").as_uri()]
    assert browser.complaints() == []
    acting = (
        "return document.querySelectorAll('img:not([src^=\"data:\"]), [onerror], [onclick], iframe, object').length"
    )
    assert browser.run(acting) == 0  # labels with markup stay words


def test_the_tooltip_tells_the_values_and_markup_in_labels_is_inert(page: Browser):
    from selenium.common.exceptions import NoAlertPresentException

    page.point_at(".chart path[aria-roledescription='point']")
    (readout,) = page.wait(lambda: page.texts("#vg-tooltip-element.visible"))
    assert HOSTILE in readout and "0.8" in readout
    with pytest.raises(NoAlertPresentException):
        _ = page.driver.switch_to.alert
    assert page.run("return document.querySelectorAll('img:not([src^=\"data:\"]), [onerror], [onclick]').length") == 0
    ours = "return [...document.scripts].filter((s) => !s.type).every((s) => !s.textContent.includes('alert('))"
    assert page.run(ours)
    assert HOSTILE in page.run("return document.querySelector('h1').textContent")


def test_the_keyboard_goes_through_a_chart_and_its_values_are_said(page: Browser):
    from selenium.webdriver.common.keys import Keys

    page.run("document.querySelector('.chart').focus()")
    assert page.run("return document.activeElement.getAttribute('aria-label')").endswith("go through its points.")
    page.press(Keys.ARROW_RIGHT)
    said = page.texts(".readout[role=status]")[0]
    assert said == f"1 of 2: name: {HOSTILE}; value: 0.8"
    (shown,) = page.wait(lambda: page.texts("#vg-tooltip-element.visible"))
    assert HOSTILE in shown and len(page.all(".chart .walked")) == 1
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)  # the last one is the last
    assert page.texts(".readout")[0] == "2 of 2: name: x; value: 0.81"
    page.press(Keys.HOME)
    assert page.texts(".readout")[0] == said
    page.press(Keys.TAB)
    assert not page.all(".chart .walked") and not page.texts("#vg-tooltip-element.visible")
    assert page.run("return document.querySelectorAll('.readout *').length") == 0  # text, never markup
    assert page.complaints() == []


def test_a_chart_is_made_smaller_where_its_legend_would_be_cut(browser: Browser, pages: Path):  # noqa: F811
    cut = """return [...document.querySelectorAll('.chart')].flatMap((place) => {
      const frame = place.getBoundingClientRect();
      return [...place.querySelectorAll('svg text')].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.width && (box.left < frame.left - 2 || box.right > frame.right + 2);
      }).map((text) => text.textContent);
    })"""
    browser.resize(360)
    browser.open(pages / "report.html", charts=1)
    assert browser.run("return document.querySelector('.chart').textContent").count("W") >= 40
    browser.wait(lambda: browser.run(cut) == [])
    browser.resize(1200)  # and again where there is room
    browser.wait(lambda: browser.run("return document.querySelector('.chart').clientWidth") > 700)
    browser.wait(lambda: browser.run(cut) == [])


def test_tables_sort_both_ways_and_back(page: Browser):
    cells = "#claims tbody tr td:nth-child(4)"
    before = page.texts(cells)
    page.click("#claims th:nth-child(4) button")
    numbers = [float(t.split()[-1]) for t in page.texts(cells)]
    assert numbers == sorted(numbers) and page.all("#claims th[aria-sort=ascending]")
    page.click("#claims th:nth-child(4) button")
    numbers = [float(t.split()[-1]) for t in page.texts(cells)]
    assert numbers == sorted(numbers, reverse=True) and page.all("#claims th[aria-sort=descending]")
    page.click("#claims th:nth-child(4) button")
    assert page.texts(cells) == before


def test_tables_sort_numbers_in_words_and_what_is_missing_comes_last(browser: Browser, tmp_path: Path):  # noqa: F811
    cells = ["width=16", "8e701606ab", "", "width=128", "−3", "nan", "1,024", "12 %", "0b20"]
    rows = "".join(f"<tr><td>{cell}</td></tr>" for cell in cells)
    made = f"<table data-sorts><thead><tr><th>it</th></tr></thead><tbody>{rows}</tbody></table>"
    (tmp_path / "table.html").write_text(f'<meta charset="utf-8">{made}<script>{asset("tables.js")}</script>')
    browser.open(tmp_path / "table.html")
    browser.click("th button")
    up = ["−3", "12 %", "1,024", "0b20", "8e701606ab", "width=16", "width=128", "", "nan"]
    assert browser.texts("tbody td") == up
    browser.click("th button")
    assert browser.texts("tbody td") == [*reversed(up[:7]), "", "nan"]


def test_on_a_narrow_screen_tables_sort_and_filter_too(page: Browser):
    page.resize(360)
    page.one("#claims .filter input").send_keys("claim-3")
    seen = "return [...document.querySelectorAll('#claims tbody tr')].filter((r) => r.offsetHeight > 0).length"
    assert page.run(seen) == 1
    page.one("#claims .filter input").clear()
    page.click("#claims th:nth-child(4) button")  # it can be seen and pressed
    numbers = [float(t.split()[-1]) for t in page.texts("#claims tbody tr td:nth-child(4)")]
    assert numbers == sorted(numbers)


def test_words_stand_out_from_their_ground(page: Browser):
    """WCAG's 4.5 to 1, in both themes, also of the words in an empty field."""
    contrast = """
      const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
        .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const ground = (e) => { while (e) { const c = getComputedStyle(e).backgroundColor;
        if (c !== 'rgba(0, 0, 0, 0)') return c; e = e.parentElement; } return 'rgb(255, 255, 255)'; };
      const all = [...document.querySelectorAll('main *')].filter((e) => e.offsetParent && [...e.childNodes]
        .some((n) => n.nodeType === 3 && n.textContent.trim())).map((e) => [e, getComputedStyle(e).color]);
      document.querySelectorAll('[placeholder]').forEach((e) =>
        all.push([e, getComputedStyle(e, '::placeholder').color]));
      return all.map(([e, c]) => { const [a, b] = [light(c), light(ground(e))].sort((x, y) => y - x);
        return [(a + 0.05) / (b + 0.05), e.className || e.tagName]; }).filter(([ratio]) => ratio < 4.5);
    """
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        assert page.run(contrast) == [], scheme


def test_tables_filter(page: Browser):
    field = page.one("#claims .filter input")
    field.send_keys("claim-3 more")
    shown = page.run("return [...document.querySelectorAll('#claims tbody tr')].filter((r) => !r.hidden).length")
    assert shown == 1 and page.texts("#claims .filter output") == ["1 of 11 rows"]
    field.clear()
    field.send_keys("<img")  # what is typed is looked for and nothing else
    assert page.texts("#claims .filter output") == ["2 of 11 rows"]


def test_the_theme_turns_and_charts_follow(page: Browser):
    ink = "return getComputedStyle(document.body).color"
    light = page.run(ink)
    assert page.texts("[data-theme-switch]") == ["Theme: auto"]
    page.click("[data-theme-switch]")
    assert page.run(ink) == light
    page.click("[data-theme-switch]")
    assert page.run("return document.documentElement.dataset.theme") == "dark" and page.run(ink) != light
    label = "return getComputedStyle(document.querySelector('.chart .role-axis-label text')).fill"
    dark_label = page.run(label)
    page.click("[data-theme-switch]")
    assert page.texts("[data-theme-switch]") == ["Theme: auto"] and page.run(label) != dark_label
    page.prefer("dark")
    assert page.run(ink) != light  # auto is as the system has it


def test_charts_can_be_saved(page: Browser):
    page.click("[data-saves='chart-0'] [data-save='svg']")
    svg = page.downloaded("fruit-laptop-chart-0.svg").decode()
    assert svg.startswith("<svg") and "var(--" not in svg
    page.click("[data-saves='chart-0'] [data-save='png']")
    png = page.downloaded("fruit-laptop-chart-0.png")
    assert png.startswith(b"\x89PNG") and int.from_bytes(png[16:20], "big") > 100
    page.click("[data-saves='chart-0'] [data-save='csv']")
    lines = page.downloaded("fruit-laptop-chart-0.csv").decode().split("\r\n")
    assert lines[0] == "name,value" and lines[2] == "x,0.81" and lines[1].endswith('",0.8')
    assert page.complaints() == []


def test_the_slider_shows_one_frame_at_a_time(page: Browser):
    from selenium.webdriver.common.keys import Keys

    shown = "return [...document.querySelectorAll('.sliding tr[data-frame]')].map((r) => r.offsetParent !== null)"
    assert page.run(shown) == [True, False, False]
    page.one("[data-slider] input").send_keys(Keys.ARROW_RIGHT)
    assert page.run(shown) == [False, True, False]
    assert page.one("[data-slider] input").get_attribute("aria-valuetext") == f"frame 1 {HOSTILE}"


def test_the_map_shows_a_combination_and_its_neighbors(page: Browser):
    from selenium.webdriver.common.keys import Keys

    assert page.run("return [...document.querySelectorAll('[data-split]')].map((s) => !s.hidden)") == [
        True,
        False,
        False,
    ]
    data = json.loads(page.run("return document.getElementById('maps-data').textContent"))
    space, one = data["spaces"][0], data["maps"][0]
    held_out = [rank for rank, side in enumerate(one["sides"]) if side == "h"]
    worst = min(held_out, key=lambda rank: one["scores"][rank])
    assert page.one("[data-look='0'] select").get_attribute("value") == str(worst)
    best = max(held_out, key=lambda rank: one["scores"][rank])
    x, y = (place + space["cell"] / 2 for place in space["places"][best])
    page.run(  # a click on the cell
        "const s = document.querySelector('[data-map=\"0\"] svg'); const b = s.getBoundingClientRect();"
        "s.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: b.left + arguments[0],"
        "clientY: b.top + arguments[1]}))",
        x,
        y,
    )
    readout = page.texts("[data-look='0'] .found")[0]
    assert "held out" in readout and f"{one['scores'][best]:.3f}".replace("-", "−") in readout
    # the nearest trained ones differ in as few factors as any does
    parts = [set(p) for p in space["parts"]]
    apart = {r: 3 - len(parts[r] & parts[best]) for r, side in enumerate(one["sides"]) if side == "t"}
    near = sum(d == min(apart.values()) for d in apart.values())
    assert len(page.all("[data-map='0'] rect.near")) == near and len(page.all("[data-map='0'] rect.chosen")) == 1
    page.one("[data-look='0'] select").send_keys(Keys.ARROW_UP)  # and by the keyboard
    assert page.texts("[data-look='0'] .found")[0] != readout
    page.one(".choice input:checked").send_keys(Keys.ARROW_RIGHT)
    assert page.run("return [...document.querySelectorAll('[data-split]')].map((s) => !s.hidden)") == [
        False,
        True,
        False,
    ]
    assert page.complaints() == []


def test_the_nearest_of_a_set_share_its_parts(page: Browser):
    """A set of one is as far from another set of one as from a pair that has it: the pair is shown."""
    data = json.loads(page.run("return document.getElementById('maps-data').textContent"))
    space, one = data["spaces"][1], data["maps"][1]
    alone = next(rank for rank, side in enumerate(one["sides"]) if side == "h" and len(space["parts"][rank]) == 1)
    pairs = [
        rank
        for rank, parts in enumerate(space["parts"])
        if one["sides"][rank] == "t" and len(parts) == 2 and space["parts"][alone][0] in parts
    ]
    page.one(".choice input:checked").send_keys("\ue014")  # to the right: the second split
    page.run(
        "const s = document.querySelector('[data-look=\"1\"] select'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('change'))",
        alone,
    )
    readout = page.texts("[data-look='1'] .found")[0]
    assert f"The {len(pairs)} nearest trained ones, 1 part away" in readout and len(pairs) > 1
    assert len(page.all("[data-map='1'] rect.near")) == len(pairs)
    name = space["names"][space["parts"][alone][0]]
    assert all(name in shown for shown in page.texts("[data-look='1'] .found li"))


def test_the_keyboard_reaches_every_control(page: Browser):
    from selenium.webdriver.common.keys import Keys

    page.run("document.body.focus()")
    reached: set[str] = set()
    controls = {"theme", "sort", "svg", "png", "csv", "search", "range", "radio", "select-one", "SUMMARY", "chart"}
    for _ in range(120):
        page.press(Keys.TAB)
        reached.add(
            page.run(
                "const e = document.activeElement; return e.dataset.save || (e.dataset.chart ? 'chart' : '')"
                " || ('themeSwitch' in e.dataset ? 'theme' : '')"
                " || (e.closest('th') ? 'sort' : '') || e.type || e.tagName"
            )
        )
        if controls <= reached:
            return
    raise AssertionError(f"only {sorted(reached)} were reached")


def test_what_is_folded_opens_by_keyboard_and_links_lead_to_sections(page: Browser):
    from selenium.webdriver.common.keys import Keys

    page.run("document.querySelector('.tools summary').focus()")
    page.press(Keys.ENTER)
    assert page.run("return document.querySelector('.tools details').open")
    places = page.run("return [...document.querySelectorAll('nav.jump a')].map((a) => a.getAttribute('href'))")
    assert {"#claims", "#made"} <= set(places)
    assert page.run("return arguments[0].every((place) => document.querySelector(place))", places)


def test_every_picture_and_field_has_a_name(page: Browser):
    nameless = page.run("""
      const named = (e) => e.getAttribute('aria-label') || e.getAttribute('alt') || e.closest('label')
        || e.textContent.trim() || e.closest('[aria-hidden=true]')
        || (e.id && document.querySelector(`label[for="${e.id}"]`));
      return [...document.querySelectorAll('img, [role=img], input, select, button, .chart svg')]
        .filter((e) => !named(e) && !e.closest('.ramp')).map((e) => e.outerHTML.slice(0, 120));
    """)
    assert nameless == []
    levels = page.run("return [...document.querySelectorAll('h1,h2,h3')].map((h) => Number(h.tagName[1]))")
    assert levels.count(1) == 1 and levels[0] == 1


@pytest.mark.parametrize("width", [360, 768, 1400])
@pytest.mark.parametrize("name", ["report", "gallery", "compare", "audit"])
def test_nothing_is_wider_than_the_screen(browser: Browser, pages: Path, width: int, name: str):  # noqa: F811
    browser.resize(width)
    browser.open(pages / f"{name}.html", charts={"report": 1}.get(name, 0))
    widths = browser.run("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths[0] <= widths[1]


def test_on_paper_everything_is_there_and_light(page: Browser):
    page.prefer("dark")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    shown = "return [...document.querySelectorAll(arguments[0])].map((e) => getComputedStyle(e).display !== 'none')"
    assert all(page.run(shown, "[data-split], tr[data-frame]"))  # all splits, all frames
    assert not any(page.run(shown, ".tools, .theme, .filter"))
    assert page.printed().startswith(b"%PDF")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_gallery_picks_verdicts(browser: Browser, pages: Path):  # noqa: F811
    browser.resize(1200)
    browser.open(pages / "gallery.html")
    rows = "return [...document.querySelectorAll('#all-claims tbody tr')].filter((r) => !r.hidden).length"
    every: Any = browser.run(rows)
    browser.click("[data-words='refuted']")
    picked = browser.run(rows)
    assert 0 < picked < every and browser.one("[data-words='refuted']").get_attribute("aria-pressed") == "true"
    browser.click("[data-words='refuted']")
    assert browser.run(rows) == every
    assert browser.complaints() == []
