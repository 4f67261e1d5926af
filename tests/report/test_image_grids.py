"""Image grids: what a picture shows is what was packed, and no label on it is more than a label."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import itertools
import re
import struct
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from fruit_study import HOSTILE, Fruit, fruit_result
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from report_page import Page, squeezed
from shown_studies import Pictured, bump

import recombine as rc
from recombine.charts.image_grid import COLORS, Image, ImageGrid
from recombine.charts.image_pixels import ROOM, bar_of, color_map, encode, enlarged, image_png, shared_bars, side
from recombine.charts.saving import sized_svg
from recombine.errors import UserError
from recombine.lab.study_result import Result
from recombine.packed_images import gray_levels, pack
from recombine.report import render
from recombine.report.image_grid_page import page_data


def decoded(png: bytes) -> np.ndarray:
    """RGBA of a palette PNG, by the letter of its specification; every checksum is checked."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        data, (check,) = png[at + 8 : at + 8 + length], struct.unpack(">I", png[at + 8 + length : at + 12 + length])
        assert check == zlib.crc32(kind + data)
        chunks[kind], at = data, at + 12 + length
    assert list(chunks) == [kind for kind in (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND") if kind in chunks]
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 3, 0, 0, 0]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()  # no filter
    palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    alpha = np.full((len(palette), 1), 255, np.uint8)
    clear = np.frombuffer(chunks.get(b"tRNS", b""), np.uint8)
    alpha[: len(clear), 0] = clear
    return np.hstack([palette, alpha])[lines[:, 1:]]


def lightness(rgb: np.ndarray) -> np.ndarray:
    """L* of sRGB colors (CIE 1976)."""
    c = rgb / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126729, 0.7151522, 0.0721750]
    return np.where(y > 216 / 24389, 116 * np.cbrt(y) - 16, 24389 / 27 * y)


# -- pictures ---------------------------------------------------------------------------------------------------------
@given(
    hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12)),
    st.sampled_from(COLORS),
    st.floats(-5, 5),
    st.floats(0, 5),
)
def test_a_png_decodes_back_to_the_gray_levels(levels: np.ndarray, colors: str, low: float, span: float):
    seen = decoded(encode(levels, colors, low, low + span))
    assert seen.shape == (*levels.shape, 4)
    assert ((seen[..., 3] == 0) == (levels == 255)).all()
    there = levels < 255
    assert (seen[there][:, :3] == color_map(colors, low, low + span)[levels[there]]).all()


@pytest.mark.parametrize("colors", COLORS)
def test_shades_can_be_told_apart(colors: str):
    found = color_map(colors, -1.0, 1.0).astype(int)
    apart = np.abs(found[:, None] - found[None]).sum(-1)
    shade = np.arange(255)
    assert apart[np.abs(shade[:, None] - shade) > 1].min() > 0  # at most neighbors share a color


def test_a_tile_is_its_array():
    values = bump()
    values[3, 5] = np.nan
    seen = decoded(image_png(Image(pack(values))))
    gray = 1 - (seen[..., 0] - 0.0) / 255  # ink: white is none
    assert seen[3, 5, 3] == 0 and np.nanmax(np.abs(gray - values)) < 1 / 200
    assert np.unravel_index(np.where(seen[..., 3] == 255, gray, -1).argmax(), gray.shape) == (15, 9)  # row = y
    assert (decoded(image_png(Image(pack(values)), enlarge=3))[1::3, 1::3] == seen).all()


def test_pictures_are_small():
    noise = np.random.default_rng(0).normal(size=(28, 28))
    assert len(image_png(Image(pack(bump())))) < 450
    assert len(image_png(Image(pack(noise), colors="heat"))) < 1750  # 784 cells, 255 colors, and little else


def test_heat_is_evenly_light():
    light = lightness(color_map("heat", 0.0, 1.0))
    assert light[0] < 16 and light[-1] > 90
    assert np.abs(light - np.linspace(light[0], light[-1], 255)).max() < 2.5


def test_signed_colors_are_balanced_around_zero():
    light = lightness(color_map("signed", -2.0, 2.0))
    assert light.argmax() == 127 and np.abs(light - light[::-1]).max() < 1.5
    assert (np.diff(light[:127]) > -0.5).all()
    blue, red = color_map("signed", -1.0, 3.0)[0].astype(int), color_map("signed", -1.0, 3.0)[254].astype(int)
    assert blue[2] > blue[0] and red[0] > red[2]
    # the middle is zero, not the middle of the range, and both sides share a scale
    assert lightness(color_map("signed", -1.0, 3.0)).argmax() == pytest.approx(254 / 4, abs=1)
    assert np.abs(color_map("signed", -1.0, 3.0)[0] - color_map("signed", -3.0, 3.0)[85].astype(int)).max() <= 3
    assert (color_map("signed", 0.0, 0.0) == color_map("signed", 0.0, 0.0)[0]).all()


