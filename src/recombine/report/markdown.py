"""The report as Markdown, for a wiki or a pull request: words and tables in one file, charts as images beside it."""

from __future__ import annotations

import re
import urllib.parse

from ..lab.run import Result
from ..labels import visible
from . import origin
from .episodes import episode_png, episodes_of
from .images import drawn, picture_svg
from .page import duration, interval_text, number
from .pictures import pictures

WIDTH = 680  # pixels of a chart


def render_markdown(result: Result, images: dict[str, tuple[str, str]] | None = None) -> str:
    """The report as text. images: title and caption of each picture, by where it lies."""
    study, extent = result.study, origin.extent(result)
    parts = [f"# {plain(study.title)}", f"Study `{study.id}`, {result.scale} scale. {plain(study.question)}"]
    if answer := result.headline:
        parts.append(f"**{plain(answer)}**")
    if not extent.complete:
        parts.append(f"This study is incomplete: {extent.done} of {extent.total} cells are here.")
    shown = [
        f"![{plain(title)}]({path})\n\n{plain(title)}. {plain(caption)}"
        for path, (title, caption) in (images or {}).items()
    ]
    parts += shown[:1]
    if result.verdicts:
        parts.append("## Claims")
        lines = ["| verdict | claim | value | 95 % interval | seeds | threshold | source |", "|" + "---|" * 7]
        for v in result.verdicts:
            seeds = ", ".join(number(value) for _, value in sorted(v.values.items()))
            why = "".join(f"; {plain(words)}" for words in (v.why, v.would_change) if words)
            value = number(v.interval.mean) if v.interval.seeds else "–"
            wanted = f"{v.claim.side} {v.claim.threshold:g}"
            lines.append(
                f"| **{v.outcome}**{why} | {plain(v.claim.text)} ({plain(v.claim.description)}) | {value} | "
                f"{interval_text(v.interval)} | {seeds} | {wanted} | {plain(v.claim.source)} |"
            )
        parts.append("\n".join(lines))
        if study.history:
            parts.append(f"Changed after a run was seen: {plain(study.history)}")
    measured = [(q, i) for q, i, _ in result.measurements if i.seeds]
    if measured:
        lines = ["| asked, without a threshold | value | 95 % interval |", "|---|---|---|"]
        lines += [f"| {plain(q.text)} | {number(i.mean)} | {interval_text(i)} |" for q, i in measured]
        parts += ["## Measured without a threshold", "\n".join(lines)]
    if shown[1:]:
        parts += ["## A closer look", *shown[1:]]
    seconds = origin.seconds(result)
    made = [f"    {origin.command(result)}", f"Version {study.version} of the study; {len(result.records)} cells"]
    made[1] += f", {duration(seconds)} of computing. " if seconds is not None else ". "
    made[1] += f"Content of all readings: `{origin.content(result.records) or '–'}`."
    made += [
        f"{setup.records} records by " + ", ".join(f"{k} {plain(str(v))}" for k, v in sorted(setup.facts.items()))
        for setup in origin.setups(result.records)
    ]
    return "\n\n".join([*parts, "## How it was made", *made]) + "\n"


def markdown_files(result: Result, name: str = "report.md") -> dict[str, bytes]:
    """The text under its name, and its pictures in a folder beside it that is called after it."""
    images, contents, folder = {}, {}, f"{name.removesuffix('.md')}-images"
    for picture in pictures(result):
        place = f"{folder}/{picture.name}.png"
        contents[place] = drawn(picture_svg(picture, WIDTH), "png")
        images[place] = (picture.title, picture.caption)
    for number_, (title, episode) in enumerate(episodes_of(result).items()):
        place = f"{folder}/{result.study.id}-episode-{number_}.png"
        contents[place] = episode_png(episode)
        images[place] = (
            title,
            "Seed 0, a combination never trained; a step that the expert would not take is crossed.",
        )
    spelled = {urllib.parse.quote(place): told for place, told in images.items()}
    return {**contents, name: render_markdown(result, spelled).encode()}


def plain(text: str) -> str:
    """Text that Markdown shows as it is: one line, with every sign that could act escaped."""
    line = " ".join(visible(part) for part in text.split())
    return re.sub(r"([\\`*_{}\[\]<>#|~!$&])", r"\\\1", line)
