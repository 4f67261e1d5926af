"""Pictures of an episode: the map with the path on it, and what was done at each step. SVG, PNG or plain text.

Colors are those of the charts, which stay apart under all common color-vision deficiencies; no color is the only sign
of anything: what is liked is a disc and what is not a square, and a step that the expert would not take is crossed.
"""

from __future__ import annotations

import contextlib
from html import escape
from itertools import groupby

from ..charts.theme import LIGHT
from ..lab.study_result import Result
from ..labels import visible
from ..tasks import Episode, Frame
from ..tasks.gridworlds.episode_task import Cell, Entry

FONT = "Liberation Sans, Arial, DejaVu Sans, sans-serif"
CELL, MARGIN, LINE, COLUMN = 56, 28, 24, 376  # pixels
LINES = 16  # of steps per column
ARROWS = {"up": "↑", "right": "→", "down": "↓", "left": "←"}
GOOD, BAD, PLAIN, PATH = LIGHT["series-1"], LIGHT["series-2"], LIGHT["muted"], LIGHT["ink"]
FILL = {"good": "#dcebf5", "bad": "#fbe6d9", "plain": "#ececea"}
EDGE = {"good": GOOD, "bad": BAD, "plain": PLAIN}


def episodes_of(result: Result) -> dict[str, Episode]:
    """Episodes that records kept, by name; a record of another hand goes without its picture."""
    found = {}
    for record in result.records:
        with contextlib.suppress(ValueError):
            if "episode" in record.facts:
                cell = result.study.label(record.cell.spec).rpartition(", seed")[0]
                found[f"{cell}: a held-out combination"] = Episode.from_json(record.facts["episode"])
    return found


def episode_svg(episode: Episode) -> str:
    """The episode as one SVG on a light background."""
    rows, columns = episode.walls.shape
    runs = _runs(episode.frames)
    parts = max(1, -(-len(runs) // LINES))
    left = MARGIN + columns * CELL + 32
    legend_top = 92
    steps_top = legend_top + LINE * max(1, len(episode.legend)) + 22
    longest = min(len(runs), LINES)
    width = left + parts * COLUMN
    height = max(90 + rows * CELL, steps_top + 18 + longest * LINE) + 20
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}" role="img">',
        f"<title>{escape(visible(episode.title))}</title>",
        f'<rect width="{width}" height="{height}" fill="{LIGHT["paper"]}"/>',
        _text(MARGIN, 38, _short(episode.title, 80), 18, LIGHT["ink"], weight=600),
        f'<g transform="translate({MARGIN} 64)">{_map(episode)}</g>',
        _text(MARGIN, 64 + rows * CELL + 22, "dot: start, frame: end", 12, LIGHT["muted"]),
        _heading(left, legend_top - 16, "what is there"),
    ]
    for number, entry in enumerate(episode.legend):
        y = legend_top + LINE * number + 8
        drawn.append(_sign(left + 11, y - 5, 10, entry.tone))
        if len(entry.label) < 3:  # a longer one stands beside the sign
            drawn.append(_text(left + 11, y - 1, entry.label, 11, EDGE[entry.tone], anchor="middle", weight=600))
        drawn.append(_text(left + 32, y, _short(_words(entry), 40), 13, LIGHT["ink"]))
    drawn.append(_heading(left, steps_top, f"what the {episode.actor} does"))
    for number, (first, last, frame) in enumerate(runs):
        part, line = divmod(number, LINES)
        drawn.append(_step(left + part * COLUMN, steps_top + 26 + line * LINE, first, last, frame))
    return "\n".join([*drawn, "</svg>\n"])


def episode_png(episode: Episode, scale: float = 2.0) -> bytes:
    """The same picture as a PNG."""
    import vl_convert

    return vl_convert.svg_to_png(episode_svg(episode), scale=scale)