# -- layout -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("cells", [(28, 28), (7, 7), (16, 40), (1, 3)])
@pytest.mark.parametrize("longest", [56, 84, 250])
def test_cells_are_of_one_size(cells: tuple[int, int], longest: int):
    height, width = enlarged(cells, longest)
    assert width % cells[1] == 0 and width // cells[1] == height // cells[0] and max(height, width) <= longest


def test_large_pictures_are_made_to_fit():
    assert enlarged((1024, 512), 100) == (100, 50)
    assert enlarged((1, 1024), 100) == (1, 100)


def test_image_grids_fit_their_page():
    for page, columns, rows in itertools.product(ROOM, range(1, 20), (1, 3, 12)):
        room, gap, least, most = ROOM[page]
        wide = side(page, columns, rows)
        assert least <= wide <= most and (wide == least or columns * (wide + gap) <= room)
    assert side("large", 2, 12) < side("large", 2, 1)  # many rows: smaller pictures


def test_one_bar_where_ends_agree_and_one_each_where_not():
    def grid(*images: Image) -> ImageGrid:
        return ImageGrid("t", "c", tuple("abc"[: len(images)]), (("r", images),))

    same = grid(Image(pack(bump(), 0, 1)), Image(pack(-bump(), -1, 2), colors="signed"), Image(pack(bump(), 0, 1)))
    assert [(bar.colors, bar.low, bar.high) for bar in shared_bars(same)] == [("ink", 0, 1), ("signed", -1, 2)]
    assert all(image["bar"] is None for image in page_data(same)["rows"][0]["images"])
    assert [bar["zero"] for bar in page_data(same)["bars"]] == [None, pytest.approx(100 / 3, abs=0.01)]
    other = grid(Image(pack(bump(), 0, 1), colors="heat"), Image(pack(bump(), 0, 2), colors="heat"))
    assert not shared_bars(other)
    assert [image["bar"]["high"] for image in page_data(other)["rows"][0]["images"]] == ["1", "2"]
    tiny = bar_of(Image(pack([[1e-30, 1.0004]])))  # what cannot be seen is not told apart
    assert (tiny.low, tiny.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Image(pack(bump()), colors="rainbow"), "unknown colors of an image 'rainbow'"),
        (lambda: Image(pack(bump()), outlines=((0, 0, float("nan"), 1),)), "an outline is"),
        (
            lambda: ImageGrid("t", "c", ("a", "b"), (("r", (None,)),)),
            "row 'r' of 't' has 1 images for 2 columns",
        ),
        (lambda: ImageGrid("t", "c", (), ()), "has no pictures"),
    ],
)
def test_misshapen_grids_are_refused(make: Any, said: str):
    with pytest.raises(UserError, match=said):
        make()


# -- the page ---------------------------------------------------------------------------------------------------------


class OnlyPictures(Pictured):
    """The same, without charts and sliders."""

    def figures(self, table: Any) -> list[Any]:
        return []

    def image_grids(self, records: Any) -> list[ImageGrid]:
        return super().image_grids(records)[:1]


@pytest.fixture(scope="module")
def source() -> str:
    return render(dataclasses.replace(fruit_result(), study=Pictured()))


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


def test_labels_are_text(source: str, page: Page):
    for word in ("grid", "below", "first", "second", "frame 2", "note", "legend", "layer"):
        assert squeezed(f"{word} {HOSTILE}") in page.text, word
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "49" not in page.text.split()
    # the charts' library, five scripts of ours, three specifications (two are of claims), a configuration
    assert len(page.scripts) == 10
    titles = [a["title"] or "" for _, a in page.elements if a.get("class") in ("image heat", "image signed")]
    assert titles.count(f"note {HOSTILE}; from 0 to 1") == 6 and titles.count("from −1 to 0") == 2


def test_pictures_are_inside_the_page(source: str, page: Page):
    images = [a for tag, a in page.elements if tag == "img"]
    assert all((a["src"] or "").startswith("data:image/png;base64,") for a in images)
    sized = [a for a in images if "width" in a]
    assert len(sized) == 8 and len(images) == 8 + 4  # with two bars per grid
    shown = decoded(base64.b64decode((sized[0]["src"] or "").partition(",")[2]))
    assert (shown[..., :3] == color_map("heat", bump().min(), 1.0)[gray_levels(pack(bump()))]).all()
    assert sized[0]["alt"] == f"note {HOSTILE}; from 0 to 1"
    assert (sized[0]["width"], sized[0]["height"]) == ("28", "28")
    assert "img-src data: blob:" in html_policy(page) and "url(" not in source.partition("</style>")[0]
    assert source.count('viewBox="0 0 28 28"') == 6
    assert source.count('x="6" y="6" width="17" height="17"') == 12  # a line and its halo


def html_policy(page: Page) -> str:
    return next(a["content"] or "" for tag, a in page.elements if tag == "meta" and "http-equiv" in a)


