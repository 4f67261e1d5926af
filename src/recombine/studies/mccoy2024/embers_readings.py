"""What embers reads off its table: accuracy against how common shifts are, gaps between levels, and fitted weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.stats import spearmanr

from ...charts.tidy_rows import Rows
from ...lab.study_table import Missing, PreconditionFailed, StudyTable, mean_of
from ...supports.cipher_language import LEVELS, SHIFTS
from ...tasks.sequences.cipher_sampler import PAIRS
from .embers_measure import DIRECTIONS, LAWS, MIDDLE, NUMBERS

LEARNED_EVEN = 0.1  # of trained ciphers, where all shifts are alike: a net that gets none right shows nothing
#: what the fit joins, in words
NUMBERS_IN_WORDS = dict(
    zip(
        NUMBERS,
        ("the frequency of the shift", "the answer's log-probability", "the question's log-probability"),
        strict=True,
    )
)
Reading = Callable[[StudyTable], Mapping[str, float]]


def groups(t: StudyTable) -> dict[str, float]:
    """Exact match of each group of tests, of one trial."""
    rows = t.plain("score").rows
    found = {row["group"]: row["value"] for row in rows if row["stream"] == "held_out" and row["group"]}
    if not found:
        raise Missing("no test was asked about")
    return found


def by_shift(t: StudyTable, direction: str = "decode") -> np.ndarray:
    """(25,) exact match of each shift, over levels."""
    found = groups(t)
    return np.array([np.mean([found[f"{direction}-{shift} {level}"] for level in LEVELS]) for shift in SHIFTS])


def order_of(name: str, t: StudyTable) -> np.ndarray:
    """(25,) how common each shift is by a law; the corpus of a seed has an order of its own."""
    rows = [row for row in t.plain("law").rows if row["metric"] == name]
    return np.array([row["value"] for row in sorted(rows, key=lambda row: int(row["group"]))])


def correlation(law: np.ndarray, accuracy: np.ndarray) -> float:
    """Spearman correlation; 0 where all shifts are answered equally well."""
    return 0.0 if np.ptp(accuracy) == 0 else float(spearmanr(law, accuracy)[0])  # type: ignore[arg-type]


def trials(t: StudyTable, frequencies: tuple[str, ...] = LAWS) -> dict[str, tuple[str, StudyTable]]:
    """Name of each trial -> (its frequencies, its readings)."""
    ran = dict.fromkeys((row["frequency"], row["size"]) for row in t.plain("score").rows)
    found = {
        f"{frequency}, {size}": (frequency, t.where(frequency=frequency, size=size))
        for frequency, size in ran
        if frequency in frequencies
    }
    if not found:
        raise Missing(f"no trial with {' or '.join(frequencies)} was run")
    return found


def for_each(one: Callable[[str, StudyTable], float]) -> Reading:
    """A reading of each trial whose shifts are not equally common, if it has learned them."""

    def read(t: StudyTable) -> dict[str, float]:
        found = {}
        for name, (frequency, part) in trials(t).items():
            part.learned()
            found[name] = one(frequency, part)
        return found

    return read


# -- readings: the trials of one seed -> numbers ----------------------------------------------------------------------
def _with_frequency(frequency: str, t: StudyTable) -> float:
    return correlation(order_of(frequency, t), by_shift(t))


def where_uniform(t: StudyTable) -> dict[str, float]:
    """Correlation with either law where all shifts are equally common."""
    found = {}
    for name, (_, part) in trials(t, ("uniform",)).items():
        part.learned(LEARNED_EVEN)
        found |= {f"{name}: order of {law}": correlation(order_of(law, part), by_shift(part)) for law in LAWS}
    return found


def gap(direction: str) -> Callable[[str, StudyTable], float]:
    """Exact match on probable sentences minus that on improbable ones, at shifts of middle frequency."""

    def one(frequency: str, t: StudyTable) -> float:
        middle = np.argsort(-order_of(frequency, t), kind="stable")[slice(*MIDDLE)]
        found = groups(t)
        return float(
            np.mean([found[f"{direction}-{s + 1} high"] - found[f"{direction}-{s + 1} low"] for s in middle.tolist()])
        )

    return one


def weight(t: StudyTable, name: str, end: str = "value") -> float:
    """A standardized weight of the joint fit, or an end of its interval."""
    found = [row["value"] for row in t.plain("fit").rows if row["metric"] == name and row["group"] == end]
    if len(found) != 1:
        raise Missing("the fit was not made")
    return float(found[0])


with_frequency = for_each(_with_frequency)
decode_gap, encode_gap = for_each(gap("decode")), for_each(gap("encode"))
output_over_input = for_each(lambda _, t: weight(t, "output") - weight(t, "input"))
output_effect = for_each(lambda _, t: weight(t, "output", "low"))


def weight_of(name: str) -> Callable[[StudyTable], float]:
    """The weight of one number in the joint fit, mean over trials that have learned."""

    def read(t: StudyTable) -> float:
        return mean_of(for_each(lambda _, part: weight(part, name))(t).values(), "no trial has learned")

    return read


def common_task_first(t: StudyTable) -> float:
    """Exact match on the common task of each pair minus that on the rare one, over pairs and trials."""

    def one(_: str, part: StudyTable) -> float:
        found = groups(part)
        return float(np.mean([found[common] - found[rare] for common, rare in PAIRS]))

    return mean_of(for_each(one)(t).values(), "no trial has learned")


def larger_minus_smaller(t: StudyTable) -> float:
    """The gap between levels of the largest net minus that of the smallest, where both have learned."""
    found = {}
    for name, (frequency, part) in trials(t).items():
        part.learned()
        found.setdefault(frequency, []).append((name, gap("decode")(frequency, part)))
    several = [gaps for gaps in found.values() if len(gaps) > 1]
    if not several:
        raise PreconditionFailed("one size was run")
    return float(np.mean([gaps[-1][1] - gaps[0][1] for gaps in several]))


# -- rows of charts ---------------------------------------------------------------------------------------------------
def _by_trial(t: StudyTable) -> list[tuple[str, str, int, StudyTable]]:
    """(name of the trial, its frequencies, seed, readings)."""
    return [
        (name, frequency, seed, part)
        for seed, own in t.seeds()
        if len(own.plain("score"))
        for name, (frequency, part) in trials(own, (*LAWS, "uniform")).items()
    ]


def shift_rows(t: StudyTable) -> Rows:
    """Exact match in decoding against how common the shift is; in the uniform corpus against what Zipf's law says."""
    return [
        {"x": float(np.log10(law)), "value": float(value), "series": name, "seed": seed}
        for name, frequency, seed, part in _by_trial(t)
        for law, value in zip(order_of(frequency if frequency in LAWS else "zipf", part), by_shift(part), strict=True)
    ]


def level_rows(t: StudyTable) -> Rows:
    """Exact match at shifts of middle frequency, by direction and level."""
    found = []
    for name, frequency, seed, part in _by_trial(t):
        law = order_of(frequency if frequency in LAWS else "zipf", part)
        middle, right = np.argsort(-law, kind="stable")[slice(*MIDDLE)].tolist(), groups(part)
        for direction in DIRECTIONS:
            for level in LEVELS:
                value = float(np.mean([right[f"{direction}-{shift + 1} {level}"] for shift in middle]))
                found.append({"name": f"{direction}, {level}", "value": value, "series": name, "seed": seed})
    return found


def weight_rows(t: StudyTable) -> Rows:
    """Fitted weights of each net."""
    return [
        {"name": name, "value": weight(part, name), "series": trial, "seed": seed}
        for trial, _, seed, part in _by_trial(t)
        for name in NUMBERS
    ]
