"""One cell of embers: a net is trained on the corpus and asked about every test of every cipher.

A test is right if the whole answer is. Beside that stand the log-probabilities that the net itself gives to its two
texts, the one that it is shown (input) and the one that is right (output), each written from nothing as plain text.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...context import Context, Measured
from ...keys import key_for
from ...lab.cells import Spec
from ...spaces import Listed
from ...statistics.logit_weights import logit_weights
from ...supports import cipher_language as language
from ...supports.cipher_language import LEVELS, TASKS, WORDS
from ...tasks import Ciphers
from ...tasks.sequences.cipher_sampler import as_rows, shares_of_shifts
from ...training import EVERY_LAYER, Items, Trained, evaluate
from ...trials import Trial
from ...trials import measure as measure_trial
from ...trials.measure import row
from ...trials.panel_decodability import WIDEST

LAWS = ("zipf", "web")  # by which shifts differ
DIRECTIONS = ("decode", "encode")
#: what the fit joins, in this order
NUMBERS = ("frequency", "output", "input")
SAMPLED = 512  # trained ciphers that are asked about, as common as they are in training
SHOWN = 4  # wrong answers that are kept
#: shifts by how common they are, from the commonest on: between those that every net learns and the rarer half
COMMON, MIDDLE = 3, (3, 12)


class CipherTests(NamedTuple):
    """Every test of a cipher: its row of the list, and where it stands."""

    rows: np.ndarray  # (N, 1) combinations
    decodes: np.ndarray  # (N,) whether it is to be decoded
    shift: np.ndarray  # (N,) 1 to 25
    level: np.ndarray  # (N,) a place in LEVELS
    shown: np.ndarray  # (N, 27) letters that are read
    wanted: np.ndarray  # (N, 27) letters that are right by the rules of ciphers


def measure(spec: Spec, context: Context) -> Measured:
    """Trains a net on a corpus of the seed's own, asks it, and fits what makes an answer right."""
    data = spec["trial"]
    own = data["seed"] if spec["options"]["corpus"] == "of each seed" else 0
    trial = Trial.from_json(data | {"world": data["world"] | {"space": data["world"]["space"] | {"seed": own}}})

    def more(run: Trained, asked: Items | None) -> Measured:
        return asked_of(run, spec["options"]["law"], {name: shares_of_shifts(name, own) for name in LAWS})

    return measure_trial(trial, context, more=more)


def asked_of(run: Trained, named: str, laws: dict[str, np.ndarray]) -> Measured:
    """Readings of a net: exact match by cipher and level, of the smaller tasks, and the joint fit.

    Args:
        run: what was trained.
        named: the law whose frequencies the fit takes: that of the corpus, or where all are alike the usual one.
        laws: how common each shift is by each law, in the order of this corpus.
    """
    law = laws[named]
    net, step, key = run.nets[0], run.recipe.steps, key_for("held_out/each", run.members[0].seed)
    tests = cipher_tests(run)
    right = evaluate(net, run.task, tests.rows, key=key, by="forced").by_combination("exact")
    rows = _group_rows(tests, right, step) + _small_rows(run, step)
    rows.append(row("score", "test", "exact", _trained_share(run), step=step))
    output, question = np.split(plain_nats(net, np.concatenate([tests.wanted, tests.shown])), 2)
    numbers = np.stack([np.log(law)[tests.shift - 1], output, question], axis=1)
    found = logit_weights(numbers, right)
    for place, name in enumerate(NUMBERS):
        for end in ("value", "low", "high"):
            rows.append(row("fit", "held_out", name, float(getattr(found, end)[place]), group=end, step=step))
    rows += _nats_rows(tests, output, step)
    for name, shares in laws.items():
        rows += [row("law", "train", name, float(v), group=str(shift + 1), step=step) for shift, v in enumerate(shares)]
    return Measured(rows, {"mistakes": _mistakes(run, tests, right, law)})


def cipher_tests(run: Trained) -> CipherTests:
    """The held-out texts of ciphers."""
    rows = run.support.held_out.combinations()
    texts = run.support.space.elements(rows)
    cipher = (texts[:, 0] >= TASKS.index("decode-1")) & (texts[:, 0] <= TASKS.index("encode-25"))
    rows, texts = rows[cipher], texts[cipher]
    decodes, shift = texts[:, 0] < TASKS.index("encode-1"), language.shift_of(texts[:, 0])
    plain = language.sentence_of(texts)[:, : language.LENGTH]
    hidden = language.shifted(plain, shift[:, None])
    shown, wanted = (np.where(decodes[:, None], *pair) for pair in ((hidden, plain), (plain, hidden)))
    return CipherTests(rows, decodes, shift, language.level_of(plain), shown, wanted)


