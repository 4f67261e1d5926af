"""Two answers of a net to what means the same: how often are they the same, be they right or wrong?

Substitutivity: an expression, and the same with one function written by its synonym; which function is by lot.

    swap_first_last append A1 B2 , C3        swap_first_last append_too A1 B2 , C3

Localism: an expression, and what comes out if the net computes it from the inside, one function of letters at a time,
each from its own answers before.

    repeat copy A1 B2                        copy A1 B2 -> x; repeat x
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...keys import generator, key_for
from ...nets import Net
from ...supports.pcfg_language import COMMA, SYNONYMS, Node, Words, parsed, shape
from ...tasks import Sequences
from ...training import Trained
from ...training.free_texts import answers_to
from ...trials.asked_once import combinations_by_lot

SYNONYM_OF = {name: synonym for synonym, name in SYNONYMS.items()}


def substitutivity(run: Trained, most: int) -> dict[str, float]:
    """Share of held-out expressions that are answered alike with a synonym."""
    plain = [tuple(SYNONYMS.get(word, word) for word in words) for words in held_out_texts(run, most)]
    able = [words for words in plain if any(word in SYNONYM_OF for word in words)]
    rng = generator(key_for("held_out/synonyms", run.members[0].seed))
    other = [with_one_synonym(words, rng) for words in able]
    return _compared(*(answers_to(run.nets[0], _task(run), texts) for texts in (able, other)))


def localism(run: Trained, most: int) -> dict[str, float]:
    """Share of held-out expressions of several functions that are answered alike step by step."""
    able = [words for words in held_out_texts(run, most) if shape(parsed(words)).functions > 1]
    whole = answers_to(run.nets[0], _task(run), able)
    return _compared(whole, step_by_step(run.nets[0], _task(run), able))


def step_by_step(net: Net, task: Sequences, texts: Sequence[Words]) -> list[Words]:
    """What a net makes of expressions if it computes each from the inside, from its own answers."""
    found: dict[tuple[int, ...], Words] = {}  # (number of the text, path to a node) -> the string there
    levels: dict[int, list[tuple[tuple[int, ...], Node]]] = {}
    for number, words in enumerate(texts):
        _sort_by_depth((number,), parsed(words), found, levels)
    for depth in sorted(levels):
        asked = []
        for path, node in levels[depth]:
            first, *second = (found[*path, place] for place in range(len(node.arguments)))
            asked.append((node.name, *first, *((COMMA, *second[0]) if second else ())))
        for (path, _), said in zip(levels[depth], answers_to(net, task, asked), strict=True):
            found[path] = said
    return [found[(number,)] for number in range(len(texts))]


def _sort_by_depth(path: tuple[int, ...], node: Node, found: dict, levels: dict) -> None:
    """Letters are known; functions are sorted by how deep an expression they are."""
    if not node.name:
        found[path] = node.arguments
        return
    levels.setdefault(shape(node).depth, []).append((path, node))
    for place, argument in enumerate(node.arguments):
        _sort_by_depth((*path, place), argument, found, levels)


def with_one_synonym(words: Words, rng: np.random.Generator) -> Words:
    """An expression with one of its functions written by its synonym."""
    able = [place for place, word in enumerate(words) if word in SYNONYM_OF]
    chosen = int(rng.choice(able))
    return (*words[:chosen], SYNONYM_OF[words[chosen]], *words[chosen + 1 :])


def held_out_texts(run: Trained, most: int) -> list[Words]:
    """Held-out expressions, at most so many by lot."""
    rows = combinations_by_lot(run.support.held_out, most, "held_out/twice", run.members[0].seed)
    return [tuple(_task(run).text(combination).split()) for combination in rows]


def _compared(one: list[Words], other: list[Words]) -> dict[str, float]:
    if not one:
        return {}
    return {"consistent": float(np.mean([a == b for a, b in zip(one, other, strict=True)]))}


def _task(run: Trained) -> Sequences:
    assert isinstance(run.task, Sequences)
    return run.task
