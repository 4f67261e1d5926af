"""Charts, plates and splits as SVG and PNG, drawn as the page draws them."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from html import escape
from pathlib import Path

from ..charts.figure import Figure
from ..charts.image_grid import Plate, Tile
from ..charts.split_map import SupportMap
from ..errors import unknown
from ..files import write_whole
from ..labels import visible
from ..supports import Support
from .graph import graph_svg
from .maps import MOST, map_svg
from .page import plain_data
from .pictures import Picture
from .plates import ABREAST, Bar, bar_of, enlarged, flows, in_text, shared_bars, side, spelled, tile_png
from .theme import LIGHT, chart_config

WIDTH = 720
PIXELS, POINTS = 96, 72  # an inch of SVG, and of PDF
FONT = "Liberation Sans, Arial, DejaVu Sans, sans-serif"
MARGIN, GAP, LINE = 18, 12, 15  # pixels
LETTER = 6.2  # width of one at 12 pixels, on average


def figure_png(figure: Figure, path: Path | str, scale: float = 2.0) -> Path:
    """Writes the chart of a figure as a PNG on a light background, and returns its path."""
    import vl_convert

    path = Path(path)
    write_whole(path, vl_convert.svg_to_png(chart_svg(figure, WIDTH, title=True, padding=MARGIN), scale=scale))
    return path


def chart_svg(figure: Figure, width: int, *, title: bool = False, padding: int | None = None) -> str:
    """The chart of a figure as an SVG on a light background, `width` pixels wide where it fills a page."""
    import vl_convert

    spec = plain_data(figure.spec)
    if spec.get("width") == "container":  # there is no page to fill
        spec["width"] = width
    if title:
        spec["title"] = spec.get("title") or figure.title
    config = chart_config(LIGHT) | {"background": LIGHT["paper"]}
    if padding is not None:
        config["padding"] = padding
    return vl_convert.vegalite_to_svg(spec, config=config)


def picture_svg(picture: Picture, width: int) -> str:
    """Any picture of a result as an SVG."""
    source = picture.source
    if isinstance(source, Figure):
        return chart_svg(source, width)
    if isinstance(source, Plate):
        return plate_svg(source)
    return on_paper(graph_svg(source)) if isinstance(source, Support) else map_image(source)


def drawn(svg: str, format: str, scale: float = 2.0) -> bytes:
    """An SVG as the bytes of a file of that format."""
    import vl_convert

    if format == "svg":
        return svg.encode()
    if format == "pdf":
        return vl_convert.svg_to_pdf(resized(svg, POINTS / PIXELS))  # a unit of PDF is a point
    if format == "png":
        return vl_convert.svg_to_png(svg, scale=scale)
    raise unknown("format of a drawing", format, ("pdf", "svg", "png"))


def resized(svg: str, by: float) -> str:
    """The drawing with another size on the outside and the same coordinates inside."""
    head = re.match(r"\s*<svg[^>]*>", svg)
    sizes = [re.search(rf'\s{name}="([\d.]+)"', head[0]) for name in ("width", "height")] if head else [None]
    if not head or not all(sizes):
        raise ValueError("a drawing must say how large it is")
    width, height = (float(found[1]) for found in sizes if found)
    tag = re.sub(r'\s(width|height|viewBox)="[^"]*"', "", head[0])
    found = re.search(r'viewBox="([^"]*)"', head[0])
    box = found[1] if found else f"0 0 {width:g} {height:g}"
    size = f'width="{width * by:g}" height="{height * by:g}" viewBox="{box}"'
    return tag.replace("<svg", f"<svg {size}", 1) + svg[head.end() :]


def map_image(one: SupportMap) -> str:
    """The map of a split as an SVG on a light background; nothing where there is none to draw."""
    if one.support is None or one.support.space.size > MOST:
        return ""
    return on_paper(map_svg(one))


def on_paper(svg: str) -> str:
    """A drawing that names colors of the page, with the light ones written in."""
    # as the whole of an attribute: in a name it is text, whose quotation marks are escaped
    svg = re.sub(r'(?<==")var\(--([a-z0-9-]+)\)(?=")', lambda found: LIGHT[found[1]], svg)
    return svg.replace("<svg ", f'<svg font-family="{FONT}" ', 1)


def plate_png(plate: Plate, path: Path | str, scale: float = 2.0) -> Path:
    """Writes a plate as a PNG on a light background, all frames of a slider one under another; returns its path."""
    import vl_convert

    path = Path(path)
    write_whole(path, vl_convert.svg_to_png(plate_svg(plate), scale=scale))
    return path


def plate_svg(plate: Plate) -> str:
    """The plate as one SVG on a light background."""
    if flows(plate) and len(plate.columns) > ABREAST:
        return plate_svg(in_lines(plate))
    longest = side("large", len(plate.columns), len(plate.rows))
    shared = shared_bars(plate)
    heads = [textwrap.wrap(name, 20) for name, _ in plate.rows]
    left = MARGIN + max((len(line) * LETTER + GAP for head in heads for line in head), default=0)
    tops = [textwrap.wrap(name, max(8, int(longest / LETTER))) for name in plate.columns]
    y = MARGIN + 30 + LINE * max(map(len, tops))
    step = longest + GAP
    drawn = [_text(MARGIN, MARGIN + 12, [plate.title], 16, "ink", weight=600)]
    drawn += [_text(left + i * step, y - 5 - LINE * (len(top) - 1), top, 12, "muted") for i, top in enumerate(tops)]
    for head, (_, tiles) in zip(heads, plate.rows, strict=True):
        drawn.append(_text(MARGIN, y + 12, head, 12, "ink"))
        below = y + LINE * len(head)
        for i, tile in enumerate(tiles):
            if tile is not None:
                note = "" if plate.columns[i] else tile.note
                svg, end = _tile(tile, left + i * step, y, longest, note, bar_of(tile) not in shared)
                drawn.append(svg)
                below = max(below, end)
        y = below + GAP
    if plate.legend or shared:
        drawn.append(_text(MARGIN, y + 12, [plate.legend], 12, "muted"))
        x = MARGIN + (len(plate.legend) * LETTER + 2 * GAP if plate.legend else 0)
        for bar in shared:
            drawn.append(_bar(bar, x, y + 4, 230))
            x += 250
        y += 20
    width, height = max(left + step * len(plate.columns), WIDTH / 2) + MARGIN - GAP, y + MARGIN
    if plate.legend or shared:
        width = max(width, x)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" font-family="{FONT}">',
        '<defs><pattern id="undefined" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<path d="M-1 1l2 -2M0 6l6 -6M5 7l2 -2" stroke="{LIGHT["line"]}" stroke-width="2"/></pattern></defs>',
        f'<rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>', *drawn, "</svg>\n",
    ])  # fmt: skip


def in_lines(plate: Plate) -> Plate:
    """A list of pictures as rows of so many; what named a column becomes the note of its picture."""
    tiles = plate.rows[0][1]
    named = [
        None if tile is None else dataclasses.replace(tile, note=head or tile.note)
        for head, tile in zip(plate.columns, tiles, strict=True)
    ]
    named += [None] * (-len(named) % ABREAST)
    rows = tuple(("", tuple(named[at : at + ABREAST])) for at in range(0, len(named), ABREAST))
    return dataclasses.replace(plate, columns=("",) * ABREAST, rows=rows)


def _tile(
    tile: Tile, x: int | float, y: int | float, longest: int, note: str, with_bar: bool
) -> tuple[str, int | float]:  # fmt: skip
    """A picture with its outlines, note and bar, and where it ends."""
    cells = (tile.shades["rows"], tile.shades["columns"])
    height, width = enlarged(cells, longest)
    place = f'x="{x:g}" y="{y:g}" width="{width}" height="{height}"'
    picture = in_text(tile_png(tile, enlarge=max(1, width // cells[1])))
    drawn = [f'<rect {place} fill="url(#undefined)"/>', f'<image {place} href="{picture}" preserveAspectRatio="none"/>',
             f'<rect {place} fill="none" stroke="{LIGHT["line"]}"/>']  # fmt: skip
    light, dark = ("#ffffff", "#000000") if tile.colors == "heat" else (LIGHT["ink"], LIGHT["paper"])
    for color, stroke, opacity in ((dark, 3.5, 0.5), (light, 1.5, 1)):
        for left, top, wide, high in tile.outlines:
            by = width / cells[1]
            drawn.append(
                f'<rect x="{x + left * by:g}" y="{y + top * by:g}" width="{wide * by:g}" height="{high * by:g}" '
                f'fill="none" stroke="{color}" stroke-width="{stroke}" stroke-opacity="{opacity}"/>'
            )
    end = y + height
    if lines := textwrap.wrap(note, max(8, int(width / LETTER * 1.1))):
        drawn.append(_text(x, end + 14, lines, 11, "muted"))
        end += LINE * len(lines) + 2
    if with_bar:
        drawn.append(_bar(bar_of(tile), x, end + 4, width, digits=2))
        end += LINE + 2
    return "\n".join(drawn), end


def _bar(bar: Bar, x: int | float, y: int | float, width: int | float, digits: int = 3) -> str:
    """The bar between its two ends."""
    low, high = spelled(bar.low, digits), spelled(bar.high, digits)
    first, ramp = len(low) * LETTER + 3, max(6.0, width - (len(low) + len(high)) * LETTER - 8)
    place = f'x="{x + first:g}" y="{y:g}" width="{ramp:g}" height="9"'
    drawn = [_text(x, y + 8, [low], 11, "muted"), _text(x + first + ramp + 4, y + 8, [high], 11, "muted"),
             f'<image {place} href="{in_text(bar.png())}" preserveAspectRatio="none"/>']  # fmt: skip
    if bar.zero is not None:
        at = x + first + ramp * bar.zero
        drawn.append(f'<path d="M{at:g} {y - 2:g}v13" stroke="{LIGHT["ink"]}" stroke-width="1.5"/>')
    return "".join(drawn)


def _text(x: int | float, y: int | float, lines: list[str], size: int, color: str, weight: int = 400) -> str:
    return "".join(
        f'<text x="{x:g}" y="{y + LINE * i:g}" font-size="{size}" fill="{LIGHT[color]}" font-weight="{weight}">'
        f"{escape(visible(line))}</text>"
        for i, line in enumerate(lines)
    )