def episode_text(episode: Episode, width: int = 80) -> str:
    """The episode in characters: the map with its path, the labels, the steps. No line is wider than `width`."""
    start = episode.frames[0]
    marks = {frame.agent: "·" for frame in episode.frames[1:]}
    marks |= {cell: label[:2] for cell, label in start.objects} | {start.agent: "@"}
    lines = [episode.title, ""]
    for row, walls in enumerate(episode.walls):
        shown = ("██" if wall else marks.get((row, column), "").ljust(2) for column, wall in enumerate(walls))
        lines.append("".join(shown).rstrip())
    lines += ["", "@ start   · path"]
    lines += [f"{entry.label[:2]:2}  {_words(entry)}" for entry in episode.legend]
    lines.append("")
    for first, last, frame in _runs(episode.frames):
        span = f"{first}" if first == last else f"{first}-{last}"
        wrong = "" if frame.agrees else f"  ✗ expert: {frame.expert}"
        note = f"  {frame.note}" if frame.note else ""
        lines.append(f"{span:>5}  {ARROWS.get(frame.action or '', ' ')} {frame.action or 'end'}{note}{wrong}")
    return "\n".join(_short(line, width) for line in lines)


def _words(entry: Entry) -> str:
    return f"{entry.label}: {entry.meaning}" if len(entry.label) > 2 else entry.meaning


def _runs(frames: tuple[Frame, ...]) -> list[tuple[int, int, Frame]]:
    """(first step, last step, frame), steps counted from 1; the same thing done again in the same place is one run."""
    runs = []
    done = (pair for pair in enumerate(frames, start=1) if pair[1].action is not None)
    for _, same in groupby(done, key=lambda pair: pair[1]):
        run = list(same)
        runs.append((run[0][0], run[-1][0], run[0][1]))
    return runs


def _map(episode: Episode) -> str:
    rows, columns = episode.walls.shape
    drawn = [
        f'<rect width="{columns * CELL}" height="{rows * CELL}" rx="10" fill="{LIGHT["panel"]}" '
        f'stroke="{LIGHT["line"]}"/>'
    ]
    for row in range(rows):
        for column in range(columns):
            color = "#c9ccd1" if episode.walls[row, column] else LIGHT["paper"]
            drawn.append(
                f'<rect x="{column * CELL + 1.5}" y="{row * CELL + 1.5}" width="{CELL - 3}" height="{CELL - 3}" rx="5" '
                f'fill="{color}"/>'
            )
    drawn += _path(episode.frames)  # under the objects, so that labels stay legible
    tones = {entry.label: entry.tone for entry in episode.legend}
    for cell, label in episode.frames[0].objects:
        x, y = _middle(cell)
        tone = tones.get(label, "plain")
        drawn.append(_sign(x, y, 19, tone))
        drawn.append(_text(x, y + 5, _short(label, 5), 14 if len(label) < 4 else 12, EDGE[tone], "middle", 600))
    return "\n".join(drawn)


def _path(frames: tuple[Frame, ...]) -> list[str]:
    """From a dot to a framed cell, a little to the right of the way it goes: so the way back is seen beside it."""
    stops = [frames[0]]  # frames that end a move, and what the move was
    taken: list[Frame] = []
    drawn = []
    for before, after in zip(frames, frames[1:], strict=False):
        if after.agent != before.agent:
            taken.append(before)
            stops.append(after)
        elif before.action in ARROWS:  # bumped into a wall: a cross on that side
            (x, y), (down, right) = _middle(before.agent), _DIRECTIONS[before.action]
            drawn.append(_cross(x + 24 * right, y + 24 * down, BAD if not before.agrees else PATH))
    ways = [_DIRECTIONS[frame.action or ""] for frame in taken]
    for number, frame in enumerate(taken):
        way = ways[number]
        begin = _beside(stops[number].agent, ways[number - 1] if number else None, way)
        end = _beside(stops[number + 1].agent, way, ways[number + 1] if number + 1 < len(ways) else None, arriving=True)
        color = PATH if frame.agrees else BAD
        dash = "" if frame.agrees else ' stroke-dasharray="6 5"'
        drawn.append(
            f'<line x1="{begin[0]}" y1="{begin[1]}" x2="{end[0]}" y2="{end[1]}" stroke="{color}" stroke-width="3" '
            f'stroke-linecap="round"{dash}/>'
        )
        x, y = (begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2
        turn = {"up": 0, "right": 90, "down": 180, "left": 270}[frame.action or "up"]
        drawn.append(f'<path d="M-6 5 L0 -6 L6 5 Z" fill="{color}" transform="translate({x} {y}) rotate({turn})"/>')
        if number and ways[number - 1] == (-way[0], -way[1]):  # turned back: close the gap between the two lanes
            other = _beside(stops[number].agent, ways[number - 1], way, arriving=True)
            drawn.append(
                f'<line x1="{other[0]}" y1="{other[1]}" x2="{begin[0]}" y2="{begin[1]}" stroke="{color}" '
                f'stroke-width="3" stroke-linecap="round"{dash}/>'
            )
    row, column = stops[-1].agent
    drawn.append(  # the cell in which it ends
        f'<rect x="{column * CELL + 3}" y="{row * CELL + 3}" width="{CELL - 6}" height="{CELL - 6}" rx="5" fill="none" '
        f'stroke="{PATH}" stroke-width="3"/>'
    )
    x, y = _beside(frames[0].agent, None, ways[0] if ways else None)
    drawn.append(f'<circle cx="{x}" cy="{y}" r="8.5" fill="{PATH}"/>')
    return drawn


_DIRECTIONS = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}


