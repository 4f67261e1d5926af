"""What the study of beyond reads: scores on what was trained, and on what each variant asks."""

from __future__ import annotations

from ...charts import kinds
from ...charts.words import listed
from ...lab.study_table import PreconditionFailed, StudyTable
from .beyond_variants import ELSEWHERE, VARIANTS, WORDS


def asked(t: StudyTable, variant: str) -> float:
    """The score that a variant is about: elsewhere if it is scored there, else on held-out combinations."""
    stream = ELSEWHERE if "asks" in VARIANTS[variant] else "held_out"
    return t.score(stream, group="", variant=variant)


def gap(t: StudyTable, variant: str) -> float:
    """Score on what was trained minus on what was asked."""
    return t.learned(variant=variant) - asked(t, variant)


def rows(t: StudyTable) -> kinds.Rows:
    found = []
    for variant in VARIANTS:
        for seed, part in t.where(variant=variant).seeds():
            try:
                pair = {"trained": part.trained(variant=variant), "asked": asked(part, variant)}
            except PreconditionFailed:
                continue
            found += [
                {"variant": WORDS[variant], "series": series, "seed": seed, "value": value}
                for series, value in pair.items()
            ]
    return found


def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
    parts = []
    for outcome, verb in (("supported", "composes with"), ("refuted", "does not compose with")):
        names = [words for variant, words in WORDS.items() if outcomes.get(variant) == outcome]
        names = [words for words in names if words != WORDS["reference"]]
        if names:
            parts.append(f"{verb} {listed(names)}")
    return f"It {'; it '.join(parts)}." if parts else "Nothing is settled at this scale."
