"""Every kind of chart as a page shows it: at each width of a screen its words lie apart, inside, and large enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import Browser, browser, why_not  # noqa: F401
from fruit_study import Fruit, fruit_conclusion, fruit_result

import recombine as rc
from recombine.charts.figure import Figure
from recombine.report import render

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a browser"),
    pytest.mark.filterwarnings("default"),  # of the driver's, which are not ours
]

NETS = ("a transformer that reads the code first", "a convolutional decoder, of 64 channels", "mlp", "a linear net")
SMALLEST = 9.0  # pixels of letters, those of a notice on a phone
WORDS = """
  const shown = (text) => text.textContent.trim() && getComputedStyle(text).opacity !== '0';
  const boxes = (chart) => [...chart.querySelectorAll('svg text')].filter(shown)
    .map((text) => [text, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
  const size = (text) => { const m = text.getScreenCTM();
    return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(m.a, m.b); };
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
  const found = [];
  document.querySelectorAll('.chart').forEach((chart) => {
    const words = boxes(chart), name = chart.dataset.title, frame = chart.getBoundingClientRect();
    words.forEach(([text, box], i) => {
      if (box.left < frame.left - 2 || box.right > frame.right + 2) found.push(`${name}: cut: ${text.textContent}`);
      if (size(text) < arguments[0]) found.push(`${name}: small: ${text.textContent} (${size(text).toFixed(1)})`);
      words.slice(i + 1).filter(([, other]) => meet(box, other))
        .forEach(([other]) => found.push(`${name}: on each other: ${text.textContent} | ${other.textContent}`));
    });
  });
  return found;
"""


def rows(**axes: Any) -> list[dict[str, Any]]:
    """A row per net and seed, along an axis if one is named."""
    ((name, places),) = axes.items() or (("place", (0,)),)
    return [
        {name: place, "name": net, "series": net, "seed": seed, "value": 0.1 + 0.2 * i + 0.02 * seed + 0.05 * j}
        for i, net in enumerate(NETS)
        for j, place in enumerate(places)
        for seed in range(3)
    ]


CHARTS = {
    "dots": lambda: rc.charts.dots(rows(), value="held-out R²", thresholds_at=(0.7, 0.75, 0.9), intervals=True),
    "curves": lambda: rc.charts.curves(
        rows(n=(8, 16, 24, 32, 48, 64, 96, 128, 256, 512)), x="n", x_title="width", log=True, reference=(0.5,)
    ),
    "by layer": lambda: rc.charts.by_layer(rows(layer=("input", *(f"layer{i}/post" for i in range(8))))),
    "search": lambda: rc.charts.search([row | {"turn": 1} for row in rows(trained_on=(8, 16, 40, 320))], threshold=0.5),
    "history": lambda: rc.charts.history([row | {"step": 1} for row in rows(share=(0, 0.25, 0.5, 0.75, 1))]),
    "heat": lambda: rc.charts.heat(
        [{"x": 2**x, "y": y, "value": x * y / 60} for x in range(11) for y in range(6)],
        x_title="combinations trained on",
        y_title="depth",
        begins=0.5,
    ),
    "scatter": lambda: rc.charts.scatter(rows(x=(0.1, 0.9)), x_title="decodability", value="held-out R²"),
    "bars": lambda: rc.charts.bars([row | {"low": 0.1, "high": 0.9} for row in rows()[::3]], reference=(0.05, 0.1)),
    "log-log": lambda: rc.charts.log_log(  # exponents stand in its legend and are never cut: its names are short
        [row | {"series": row["series"][:5]} for row in rows(size=(8, 16, 32))],
        [{"series": net[:5], "scale": 2.0 + i, "exponent": 1.4, "low": 1.3, "high": 1.5} for i, net in enumerate(NETS)],
    ),
    "needed": lambda: rc.charts.needed([row | {"family": "M"} for row in rows(size=(28, 120, 1000))]),
    "tuning": lambda: rc.charts.tuning(
        [
            {"unit": f"unit {unit} of the third layer", "factor": factor, "place": place, "value": place * unit}
            for unit in range(3)
            for factor in "xy"
            for place in range(6)
        ]
    ),
}


class Drawn(Fruit):
    """A study with one chart of each kind, and claims whose sequences are drawn."""

    def figures(self, table: Any) -> list[Figure]:
        return [Figure(name, "Words.", draw()) for name, draw in CHARTS.items()]


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("drawn") / "report.html"
    place.write_text(render(fruit_conclusion(Drawn(), fruit_result().records)))
    return place


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_words_of_charts_lie_apart_and_inside_and_can_be_read(browser: Browser, page: Path, width: int):  # noqa: F811
    browser.resize(width)
    browser.prefer("light")
    browser.open(page, charts=len(CHARTS))
    browser.run("document.querySelectorAll('details.looks').forEach((one) => { one.open = true; })")
    browser.wait(lambda: browser.run("return [...document.querySelectorAll('.chart')].every((c) => c.clientWidth > 0)"))
    assert browser.run(WORDS, SMALLEST) == []