def test_the_slider(page: Page):
    slides = [a for tag, a in page.elements if tag == "input"]
    assert len(slides) == 1 and slides[0]["type"] == "range"
    assert (slides[0]["min"], slides[0]["max"], slides[0]["step"], slides[0]["value"]) == ("0", "2", "1", "0")
    assert slides[0]["aria-valuetext"] == f"frame 0 {HOSTILE}"
    labels = [a["for"] for tag, a in page.elements if tag in ("label", "output")]
    assert labels == [slides[0]["id"]] * 2
    # nothing is hidden but the slider itself, until a script brings it to life
    assert [a.get("class") for tag, a in page.elements if "hidden" in a and tag not in ("button", "span")] == ["slide"]
    rows = [a["data-frame"] for tag, a in page.elements if "data-frame" in a]
    assert rows == [f"frame {i} {HOSTILE}" for i in range(3)] * 2


def test_notes_are_seen_where_columns_have_no_head(page: Page):
    assert sum(tag == "p" and a.get("class") == "note" for tag, a in page.elements) == 3  # of the first grid only
    assert sum((a.get("alt") or "").startswith("note") for _, a in page.elements) == 6


def test_one_nameless_row_is_a_list():
    images = tuple(Image(pack(bump(), 0, 1), "of a net", "heat") for _ in range(11))
    grid = ImageGrid("t", "c", tuple(f"net {i}" for i in range(11)), (("", (*images[:-1], None)),))
    data = page_data(grid)
    assert not data["hatched"]
    empty = dataclasses.replace(grid, rows=(("", (Image(pack(np.full((2, 2), np.nan), 0, 1)), *images[1:])),))
    assert page_data(empty)["hatched"]  # and the key says what it means
    assert data["flowing"] and not page_data(dataclasses.replace(grid, rows=(("a", images),)))["flowing"]
    assert data["rows"][0]["images"][0]["sizes"]["large"] == enlarged((28, 28), side("large", 5, 3))

    class Listed(OnlyPictures):
        """A list of pictures."""

        def image_grids(self, records: Any) -> list[ImageGrid]:
            return [grid]

    page = Page(render(dataclasses.replace(fruit_result(), study=Listed())))
    assert sum(tag == "li" for tag, _ in page.elements) == 10 and "net 9" in page.text and "net 10" not in page.text
    svg = ElementTree.fromstring(sized_svg(rc.charts.images(grid), 40, "light"))
    tops = {
        (element.get("transform") or "").partition(",")[2] for element in svg.iter("{http://www.w3.org/2000/svg}image")
    }
    assert len(tops) == 2 + 1  # lines of five, and a bar
    assert [e.text for e in svg.iter("{http://www.w3.org/2000/svg}text") if "net" in (e.text or "")][-1] == "net 9"


def test_the_script_of_sliders_may_run(page: Page):
    script = next(text for attributes, text in page.scripts if "data-slider" in text and "type" not in attributes)
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in html_policy(page)
    assert "innerHTML" not in script and "eval" not in script


def test_image_grids_follow_the_first_chart(source: str):
    chart, grid, claims = (source.index(mark) for mark in ('data-chart="chart-0"', 'class="image-grid"', 'id="claims"'))
    assert chart < grid < claims


def test_pictures_alone_need_no_script_of_their_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Result, "claim_figures", {})  # a claim with seeds has a chart
    source = render(dataclasses.replace(fruit_result(), study=OnlyPictures()))
    page = Page(source)
    assert not page.islands and "vegaEmbed" not in source and "data-slider" not in source
    assert len(source) < 60_000 and sum(tag == "img" for tag, _ in page.elements) == 6


def test_no_pictures_no_style_for_them():
    assert ".picture img" not in render(fruit_result())
    assert 'class="image-grid"' not in render(dataclasses.replace(fruit_result([]), study=Pictured()))


def test_paper_and_narrow_screens(source: str):
    style = source.partition("<style>")[2].partition("</style>")[0]
    assert re.search(r"@media screen \{\s*\.sliding [^}]*tr\.off \{ display: none; \}", style)  # on paper: all frames
    assert ".scroll { overflow-x: auto; }" in style
    assert source.count('<div class="scroll" tabindex="0"') == 4  # two grids, the numbers of a chart, the cells


def test_a_malformed_picture_is_named():
    class Damaged(Fruit):
        """A record holds what is no picture."""

        def image_grids(self, records: Any) -> list[ImageGrid]:
            return [ImageGrid("t", "c", ("a",), (("r", (Image(pack(bump()) | {"rows": 10**6}),)),))]

    with pytest.raises(UserError, match="rows=1000000 is too large"):
        render(dataclasses.replace(fruit_result(), study=Damaged()))


# -- images -----------------------------------------------------------------------------------------------------------
def test_a_plate_as_an_image(tmp_path: Path):
    grid = Pictured().image_grids([])[0]
    svg = ElementTree.fromstring(sized_svg(rc.charts.images(grid), 40, "light"))
    texts = [element.text or "" for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert f"legend {HOSTILE}" in texts
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}image"))) == 4 + 2
    path = rc.charts.save(rc.charts.images(grid), tmp_path / "deep" / "grid.png", "text")
    assert path.read_bytes().startswith(b"\x89PNG")
