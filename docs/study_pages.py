"""A page a study, from stores and never by hand.

    python docs/study_pages.py runs/*-laptop     reads stores; writes docs/studies/ID.json, ID.svg and all pages
    python docs/study_pages.py                   writes the pages again from what is there

ID.json is what was found (claims with thresholds and the value of each seed, settings, versions), ID.svg the first
chart of the report; the pages are made of nothing else, which a test checks.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from pathlib import Path
from typing import Any

STUDIES = Path(__file__).parent / "studies"
WIDTH, PADDING = 640, 14  # pixels
OUTCOMES = ("supported", "refuted", "undecided", "not asked")
MARKS = {name: f"{mark}\N{NO-BREAK SPACE}{name}" for name, mark in zip(OUTCOMES, "✔✘?–", strict=True)}


# -- from a store -----------------------------------------------------------------------------------------------------
def found_in(folder: Path) -> tuple[dict[str, Any], str]:
    """What a store holds, as data and as a picture; refuses what is not whole."""
    from recombine.errors import UserError
    from recombine.lab.run import reopen
    from recombine.report import origin
    from recombine.studies import registry

    result = reopen(folder, registry)
    study, extent = result.study, origin.extent(result)
    if result.scale == "smoke":
        raise UserError(f"{folder} is of smoke scale, which is for tests; a page is made from laptop or paper")
    if not extent.complete:
        raise UserError(f"{folder} holds {extent.done} of {extent.total} cells; run its command again to complete it")
    figure = study.figures(result.table)[0]
    return {
        "study": study.id, "version": study.version, "scale": result.scale, "seeds": extent.seeds,
        "title": study.title, "question": study.question, "source": study.source,
        "answer": result.headline, "history": study.history,
        "claims": [
            {"id": v.claim.id, "text": v.claim.text, "source": v.claim.source, "reads": v.claim.description,
             "side": v.claim.side, "threshold": v.claim.threshold, "control": v.claim.false_in, "verdict": v.outcome,
             "why": v.why, **_over_seeds(v.interval, v.values)}
            for v in result.verdicts
        ],
        "questions": [{"text": q.text, **_over_seeds(interval, values)} for q, interval, values in result.measurements],
        "figure": {"title": figure.title, "caption": figure.full_caption},
        "command": origin.command(result), "cells": extent.done,
        "seconds": round(origin.seconds(result) or 0),
        "setups": [setup.facts | {"records": setup.records} for setup in origin.setups(result.records)],
    }, small_svg(figure)  # fmt: skip


def _over_seeds(interval: Any, values: dict[int, float]) -> dict[str, Any]:
    ends = [_short(interval.low), _short(interval.high)] if interval.seeds >= 2 else None
    by_seed = {str(seed): _short(value) for seed, value in sorted(values.items())}
    return {"value": _short(interval.mean) if interval.seeds else None, "interval": ends, "by_seed": by_seed}


def _short(value: float) -> float | None:
    return float(f"{value:.4g}") if abs(value) < float("inf") else None


def small_svg(figure: Any) -> str:
    """The chart on a light ground, without what a picture in a page cannot use."""
    import vl_convert

    from recombine.report.theme import LIGHT, chart_config

    spec = copy.deepcopy(figure.spec)
    if spec.get("width") == "container":
        spec["width"] = WIDTH
    config = chart_config(LIGHT) | {"background": LIGHT["paper"], "padding": PADDING}
    svg = vl_convert.vegalite_to_svg(spec, config=config)
    svg = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)  # the page says it in words
    return _roomy(re.sub(r"(\d\.\d\d)\d+", r"\1", svg)) + "\n"


def _roomy(svg: str) -> str:
    """The drawing with room at its left: without the fonts it was laid out for, names are up to a sixth wider."""
    names = re.findall(r'<text text-anchor="end"[^>]*font-size="([\d.]+)px"[^>]*>([^<]*)<', svg)
    more = round(max((0.55 / 6 * float(size) * len(name) for size, name in names), default=0) - PADDING)
    found = re.search(r'width="([\d.]+)"( [^>]*?)viewBox="0 0 ([\d.]+) ', svg)
    if more <= 0 or found is None:
        return svg
    wide = float(found[1]) + more
    ground = f'<rect x="{-more}" width="{more}" height="100%" fill="white"/>'
    head = f'width="{wide:g}"{found[2]}viewBox="{-more} 0 {wide:g} '
    svg = svg[: found.start()] + head + svg[found.end() :]
    return re.sub(r"(<svg[^>]*>)", rf"\1{ground}", svg, count=1)


# -- the pages --------------------------------------------------------------------------------------------------------
def page(found: dict[str, Any]) -> str:
    """The page of a study."""
    claims, questions = found["claims"], found["questions"]
    lines = [
        "<!-- made by docs/study_pages.py from a store; changes belong into the study -->",
        f"# {_text(found['title'])}", "", f"*{_text(found['question'])}*", "",
        f"**At `{found['scale']}` scale, {found['seeds']} seeds:** {_text(found['answer'])}", "",
        f"**Verdicts:** {_verdicts(found)}", "",
        f"![{_text(found['figure']['title'])}]({found['study']}.svg)", "",
    ]  # fmt: skip
    if found["figure"]["caption"]:
        lines += [f"{_text(found['figure']['title'])}. {_text(found['figure']['caption'])}", ""]
    lines += [
        "## Claims",
        "",
        "| verdict | claim | value, 95 % over seeds | threshold | seeds |",
        "|---|---|---|---|---|",
    ]
    for claim in claims:
        text = f"{_text(claim['text'])}. *Decided by: {_text(claim['reads'])}.*"
        text += f" *{_text(claim['why'][:1].upper() + claim['why'][1:])}.*" if claim["why"] else ""
        threshold = f"{claim['side']} {claim['threshold']:g}"
        lines.append(f"| {MARKS[claim['verdict']]} | {text} | {_value(claim)} | {threshold} | {_seeds(claim)} |")
    before = "" if found["history"] else "Thresholds were written before the run. "
    lines += ["", f"{before}The tests check that no claim is supported in a world where it is false by construction; "
              f"`recombine show {found['study']}` names these worlds.", ""]  # fmt: skip
    if found["history"]:
        lines += [f"**Changed after a run was seen.** {_text(found['history'])}", ""]
    lines += [f"- {_text(source)}" for source in dict.fromkeys(claim["source"] for claim in claims)] + [""]
    if questions:
        lines += ["## Asked without a threshold", "", "| question | value, 95 % over seeds | seeds |", "|---|---|---|"]
        lines += [f"| {_text(q['text'])} | {_value(q)} | {_seeds(q)} |" for q in questions] + [""]
    lines += ["## How it was made", "", "```text", found["command"], "```", "",
              f"{found['cells']} cells, {_duration(found['seconds'])} of computing; study version {found['version']}; "
              f"{_text(found['source'])}", ""]  # fmt: skip
    for setup in found["setups"]:
        facts = "; ".join(
            f"{_text(name)} {_text(str(value))}" for name, value in sorted(setup.items()) if name != "records"
        )
        lines += [f"- {setup['records']} cells: {facts}"]
    return "\n".join(lines).rstrip() + "\n"


def index(all_found: list[dict[str, Any]]) -> str:
    """The page of all studies."""
    lines = [
        "<!-- made by docs/study_pages.py -->", "# The studies", "",
        "Each study states what is claimed, by whom, the number that decides and the threshold, before it runs; what "
        "was changed after a run had been seen is said on its page. The verdict comes from the 95 % interval over "
        "seeds, and holds at the scale it names. `recombine list studies` shows them all, `recombine run NAME` runs "
        "one.", "",
        "| study | question | answer | claims |", "|---|---|---|---|",
    ]  # fmt: skip
    for found in all_found:
        link = f"[{found['study']}]({found['study']}.md)"
        lines.append(f"| {link} | {_text(found['question'])} | {_text(found['answer'])} | {_verdicts(found)} |")
    lines += ["", "```{toctree}", ":hidden:", "", *(found["study"] for found in all_found), "```"]
    return "\n".join(lines) + "\n"


def _verdicts(found: dict[str, Any]) -> str:
    verdicts = [claim["verdict"] for claim in found["claims"]]
    return ", ".join(f"{verdicts.count(name)} {name}" for name in OUTCOMES if name in verdicts)


def _text(text: str) -> str:
    """Text in which nothing is markup, nor the end of a cell of a table."""
    return re.sub(r"([\\`*_|<>\[\]$])", r"\\\1", " ".join(text.split()))


def _value(reading: dict[str, Any]) -> str:
    if reading["value"] is None:
        return "–"
    low, high = reading["interval"] or (None, None)
    ends = "" if low is None or high is None else f" [{low:.3g}, {high:.3g}]"
    return f"{reading['value']:.3g}{ends}"


def _seeds(reading: dict[str, Any]) -> str:
    return ", ".join("–" if value is None else f"{value:.3g}" for value in reading["by_seed"].values())


def _duration(seconds: int) -> str:
    return (
        f"{seconds} s" if seconds < 120 else f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
    )


def pages(folder: Path = STUDIES) -> dict[str, str]:
    """Every page by its name, from the data that lie in the folder."""
    all_found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return {"index.md": index(all_found)} | {f"{found['study']}.md": page(found) for found in all_found}


def main(stores: list[str], folder: Path = STUDIES) -> int:
    from recombine.errors import UserError

    folder.mkdir(exist_ok=True)
    for store in stores:
        try:
            found, svg = found_in(Path(store))
        except UserError as problem:
            print(f"study_pages: {problem}", file=sys.stderr)
            return 2
        (folder / f"{found['study']}.json").write_text(json.dumps(found, indent=1, allow_nan=False) + "\n")
        (folder / f"{found['study']}.svg").write_text(svg)
        print(f"{found['study']}: {len(svg) / 1000:.0f} kB")
    for name, text in pages(folder).items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
