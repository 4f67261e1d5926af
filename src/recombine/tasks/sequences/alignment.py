"""A wrong answer beside the truth: word under word, and where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

LABELS = ("truth", "answer", "")
NARROWEST = 30  # letters in a line
MARK = "^"


def aligned(truth: Sequence[str], said: Sequence[str], width: int = 100) -> str:
    """Truth and answer as lines of text, word under word, with a mark below each place at which they differ.

    Args:
        truth: its words.
        said: those of the answer.
        width: letters in a line.
    """
    blocks: list[str] = []
    lines = ["", "", ""]
    room = max(width, NARROWEST) - len(LABELS[1]) - 2
    for pair in _pairs(list(truth), list(said)):
        size = max(map(len, pair)) + 1
        if lines[0] and len(lines[0]) + size > room:
            blocks.append(_block(lines))
            lines = ["", "", ""]
        mark = "" if pair[0] == pair[1] else MARK * (size - 1)
        lines = [line + word.ljust(size) for line, word in zip(lines, (*pair, mark), strict=True)]
    return "\n".join([*blocks, _block(lines)])


def first_difference(truth: Sequence[str], said: Sequence[str]) -> int | None:
    """How many words are right before the first that is not; None if all are, and none is missing or too many."""
    for place, (one, other) in enumerate(zip(truth, said, strict=False)):
        if one != other:
            return place
    return None if len(truth) == len(said) else min(len(truth), len(said))


def parting(truth: Sequence[str], said: Sequence[str]) -> str:
    """Where an answer parts from the truth, in words."""
    place = first_difference(truth, said)
    if place is None:
        return f"right: all {len(truth)} words"
    if place == len(truth):
        return f"right up to its end, and goes on for {len(said) - place} more"
    if place == len(said):
        return f"right so far, but ends after {place} of {len(truth)} words"
    return f"they part at word {place + 1} of {len(truth)}: {said[place]} instead of {truth[place]}"


def _pairs(truth: list[str], said: list[str]) -> Iterator[tuple[str, str]]:
    """Words that stand below each other; nothing ("") beside a word that the other does not have."""
    for kind, t0, t1, s0, s1 in SequenceMatcher(None, truth, said, autojunk=False).get_opcodes():
        size = t1 - t0 if kind == "equal" else max(t1 - t0, s1 - s0)
        for place in range(size):
            yield (
                truth[t0 + place] if t0 + place < t1 else "",
                said[s0 + place] if s0 + place < s1 else "",
            )


def _block(lines: Sequence[str]) -> str:
    named = [f"{label:<{len(LABELS[1])}}  {line}".rstrip() for label, line in zip(LABELS, lines, strict=True)]
    return "\n".join(line for line in named if line)
