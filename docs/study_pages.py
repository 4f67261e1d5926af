"""One page per study, from stores and never by hand.

    python docs/study_pages.py runs/*-laptop     reads stores; writes docs/studies/ID.json, ID.svg and all pages
    python docs/study_pages.py                   writes the pages again from what is there

ID.json is what was found (claims with thresholds and the value of each seed, settings, versions), ID.svg the first
chart of the report; the pages are made of nothing else, which a test checks. A page whose run was made by an earlier
version of its study says so.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

STUDIES = Path(__file__).parent / "studies"
WIDTH, PADDING = 640, 14  # pixels
OUTCOMES = ("supported", "refuted", "tie", "open", "by construction", "not asked")
MARKS = {name: f"{mark}\N{NO-BREAK SPACE}{name}" for name, mark in zip(OUTCOMES, "✔✘=?≡–", strict=True)}
SEQUENCE = "confidence sequence"  # by what verdicts are made; what a store gave before was judged by a t-interval


# -- from a store -----------------------------------------------------------------------------------------------------
def found_in(folder: Path) -> tuple[dict[str, Any], str]:
    """What a store holds, as data and as a picture; refuses what is not whole."""
    from recombine.errors import UserError
    from recombine.lab.reopening import reopen
    from recombine.studies import registry

    result = reopen(folder, registry)
    study, extent = result.study, result.extent
    if result.scale == "smoke":
        raise UserError(f"{folder} is of smoke scale, which is for tests; a page is made from laptop or paper")
    there = {record.cell.id for record in result.records}
    # a budget may end a run between two looks: what was asked of every claim must be there, the look begun need not
    if any(cell.id not in there for cell in study.cells(result.settings, extent.seeds)):
        raise UserError(f"{folder} holds {extent.done} of {extent.total} cells; run its command again to complete it")
    figure = result.figures[0]
    return {
        "study": study.id,
        "version": study.version,
        "scale": result.scale,
        "seeds": extent.seeds,
        "most_seeds": extent.most_seeds,
        "judged_by": SEQUENCE,
        "title": study.title,
        "question": study.question,
        "source": study.source,
        "answer": result.headline,
        "history": study.history,
        "differs": list(study.differs),
        "claims": [
            {
                "id": v.claim.id,
                "text": v.claim.text,
                "source": v.claim.source,
                "reads": v.claim.description,
                "side": v.claim.side,
                "threshold": v.claim.threshold,
                "control": v.claim.false_in,
                "wanted": v.claim.wanted,
                "rule": v.claim.rule(),
                "verdict": v.outcome,
                "why": "; ".join(v.notes),
                "told": v.effect_words,
                "e_value": _short(v.e_value) if v.e_value is not None else None,
                "survives": v.claim.id in result.survivors,
                "cells": [
                    {"cell": cell.cell, "verdict": cell.decision()[0], **_cell(cell)} for cell in v.cells if cell.cell
                ],
                **_over_seeds(v.interval, v.values),
            }
            for v in result.verdicts
        ],
        "questions": [{"text": q.text, **_over_seeds(interval, values)} for q, interval, values in result.measurements],
        "figure": {"title": figure.title, "caption": figure.full_caption},
        "command": result.command,
        "cells": extent.done,
        "seconds": round(result.seconds or 0),
        "setups": [setup.facts | {"records": setup.records} for setup in result.setups],
    }, small_svg(figure)


def _cell(cell: Any) -> dict[str, Any]:
    """One X of a claim "for every X"."""
    values = {str(seed): _short(value) for seed, value in cell.values.items()}
    return {"value": _short(cell.judgement.mean), "by_seed": values}


def rejudged(found: dict[str, Any], study: Any) -> dict[str, Any]:
    """A run that was judged by a t-interval over its seeds, judged by the sequence from the same seeds.

    study: as it is now: of a claim that it still asks with the same threshold the rule is taken; None if it is gone.
    """
    import pandas

    if found.get("judged_by") == SEQUENCE or found.get("rejudged"):
        return found
    rules = {claim.id: claim for claim in study.claims} if study is not None else {}
    claims = [_rejudged_claim(claim, rules.get(claim["id"])) for claim in found["claims"]]
    outcomes = {claim["id"]: claim["verdict"] for claim in claims}
    answer = found["answer"]
    if study is not None and outcomes != {claim["id"]: claim["verdict"] for claim in found["claims"]}:
        known = {claim.id: outcomes.get(claim.id, "open") for claim in study.claims}
        answer = study.headline_for(study.table(pandas.DataFrame()), known)
    return found | {"claims": claims, "answer": answer, "rejudged": True}


def _rejudged_claim(claim: dict[str, Any], now: Any) -> dict[str, Any]:
    import recombine as rc

    if claim["verdict"] == "not asked":
        return claim
    values = []
    for number, (seed, value) in enumerate(claim["by_seed"].items()):
        if int(seed) != number or value is None:  # seeds count from the first, without a hole
            break
        values.append(value)
    same = now is not None and (now.side, now.threshold, now.how_often) == (claim["side"], claim["threshold"], None)
    rule = {"scale": now.transform, "tie": now.tie, "floor": now.resolution} if same else {}
    bound = {claim["side"].replace(" ", "_"): claim["threshold"]}
    try:
        judged = rc.verdict(values, **bound, **rule)
    except rc.UserError:  # no seed, or one that the rule of today does not take
        return claim | {"verdict": "open", "interval": None}
    ends = [_short(judged.low), _short(judged.high)] if judged.looks else None
    why = claim["why"] if claim["verdict"] == "undecided" and "interval contains" not in claim["why"] else ""
    if judged.outcome == "open":
        why = why or "the interval contains the threshold"
    shown = {"verdict": judged.outcome, "why": why, "value": _short(judged.mean), "interval": ends}
    return claim | shown | ({"rule": now.rule()} if same else {})


def _over_seeds(interval: Any, values: dict[int, float]) -> dict[str, Any]:
    ends = [_short(interval.low), _short(interval.high)] if interval.seeds >= 2 else None
    by_seed = {str(seed): _short(value) for seed, value in sorted(values.items())}
    return {"value": _short(interval.mean) if interval.seeds else None, "interval": ends, "by_seed": by_seed}


def _short(value: float) -> float | None:
    return float(f"{value:.4g}") if abs(value) < float("inf") else None


def small_svg(figure: Any) -> str:
    """The chart on a light ground, without what a picture in a page cannot use."""
    from recombine.charts.saving import PIXELS, sized_svg

    svg = sized_svg(figure.chart.properties(padding=PADDING), WIDTH / PIXELS, "light")
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
def page(found: dict[str, Any], present: int | None = None) -> str:
    """The page of a study. present: the version that the study has by now, if it is known."""
    found = rejudged(found, None)
    claims, questions = found["claims"], found["questions"]
    lines = [
        "<!-- made by docs/study_pages.py from a store; changes belong into the study -->",
        f"# {_text(found['title'])}",
        "",
        f"*{_text(found['question'])}*",
        "",
        *_of_before(found, present),
        f"**At `{found['scale']}` scale, {_how_many(found)}:** {_text(found['answer'])}",
        "",
        f"**Verdicts:** {_verdicts(found)}",
        "",
        f"![{_text(found['figure']['title'])}]({found['study']}.svg)",
        "",
    ]
    if found["figure"]["caption"]:
        lines += [f"{_text(found['figure']['title'])}. {_text(found['figure']['caption'])}", ""]
    lines += _claims(claims)
    before = "" if found["history"] else "Thresholds were written before the run. "
    lines += [
        "",
        f"{before}The tests check that no claim is supported in a world where it is false by construction; "
        f"`recombine show {found['study']}` names these worlds.",
        "",
    ]
    if found["history"]:
        lines += [f"**Changed after a run was seen.** {_text(found['history'])}", ""]
    if found.get("differs"):
        lines += [f"**Otherwise than in the source.** {_text(' '.join(found['differs']))}", ""]
    lines += [f"- {_text(source)}" for source in dict.fromkeys(claim["source"] for claim in claims)] + [""]
    if questions:
        lines += ["## Asked without a threshold", "", "| question | value, 95 % over seeds | seeds |", "|---|---|---|"]
        lines += [f"| {_text(q['text'])} | {_value(q)} | {_seeds(q)} |" for q in questions] + [""]
    lines += [
        "## How it was made",
        "",
        "```text",
        found["command"],
        "```",
        "",
        f"{found['cells']} cells, {_duration(found['seconds'])} of computing; study version {found['version']}; "
        f"{_text(found['source'])}",
        "",
    ]
    for setup in found["setups"]:
        facts = "; ".join(
            f"{_text(name)} {_text(str(value))}" for name, value in sorted(setup.items()) if name != "records"
        )
        lines += [f"- {setup['records']} cells: {facts}"]
    return "\n".join(lines).rstrip() + "\n"


def _how_many(found: dict[str, Any]) -> str:
    """Seeds of every cell, and of those of claims that were given more."""
    more = found.get("most_seeds", 0)
    return f"{found['seeds']} seeds" + (f" (some cells {more})" if more > found["seeds"] else "")


def _claims(claims: list[dict[str, Any]]) -> list[str]:
    """The table of the claims, one per line."""
    lines = [
        "## Claims",
        "",
        "| verdict | claim | value, 95 % sequence | threshold | seeds |",
        "|---|---|---|---|---|",
    ]
    for claim in claims:
        text = f"{_text(claim['text'])}. *Decided by: {_text(claim['reads'])}.*"
        text += f" *{_text(claim['why'][:1].upper() + claim['why'][1:])}.*" if claim["why"] else ""
        beside = [*claim.get("told", ()), *(["survives e-BH over this study"] if claim.get("survives") else [])]
        text += f" {_text('; '.join(beside))}." if beside else ""
        if claim["verdict"] != "by construction":  # what is so by construction is not judged cell by cell
            text += "".join(f" {_text(one['cell'])}: {one['verdict']}." for one in claim.get("cells", ()))
        threshold = claim.get("wanted") or f"{claim['side']} {claim['threshold']:g}"
        lines.append(f"| {MARKS[claim['verdict']]} | {text} | {_value(claim)} | {threshold} | {_seeds(claim)} |")
    return lines


def _of_before(found: dict[str, Any], present: int | None) -> list[str]:
    """That a run was made by an earlier version of its study, where it was."""
    judged = found.get("judged_by") != SEQUENCE
    words = (
        "These seeds were run when a claim was judged by a t-interval. The verdicts here are those of the confidence "
        "sequence over the same seeds."
    )
    before = [f"*{words}*", ""] if judged else []
    if present is None or found["version"] == present:
        return before
    again = f"`recombine run {found['study']}` makes it anew"
    return [
        *before,
        f"*This run was made by version {found['version']} of the study, which is at version {present}; {again}.*",
        "",
    ]


def index(
    all_found: list[dict[str, Any]],
    present: dict[str, int],
    not_run: dict[str, str] | None = None,
    papers: dict[str, str] | None = None,
) -> str:
    """The page of all studies, in one table per paper.

    present: the version that each has by now. not_run: questions of studies that have no run yet, by name. papers: what
    each study belongs to.
    """
    lines = [
        "<!-- made by docs/study_pages.py -->",
        "# The studies",
        "",
        "Each study states what is claimed, by whom, the number that decides and the threshold, before it runs; what "
        "was changed after a run had been seen is said on its page. The verdict comes from a 95 % confidence "
        "sequence over seeds, and holds at the scale it names. `recombine list studies` shows them all, `recombine run "
        "NAME` runs one.",
    ]
    headings = [(papers or {}).get(found["study"], "") for found in all_found]
    for heading in dict.fromkeys(headings):
        lines += ["", f"## {_text(heading)}"] if heading else []
        lines += ["", "| study | question | answer | claims |", "|---|---|---|---|"]
        lines += [_row(found, present) for found, its in zip(all_found, headings, strict=True) if its == heading]
    if not_run:
        lines += [
            "",
            "## Not run yet",
            "",
            "No run of these at laptop scale is kept here yet:",
            "",
            "| study | question | to run it |",
            "|---|---|---|",
        ]
        lines += [f"| `{name}` | {_text(asked)} | `recombine run {name}` |" for name, asked in sorted(not_run.items())]
    lines += ["", "```{toctree}", ":hidden:", "", *(found["study"] for found in all_found), "```"]
    return "\n".join(lines) + "\n"


def _row(found: dict[str, Any], present: dict[str, int]) -> str:
    """One study in the table of its paper."""
    link = f"[{found['study']}]({found['study']}.md)"
    earlier = found["version"] != present.get(found["study"], found["version"])
    verdicts = _verdicts(found) + (f" (version {found['version']})" if earlier else "")
    return f"| {link} | {_text(found['question'])} | {_text(found['answer'])} | {verdicts} |"


def papers_of_studies() -> dict[str, str]:
    """What each study belongs to: the first sentence of the folder that its file is in."""
    import importlib
    import pkgutil

    from recombine import studies
    from recombine.lab.study import Study

    found: dict[str, str] = {}
    for folder in pkgutil.iter_modules(studies.__path__):
        if folder.ispkg:
            package = importlib.import_module(f"{studies.__name__}.{folder.name}")
            heading = (package.__doc__ or folder.name).strip().splitlines()[0].rstrip(".")
            for file in pkgutil.iter_modules(package.__path__):
                module = importlib.import_module(f"{package.__name__}.{file.name}")
                here = [thing for thing in vars(module).values() if isinstance(thing, Study)]
                found |= {study.id: heading for study in here if study.id not in found}
    return found


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
    """Every page by its name, from the data that lie in the folder and the versions that studies have by now."""
    from recombine.studies import registry

    beside = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    all_found = [rejudged(found, registry.get(found["study"])) for found in beside]
    present = {name: study.version for name, study in registry.items()}
    made = {f"{found['study']}.md": page(found, present.get(found["study"])) for found in all_found}
    shown = {found["study"] for found in all_found}
    not_run = {name: study.question for name, study in registry.items() if name not in shown}
    return {"index.md": index(all_found, present, not_run, papers_of_studies())} | made


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
