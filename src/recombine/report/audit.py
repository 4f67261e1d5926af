"""The page of an audit: one HTML file that opens from disk, asks for nothing, and says what was found."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..audit import Audit
from ..audit.frequency import Frequency
from ..audit.logistic import calibration
from ..audit.result import MOST_IN_TABLE, PAGE_NAME
from ..errors import unknown
from ..files import refuse_foreign, write_or_refuse
from ..labels import quoted, thousands, visible
from .audit_markdown import audit_markdown
from .audit_views import MOST_SHOWN, Views
from .page import fill
from .printed_page import printed

FORMATS = ("html", "md", "pdf")
AT_RISK = 50  # combinations with reasons on the page; the table beside it has all
LINES = 20  # combinations below the map, for readers without a script
UNSEEN_TUPLES = 200
CALLS = {"fails": "fails", "holds": "holds", "open": "open"}
MARKS = {
    "fails": "refuted",
    "holds": "supported",
    "open": "open",
    "held apart": "supported",
    "seen only": "refuted",
    "partly": "open",
    "not readable": "refuted",
}
VERDICTS = {
    "cured": "supported",
    "better": "open",
    "remains": "refuted",
    "worse": "refuted",
    "new": "refuted",
    "undecided": "open",
}


def write_audit(
    audit: Audit, folder: str | os.PathLike, *, formats: Sequence[str] = ("html",), force: bool = False
) -> dict[str, Path]:
    """Writes the page, the JSON and the table of combinations into a folder; says where each is.

    Args:
        audit: what `rc.audit` gave.
        folder: where to; files of an earlier audit there are replaced, if they are as they were written.
        formats: html is the page; md a text for a wiki or a pull request; pdf the page as it prints (needs Chromium).
        force: replace files of these names, whatever they are.

    Example:
        >>> audit = rc.audit(rc.example("drives"), outcome="right", split="split")
        >>> sorted(rc.report.write_audit(audit, "audit-of-drives"))
        ['csv', 'json', 'page', 'parquet']
    """
    for one in formats:
        if one not in FORMATS:
            raise unknown("format of an audit", one, FORMATS)
    places = page_files(folder, formats)
    for path in places.values():
        refuse_foreign(path, force)  # all or none
    made = {"md": partial(audit_markdown, audit), "html": partial(render_audit, audit)}
    pages = {one: made["html" if one == "pdf" else one]() for one in formats}
    paths = audit.write(folder, force=force)
    for one, text in pages.items():
        write_or_refuse(places[one], printed(text) if one == "pdf" else text.encode(), force)
    return {"page" if one == "html" else one: path for one, path in places.items()} | paths


def page_files(folder: str | os.PathLike, formats: Sequence[str] = ("html",)) -> dict[str, Path]:
    """Where an audit is written in each format.

    Args:
        folder: of the audit.
        formats: of `FORMATS`.
    """
    return {one: (Path(folder) / PAGE_NAME).with_suffix(f".{one}") for one in formats}


def render_audit(audit: Audit) -> str:
    """The page as text. The same audit gives the same text.

    Args:
        audit: what `rc.audit` gave.

    Example:
        >>> audit = rc.audit(rc.example("drives"), outcome="right", split="split")
        >>> rc.report.render_audit(audit).startswith("<!DOCTYPE html>")
        True
    """
    views = Views(audit)
    groups = views.groups()
    bins, caption = _bins(audit)
    return fill(
        "audit.html.j2",
        [],
        FILTERS,
        scripts=["audit.js"],
        styles=["audit.css"],
        islands={"audit-map": _map(audit, views)} if len(audit.factors) > 1 else {},
        page_name="audit",
        audit=audit,
        title=_title(audit),
        headline=headline(audit),
        sections=_sections(audit, bool(groups)),
        overall=views.share(views.evaluated_all()),
        findings=views.findings(),
        lines=[views.pool.line(i) for i in views.pool.first(LINES).tolist()],
        measures=_measures(audit),
        groups=groups,
        risk_said=any(not math.isnan(one.said) for own in groups.values() for one in own),
        rates=_rates(audit),
        bins=bins,
        bins_caption=caption,
        largest=max((one.combinations for one in bins), default=1),
        at_risk=_at_risk(audit),
        by_priority=any(not math.isnan(one.risk) for one in audit.next),
        frequency_words=Frequency(audit.observed).words,
        tolerance=audit.risk.tolerance,
        verdicts=VERDICTS,
        most_in_table=MOST_IN_TABLE,
        unseen_tuples=UNSEEN_TUPLES,
        certificate="\n".join(visible(line) for line in str(audit.coverage.certificate).splitlines()),
        calls=CALLS,
        marks=MARKS,
        command=_command(audit),
    )


# -- what it says -----------------------------------------------------------------------------------------------------
def _title(audit: Audit) -> str:
    if audit.observed.outcome:
        return "Which combinations fail, and which will?"
    return "Which combinations were never seen?"


def headline(audit: Audit) -> str:
    """One or two sentences that answer the title."""
    if not audit.headline:
        coverage = audit.coverage.sentences()
        return " ".join([coverage[0], *(one for one in coverage if "pairs of levels" in one)])
    words = [audit.headline]
    calls = audit.risk.calls
    fails = int((calls == "fails").sum())
    if audit.risk.basis == "outcomes" and len(calls):
        looked = "" if audit.risk.whole else " looked at"
        words.append(f"Of {len(calls):,} unseen combinations{looked} {fails:,} will fail.")
    return " ".join(words)


def _sections(audit: Audit, groups: bool) -> list[tuple[str, str]]:
    found = [("findings", "Findings")]
    found += [("changes", "Changes")] if audit.changes else []
    found += [("map", "Map")]
    found += [("groups", "By group")] if groups else []
    found += [("seen", "Seen and unseen"), ("risk", "Risk"), ("next", "Next"), ("coverage", "Coverage")]
    return [*found, ("apart", "Decodable"), ("made", "How it was made")]


def _measures(audit: Audit) -> list[tuple[str, str]]:
    found = [("coverage", "coverage")]
    if audit.observed.outcome:
        found.insert(0, ("accuracy", "accuracy"))
    return found + ([("risk", "risk")] if audit.risk.basis == "outcomes" else [])


def _map(audit: Audit, views: Views) -> dict[str, Any]:
    space = audit.observed.space
    return views.map() | {
        "rows": views.combinations(),
        "more": len(views.pool.rows) > MOST_SHOWN,
        "names": [[visible(level, 60) for level in levels] for levels in space.factors.values()],
        "calls": {call: [words, MARKS[call]] for call, words in CALLS.items()},
    }


def _rates(audit: Audit) -> list[Any]:
    if audit.outcomes is None:
        return []
    found = (audit.outcomes.seen, audit.outcomes.unseen, *audit.outcomes.by_unseen_pairs)
    return [one for one in found if one.answers]


def _bins(audit: Audit) -> tuple[list[Any], str]:
    """Said against happened, where the risk was judged on what it had not seen."""
    forecast = audit.risk.forecast
    if forecast is None:
        return [], ""
    bins = calibration(forecast.mean, forecast.table.wrong / forecast.table.answers)
    return bins, (
        "Predictions for combinations whose answers the fit had not seen, in bins; a larger dot stands for more "
        "combinations. On the dashed line a probability is what it says."
    )


def _at_risk(audit: Audit) -> list[dict[str, Any]]:
    risk = audit.risk
    return [
        {"levels": list(audit.observed.labels(risk.combinations[i]).values())} | risk.of_combination(i)
        for i in range(min(AT_RISK, len(risk.combinations)))
    ]


def _command(audit: Audit) -> str:
    roles = audit.observed.roles
    words = ["recombine", "audit", audit.data, "--factors", ",".join(audit.factors)]
    words += ["--split", str(audit.split)] if audit.split else []
    if roles.outcome is not None and roles.outcome.label is not None:
        words += ["--label", roles.outcome.label, "--prediction", str(roles.outcome.prediction)]
    elif roles.outcome is not None:
        words += ["--outcome", roles.outcome.name]
    if roles.by_factor:
        words += ["--factor-outcomes", *(f"{name}={one.name}" for name, one in roles.by_factor.items())]
    words += ["--weight", roles.weight] if roles.weight else []
    words += ["--id", roles.id] if roles.id else []
    words += audit.observed.reading.words()
    for option, given in (("--forbid", audit.forbidden.expressions if audit.forbidden else []),):
        words += [option, *given] if given else []
    words += ["--before", audit.changes.data] if audit.changes else []
    words += ["--fail-if", *(one.gate.text for one in audit.gates)] if audit.gates else []
    return shlex.join(visible(word) for word in words)


# -- how numbers are written ------------------------------------------------------------------------------------------
def _nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def percent(value: Any) -> str:
    """A share in percent, or a dash where there is none."""
    return "–" if _nothing(value) else f"{100 * value:.1f} %"


def _percent0(value: Any) -> str:
    return "–" if _nothing(value) else f"{100 * value:.0f} %"


def _points(value: Any) -> str:
    return "–" if _nothing(value) else f"{100 * value:+.1f}".replace("-", "\u2212")


def _count(value: Any) -> str:
    return f"{value:,.6g}" if float(value) != int(value) else f"{int(value):,}"


def _times(value: Any) -> str:
    """Odds for log odds."""
    return "–" if _nothing(value) else f"{math.exp(min(value, 20.0)):,.1f}"


FILTERS = {
    "visible": visible,
    "quoted": quoted,
    "percent": percent,
    "percent0": _percent0,
    "points": _points,
    "count": _count,
    "times": _times,
    "thousands": thousands,
}
