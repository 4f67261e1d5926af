"""The report as Markdown, for a wiki or a pull request: words and tables in one file, charts as images beside it."""

from __future__ import annotations

import re
import urllib.parse

from ..charts.saving import PIXELS, converted, sized_svg
from ..lab.study_result import Result
from ..labels import duration, visible
from .episodes import episode_png, episodes_of
from .page import interval_text, number

WIDTH = 680  # pixels of a chart


def render_markdown(result: Result, images: dict[str, tuple[str, str]] | None = None) -> str:
    """The report as text. images: title and caption of each picture, by where it lies."""
    study, extent = result.study, result.extent
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
            why = "".join(f"; {plain(words)}" for words in (*v.effect_words, *v.notes))
            value = number(v.interval.mean) if v.interval.seeds else "–"
            wanted = plain(v.claim.wanted)
            why += "; survives e-BH at 5 % over this study" if v.claim.id in result.survivors else ""
            lines.append(
                f"| **{v.outcome}**{why} | {plain(v.claim.text)} ({plain(v.claim.description)}) | {value} | "
                f"{interval_text(v.interval)} | {seeds} | {wanted} | {plain(v.claim.source)} |"
            )
        parts.append("\n".join(lines))
        parts += [f"{plain(str(one))}." for one in result.changed_claims]
        if study.history:
            parts.append(f"Changed after a run was seen: {plain(study.history)}")
        if study.differs:
            parts.append(f"Otherwise than in the source: {plain(' '.join(study.differs))}")
    measured = [(q, i) for q, i, _ in result.measurements if i.seeds]
    if measured:
        lines = ["| asked, without a threshold | value | 95 % interval |", "|---|---|---|"]
        lines += [f"| {plain(q.text)} | {number(i.mean)} | {interval_text(i)} |" for q, i in measured]
        parts += ["## Measured without a threshold", "\n".join(lines)]
    if shown[1:]:
        parts += ["## A closer look", *shown[1:]]
    made = [f"    {result.command}", f"Version {study.version} of the study; {len(result.records)} cells"]
    made[1] += f", {duration(result.seconds)} of computing. " if result.seconds is not None else ". "
    made[1] += f"Content of all readings: `{result.content or '–'}`."
    made += [
        f"{setup.records} records by " + ", ".join(f"{k} {plain(str(v))}" for k, v in sorted(setup.facts.items()))
        for setup in result.setups
    ]
    return "\n\n".join([*parts, "## How it was made", *made]) + "\n"


def markdown_files(result: Result, name: str = "report.md") -> dict[str, bytes]:
    """The text under its name, and its pictures in a folder beside it that is called after it."""
    images, contents, folder = {}, {}, f"{name.removesuffix('.md')}-images"
    for chart, figure in result.charts.figures.items():
        place = f"{folder}/{chart}.png"
        contents[place] = converted(sized_svg(figure.chart, WIDTH / PIXELS, "light"), "png", scale=2.0)
        images[place] = (figure.title, figure.full_caption)
    for number_, (title, episode) in enumerate(episodes_of(result).items()):
        place = f"{folder}/{result.study.id}-episode-{number_}.png"
        contents[place] = episode_png(episode)
        images[place] = (
            title,
            "Seed 0, a combination never trained; a step that the expert would not take is crossed.",
        )
    spelled = {urllib.parse.quote(place): drawn for place, drawn in images.items()}
    return {**contents, name: render_markdown(result, spelled).encode()}


def plain(text: str) -> str:
    """Text that Markdown shows as it is: one line, with every sign that could act escaped."""
    line = " ".join(visible(part) for part in text.split())
    return re.sub(r"([\\`*_{}\[\]<>#|~!$&])", r"\\\1", line)