def plain_nats(net: Any, letters: np.ndarray) -> np.ndarray:
    """(N,) log-probability of each text, as the net writes plain texts from nothing."""
    texts, back = np.unique(letters, axis=0, return_inverse=True)
    space = Listed(as_rows(np.zeros(len(texts), int), texts, letters.shape[1]), WORDS)
    plain = Ciphers(space, plain="written")
    found = evaluate(net, plain, space.enumerate(), key=key_for("held_out/each", 0), by="likelihood")
    return found.statistics["nats"][back.ravel()]


def _group_rows(tests: CipherTests, right: np.ndarray, step: int) -> list[dict[str, Any]]:
    """Exact match of all tests, and by direction, shift and level."""
    rows = [row("score", "held_out", "exact", float(right.mean()), step=step) | {"asked": True}]
    for decodes, direction in zip((True, False), DIRECTIONS, strict=True):
        for shift in language.SHIFTS:
            for place, level in enumerate(LEVELS):
                chosen = (tests.decodes == decodes) & (tests.shift == shift) & (tests.level == place)
                group = f"{direction}-{shift} {level}"
                rows.append(row("score", "held_out", "exact", float(right[chosen].mean()), group=group, step=step))
    return [one | {"asked": bool(one.get("asked"))} for one in rows]


def _small_rows(run: Trained, step: int) -> list[dict[str, Any]]:
    """Exact match of each of the smaller tasks."""
    found = []
    for task in TASKS[TASKS.index(language.SORT) :]:
        rows = run.support.group(task).combinations()
        right = evaluate(run.nets[0], run.task, rows, key=key_for("held_out/each", 0), by="forced")
        value = float(right.by_combination("exact").mean())
        found.append(row("score", "held_out", "exact", value, group=task, step=step) | {"asked": False})
    return found


def _trained_share(run: Trained) -> float:
    """Exact match of trained ciphers, as common as they are in training."""
    ranks = np.asarray(run.support.space.rank(run.support.train.combinations()))
    task = run.support.space.elements(run.support.space.unrank(ranks))[:, 0]
    ciphers = ranks[(task >= TASKS.index("decode-1")) & (task <= TASKS.index("encode-25"))]
    chosen = np.random.default_rng(run.members[0].seed).choice(ciphers, min(SAMPLED, len(ciphers)), replace=False)
    rows = run.support.space.unrank(np.sort(chosen))
    asked = evaluate(run.nets[0], run.task, rows, key=key_for("test", run.members[0].seed), by="forced")
    return float(asked.by_combination("exact").mean())


def _nats_rows(tests: CipherTests, nats: np.ndarray, step: int) -> list[dict[str, Any]]:
    """Mean log-probability of right answers, by direction and level."""
    found = []
    for decodes, direction in zip((True, False), DIRECTIONS, strict=True):
        for place, level in enumerate(LEVELS):
            mean = float(nats[(tests.decodes == decodes) & (tests.level == place)].mean())
            found.append(row("nats", "held_out", "output", mean, group=f"{direction} {level}", step=step))
    return found


def _mistakes(run: Trained, tests: CipherTests, right: np.ndarray, law: np.ndarray) -> list[dict[str, str]]:
    """Wrong answers on the commonest shifts, improbable sentences first, with truth and answer."""
    common = np.isin(tests.shift, 1 + np.argsort(-law)[:COMMON]) & (right < 1)
    order = np.argsort(-tests.level[common], kind="stable")[:SHOWN]
    rows = tests.rows[common][order]
    if not len(rows):
        return []
    # with all layers, as the panel asks it: one program serves both
    layers: dict[str, Any] = {"trace": [EVERY_LAYER], "widest": WIDEST}
    asked = evaluate(run.nets[0], run.task, rows, key=key_for("held_out/each", 0), keep=["answer"], **layers)
    task = run.task
    assert isinstance(task, Ciphers)
    said = [task.said(answer) for answer in asked.kept["answer"]]
    return [
        {"text": task.text(at), "truth": task.meaning(at), "said": answer}
        for at, answer in zip(rows, said, strict=True)
    ]
