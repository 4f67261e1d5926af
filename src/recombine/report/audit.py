"""The page of an audit: one HTML file that opens from disk, asks for nothing, and says what was found."""

from __future__ import annotations

import math
import os
import shlex
from pathlib import Path
from typing import Any

from ..audit import FEATURES, Audit
from ..audit.result import MOST_IN_TABLE
from ..files import write_or_refuse
from ..labels import quoted, thousands, visible
from .audit_charts import CELL, drawings, figures
from .page import fill

PAGE_NAME = "audit.html"
AT_RISK = 100  # combinations on the page; the table beside it has all
UNSEEN_TUPLES = 200
CALLS = {"fails": "likely fails", "holds": "likely holds", "open": "open", "abstains": "abstains"}
MARKS = {"fails": "refuted", "holds": "supported", "open": "undecided", "abstains": "undecided",
         "held apart": "supported", "seen only": "refuted", "partly": "undecided",
         "not readable": "refuted"}  # fmt: skip


def write_audit(audit: Audit, folder: str | os.PathLike) -> dict[str, Path]:
    """Writes the page, the JSON and the table of combinations into a folder; says where each is."""
    paths = audit.write(folder)
    page = Path(folder) / PAGE_NAME
    write_or_refuse(page, render_audit(audit).encode())
    return {"page": page, **paths}


def render_audit(audit: Audit) -> str:
    """The page as text. The same audit gives the same text."""
    chosen = figures(audit.outcomes, audit.apart, audit.risk)
    return fill(
        "audit.html.j2",
        list(chosen.values()),
        {"visible": visible, "quoted": quoted, "percent": percent, "thousands": thousands},
        styles=["audit.css"],
        page_name="audit",
        charts={name: i for i, name in enumerate(chosen)},
        audit=audit,
        headline=_headline(audit),
        drawings=drawings(audit.coverage, audit.observed),
        matrices=len(audit.coverage.matrices),
        most_in_table=MOST_IN_TABLE,
        cell=CELL,
        unseen_tuples=UNSEEN_TUPLES,
        certificate="\n".join(visible(line) for line in str(audit.coverage.certificate).splitlines()),
        at_risk=_at_risk(audit),
        weights=_weights(audit),
        calls=CALLS,
        marks=MARKS,
        command=_command(audit),
    )


def _headline(audit: Audit) -> str:
    """One or two sentences that answer the question."""
    words = [audit.coverage.sentences()[0]]
    if audit.outcomes and audit.outcomes.unseen.answers:
        seen, unseen = audit.outcomes.seen, audit.outcomes.unseen
        if seen.answers:
            words.append(
                f"The model is right {percent(seen.mean)} of the time on these and {percent(unseen.mean)} on others."
            )
        else:
            words.append(f"On others the model is right {percent(unseen.mean)} of the time.")
    elif audit.coverage.pairs():
        words += [s for s in audit.coverage.sentences() if "pairs of levels" in s]
    return " ".join(words)


def _at_risk(audit: Audit) -> list[dict[str, Any]]:
    risk, calls = audit.risk, audit.risk.calls
    return [
        {"levels": list(audit.observed.labels(risk.combinations[i]).values()),
         "probability": float(risk.probability[i]), "low": float(risk.low[i]), "high": float(risk.high[i]),
         "call": str(calls[i]), "reasons": risk.reasons[i]}
        for i in range(min(AT_RISK, len(risk.combinations)))
    ]  # fmt: skip


def _weights(audit: Audit) -> list[tuple[str, float]]:
    """What the forecast rests on, in words, the heaviest first."""
    if audit.risk.model is None or audit.risk.basis not in ("outcomes", "prior"):
        return []
    found = [
        (FEATURES.get(name, "its least readable level"), w) for name, w in audit.risk.model.weights.items() if w > 0.01
    ]
    return sorted(found, key=lambda pair: -pair[1])


def _command(audit: Audit) -> str:
    words = ["recombine", "audit", audit.data, "--factors", ",".join(audit.factors)]
    words += ["--split", str(audit.split)] if audit.split else []
    words += ["--outcome", str(audit.observed.outcome)] if audit.observed.outcome else []
    return shlex.join(visible(word) for word in words)


def percent(value: Any) -> str:
    """A share in percent, or a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{100 * value:.1f} %"
