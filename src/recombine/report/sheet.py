"""The sheet of a study: question, answer, claims and charts on one page, as one drawing, for PDF and PNG."""

from __future__ import annotations

import re
import textwrap
from html import escape

from ..charts.image_grid import Plate
from ..lab.run import Result
from ..lab.verdicts import counts
from ..labels import visible
from . import origin
from .episodes import episode_svg, episodes_of
from .images import FONT, picture_svg, resized
from .page import interval_text, number
from .pictures import Picture, pictures
from .strip import Strip, strip
from .theme import LIGHT

WIDTH, MARGIN = 800, 40  # pixels
ROOM = WIDTH - 2 * MARGIN
COLORS = {"supported": "yes", "refuted": "no", "undecided": "open", "not asked": "muted"}
MARKS = {"supported": "✓", "refuted": "✗", "undecided": "?", "not asked": "–"}
LETTER = 0.53  # width of one as a share of its size, on average


class Sheet:
    """A page that grows downward; each part is put below the last one."""

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.y = float(MARGIN)

    def text(
        self, words: str, size: int, color: str = "ink", *, x: int = 0, width: int | float = ROOM, weight: int = 400,
        after: int = 6,
    ) -> float:  # fmt: skip
        """A paragraph; returns where it ends."""
        lines = textwrap.wrap(visible(words), max(8, int(width / (size * LETTER)))) or [""]
        for line in lines:
            self.y += size * 1.3
            self.drawn.append(
                f'<text x="{MARGIN + x:g}" y="{self.y - size * 0.3:.1f}" font-size="{size}" fill="{LIGHT[color]}" '
                f'font-weight="{weight}">{escape(line)}</text>'
            )
        self.y += after
        return self.y

    def rule(self) -> None:
        self.drawn.append(f'<path d="M{MARGIN} {self.y:.1f}h{ROOM}" stroke="{LIGHT["line"]}"/>')
        self.y += 6

    def picture(self, svg: str) -> None:
        """A drawing of its own, made smaller if it is too wide.

        It is put in as it is, and what it names gets names of its own: of a drawing that is an image, PDF loses the
        pictures.
        """
        found = re.search(r'<svg[^>]*?width="([\d.]+)"[^>]*?height="([\d.]+)"', svg)
        width, height = (float(found[1]), float(found[2])) if found else (ROOM, ROOM)
        by = min(1.0, ROOM / width)
        own = f"part-{len(self.drawn)}-"
        inner = re.sub(r'((?: id="|="url\(#|href="#))', rf"\g<1>{own}", resized(svg, by))
        self.drawn.append(inner.strip().replace("<svg", f'<svg x="{MARGIN}" y="{self.y:.1f}"', 1))
        self.y += height * by + 10

    def svg(self) -> str:
        height = self.y + MARGIN
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
            f'viewBox="0 0 {WIDTH} {height:.0f}" font-family="{FONT}">',
            f'<rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>', *self.drawn, "</svg>\n",
        ])  # fmt: skip


def sheet_svg(result: Result, whole: bool = True) -> str:
    """The sheet; with `whole` all charts, plates, maps and episodes, else the one chart that shows the result."""
    sheet = Sheet()
    study, extent = result.study, origin.extent(result)
    outcomes = [verdict.outcome for verdict in result.verdicts]
    sheet.text(f"Recombine · study {study.id} · {result.scale} scale", 11, "muted", after=8)
    sheet.text(study.title, 26, weight=600, after=4)
    sheet.text(study.question, 14, "muted", after=8)
    if answer := result.headline:
        sheet.text(answer, 17, after=8)
    seeds = f"{extent.seeds} seed{'' if extent.seeds == 1 else 's'}"
    tally = counts(outcomes)
    told = ", ".join(f"{count} {name}" for name, count in tally if count)
    sheet.text(f"{told + '; ' if told else ''}{seeds}, {extent.done} of {extent.total} cells", 12, "muted", after=14)
    if not extent.complete:
        sheet.text(f"This study is incomplete: {extent.done} of {extent.total} cells are here.", 12, after=14)
    found = pictures(result)
    for picture in found[:1]:
        _picture(sheet, picture)
    _claims(sheet, result)
    if whole:
        _questions(sheet, result)
        for picture in found[1:]:
            _picture(sheet, picture)
        for one in study.support_maps(result.records):
            if one.support is None:
                sheet.text(f"{one.name} is not shown: {one.missing}.", 12, "muted")
        for name, episode in episodes_of(result).items():
            sheet.text(name, 13, weight=600)
            sheet.picture(episode_svg(episode))
        for failure in result.failures:
            sheet.text(f"Failed: {study.label(failure.cell.spec)}: {failure.error}", 12, "no")
    sheet.rule()
    sheet.text(origin.command(result), 10, "muted", after=2)
    sheet.text(f"content of all readings {origin.content(result.records) or '–'}", 10, "muted", after=0)
    return sheet.svg()