def _beside(
    cell: Cell, came: Cell | None, goes: Cell | None, arriving: bool = False, by: float = 12.0
) -> tuple[float, float]:
    """The middle of a cell, moved to the right of the ways by which the path comes and goes."""
    ways = {way for way in (came, goes) if way is not None}
    if came is not None and goes is not None and came == (-goes[0], -goes[1]):
        ways = {came if arriving else goes}  # turned back: two lanes, and the one that is asked for
    x, y = _middle(cell)
    return x - by * sum(down for down, _ in ways), y + by * sum(right for _, right in ways)


def _middle(cell: Cell) -> tuple[float, float]:
    return (cell[1] + 0.5) * CELL, (cell[0] + 0.5) * CELL


def _sign(x: int | float, y: int | float, r: int | float, tone: str) -> str:
    """A disc, or a square for what is better left alone."""
    style = f'fill="{FILL[tone]}" stroke="{EDGE[tone]}" stroke-width="1.5"'
    if tone == "bad":
        return f'<rect x="{x - r}" y="{y - r}" width="{2 * r}" height="{2 * r}" rx="3" {style}/>'
    return f'<circle cx="{x}" cy="{y}" r="{r}" {style}/>'


def _cross(x: int | float, y: int | float, color: str) -> str:
    return f'<path d="M{x - 4} {y - 4} l8 8 m0 -8 l-8 8" stroke="{color}" stroke-width="2.5" stroke-linecap="round"/>'


def _step(x: int | float, y: int | float, first: int, last: int, frame: Frame) -> str:
    span = f"{first}" if first == last else f"{first}–{last}"
    color = LIGHT["ink"] if frame.agrees else LIGHT["no"]
    said = f"{ARROWS[frame.action]} {frame.action}" if frame.action in ARROWS else f"{frame.action}"
    note = frame.note if frame.agrees else f"{frame.note}; expert: {frame.expert}".removeprefix("; ")
    parts = [
        _text(x + 46, y, span, 12, LIGHT["muted"], "end"),
        _text(x + 58, y, _short(said, 12), 13, color, weight=600),
        _text(x + 134, y, _short(note, 36), 12.5, LIGHT["muted"] if frame.agrees else LIGHT["no"]),
    ]
    if not frame.agrees:
        parts.append(_cross(x + 4, y - 4, LIGHT["no"]))
    return "".join(parts)


def _heading(x: int | float, y: int | float, words: str) -> str:
    return _text(x, y, words, 12, LIGHT["muted"], weight=600)


def _text(
    x: int | float, y: int | float, words: str, size: int | float, color: str, anchor: str = "start", weight: int = 400
) -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="{anchor}" font-weight="{weight}">'
        f"{escape(visible(words))}</text>"
    )


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else words[: max(most - 1, 0)] + "…"