def _picture(sheet: Sheet, picture: Picture) -> None:
    """A picture between its title and its caption; a plate brings its title along."""
    if not isinstance(picture.source, Plate):
        sheet.text(picture.title, 13, weight=600)
    sheet.picture(picture_svg(picture, ROOM))
    sheet.text(picture.caption, 11, "muted", width=ROOM * 0.95, after=18)


def _questions(sheet: Sheet, result: Result) -> None:
    """A line a question that was measured: words, value and interval."""
    measured = [(question, interval) for question, interval, _ in result.measurements if interval.seeds]
    if not measured:
        return
    sheet.text("Measured without a threshold", 13, weight=600)
    for question, interval in measured:
        top = sheet.y
        end = sheet.text(question.text, 11, width=500)
        sheet.y = top
        sheet.text(number(interval.mean), 11, x=520, width=70, weight=600, after=0)
        sheet.y = top
        sheet.y = max(end, sheet.text(interval_text(interval), 10, "muted", x=590, width=140))
    sheet.y += 14


def _claims(sheet: Sheet, result: Result) -> None:
    """A line a claim: verdict, words, value with its interval, seeds and threshold."""
    sources = {verdict.claim.source for verdict in result.verdicts}
    if len(sources) == 1:  # once is enough
        (one,) = sources
        sheet.text(f"{'Claims are' if one.startswith('ours') else 'Claims after'} {one}", 10, "muted")
    sheet.rule()
    for verdict in result.verdicts:
        claim, top = verdict.claim, sheet.y
        color = COLORS[verdict.outcome]
        # the mark may come from another font than the word
        sheet.text(MARKS[verdict.outcome], 12, color, width=16, weight=600, after=0)
        sheet.y = top
        sheet.text(verdict.outcome, 12, color, x=16, width=100, weight=600, after=0)
        sheet.y = top
        end = sheet.text(claim.text, 12, x=115, width=290)
        sheet.y = top
        value = number(verdict.interval.mean) if verdict.interval.seeds else "–"
        spread = interval_text(verdict.interval)
        sheet.text(value, 12, x=412, width=100, weight=600, after=0)
        end = max(end, sheet.text(spread, 10, "muted", x=412, width=100))
        if found := strip(verdict.values, verdict.interval, claim.threshold, claim.side):
            sheet.drawn.append(_strip(found, MARGIN + 504, top))
        sheet.y = top
        end = max(end, sheet.text(f"{claim.side} {claim.threshold:g}", 10, "muted", x=660, width=90))
        for words in filter(None, (claim.source if len(sources) > 1 else "", verdict.why, verdict.would_change)):
            sheet.y = end
            end = sheet.text(words, 10, "muted", x=115, width=440, after=2)
        sheet.y = end + 2
        sheet.rule()
    if result.study.history and result.verdicts:
        sheet.text(f"Changed after a run was seen: {result.study.history}", 10, "muted")
    sheet.y += 10


def _strip(s: Strip, x: int, y: float) -> str:
    """The small picture of a claim, as the page draws it."""
    middle = y + 11
    parts = []
    if s.shade:
        parts.append(
            f'<rect x="{x + s.shade[0]:g}" y="{y:g}" width="{s.shade[1]:g}" height="22" fill="{LIGHT["series-1"]}" '
            'fill-opacity=".09"/>'
        )
    parts.append(f'<path d="M{x:g} {middle:g}h{s.width:g}" stroke="{LIGHT["line"]}"/>')
    if s.threshold is not None:
        parts.append(
            f'<path d="M{x + s.threshold:g} {y:g}v22" stroke="{LIGHT["muted"]}" stroke-dasharray="3 2" fill="none"/>'
        )
    if s.bar:
        parts.append(f'<path d="M{x + s.bar[0]:g} {middle:g}H{x + s.bar[1]:g}" stroke="{LIGHT["muted"]}"/>')
    if s.mean is not None:
        parts.append(f'<path d="M{x + s.mean:g} {middle - 6:g}v12" stroke="{LIGHT["ink"]}" stroke-width="2"/>')
    parts += [
        f'<circle cx="{x + place:g}" cy="{middle:g}" r="3.4" fill="{LIGHT["series-1"]}" fill-opacity=".8"/>'
        for place, _, _ in s.dots
    ]
    return "".join(parts)
