"""embers: what is asked of a net, and what is read off the table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pandas
import pytest

from recombine.lab.study_table import Missing, PreconditionFailed, StudyTable
from recombine.nets import DecoderTransformer
from recombine.studies import registry
from recombine.studies.mccoy2024 import embers_readings as read
from recombine.studies.mccoy2024 import embers_texts as shown
from recombine.studies.mccoy2024.embers_measure import cipher_tests, plain_nats
from recombine.supports import cipher_language as language
from recombine.supports import ciphers
from recombine.tasks import Ciphers

LEVELS = language.LEVELS


@pytest.fixture(scope="module")
def run():
    world = Ciphers(Ciphers.space_from(items=400, each=2, longest=27), plain="written")
    return SimpleNamespace(task=world, support=ciphers(world.space))


# -- what is asked --------------------------------------------------------------------------------------------------


def test_every_held_out_cipher_is_a_test_and_its_two_texts_are_each_other_s_cipher(run):
    tests = cipher_tests(run)
    assert len(tests.rows) == 25 * 2 * 3 * 2 and tests.decodes.mean() == 0.5
    assert np.bincount(tests.level).tolist() == [100, 100, 100]
    plain = np.where(tests.decodes[:, None], tests.wanted, tests.shown)
    cipher = np.where(tests.decodes[:, None], tests.shown, tests.wanted)
    assert (language.shifted(plain, tests.shift[:, None]) == cipher).all() and (plain != cipher).any(1).all()
    right = np.asarray(run.task.meanings)[tests.rows[:, 0], : language.LENGTH]
    assert (right - 1 == tests.wanted).all()  # word 0 of answers is their end


def test_a_plain_text_is_written_from_nothing_and_a_cipher_is_read(run):
    texts, asked = np.asarray(run.task.texts), run.support.space.elements(run.support.space.enumerate())
    plain = asked[:, 0] == language.TASKS.index("plain")
    assert (texts[plain, 1:] == -1).all() and (texts[~plain] == asked[~plain]).all()


def test_log_probabilities_are_those_of_each_text_in_its_place(run):
    letters = cipher_tests(run).wanted[[0, 7, 0, 150]]
    net = DecoderTransformer(width=8, depth=1, heads=2, feedforward=8, longest=28)
    built = net.build(run.task, jax.random.key(0), "float32")
    nats = plain_nats(built, letters)
    assert nats[0] == nats[2] and len(set(nats.tolist())) == 3 and (nats < 0).all()
    assert nats[1] == pytest.approx(plain_nats(built, letters[1:2])[0], rel=1e-4)


# -- what is read ---------------------------------------------------------------------------------------------------


def table(
    frequency: str = "zipf", trained: float = 0.8, size: str = "usual", **changed: float
) -> tuple[StudyTable, list[dict[str, Any]]]:
    """One trial: shift k is answered right in k % of cases at every level, but for what is changed, by group."""
    at = {"frequency": frequency, "size": size, "seed": 0, "stream": "held_out", "metric": "exact", "asked": False}
    rows = [at | {"reading": "score", "stream": "test", "group": "", "value": trained}]
    for direction in ("decode", "encode"):
        for shift in range(1, 26):
            for level in LEVELS:
                group = f"{direction}-{shift} {level}"
                value = changed.get(group.replace("-", "_").replace(" ", "_"), shift / 100)
                rows.append(at | {"reading": "score", "group": group, "value": value})
    for law, sign in (("zipf", 1), ("web", -1)):  # the commonest is 25 by one, and 1 by the other
        for shift in range(1, 26):
            share = {"reading": "law", "metric": law, "group": str(shift), "value": 13 + sign * (shift - 13)}
            rows.append(at | share)
    return StudyTable(pandas.DataFrame(rows), "exact"), rows


def test_the_correlation_is_that_of_decoding_with_the_law_of_the_corpus():
    assert read.with_frequency(table("zipf")[0]) == {"zipf, usual": pytest.approx(1)}
    assert read.with_frequency(table("web")[0]) == {"web, usual": pytest.approx(-1)}
    assert list(read.where_uniform(table("uniform")[0]).values()) == [pytest.approx(1), pytest.approx(-1)]
    with pytest.raises(Missing, match="zipf or web"):
        read.with_frequency(table("uniform")[0])
    with pytest.raises(PreconditionFailed, match="was not learned"):
        read.with_frequency(table("zipf", trained=0.3)[0])
    assert read.correlation(np.arange(25.0), np.full(25, 0.4)) == 0


def test_gaps_are_read_at_shifts_of_middle_frequency_only():
    middle = range(14, 23)  # the fourth commonest to the twelfth, where the commonest is 25
    inside = {f"decode_{shift}_high": shift / 100 + 0.3 for shift in middle}
    outside = {f"decode_{shift}_high": 1.0 for shift in (25, 24, 23, 1, 2, 13)}
    assert read.decode_gap(table(**inside, **outside)[0]) == {"zipf, usual": pytest.approx(0.3)}
    assert read.encode_gap(table(**inside)[0]) == {"zipf, usual": pytest.approx(0)}


def test_sizes_are_compared_within_the_same_frequencies():
    small, large = (
        table(size=name, **{f"decode_{s}_high": s / 100 + gap for s in range(14, 23)})[1]
        for name, gap in (("0.3M", 0.4), ("3M", 0.1))
    )
    assert read.larger_minus_smaller(StudyTable(pandas.DataFrame(small + large), "exact")) == pytest.approx(-0.3)
    with pytest.raises(PreconditionFailed, match="one size"):
        read.larger_minus_smaller(StudyTable(pandas.DataFrame(small), "exact"))


# -- what is shown --------------------------------------------------------------------------------------------------


def test_published_numbers_stand_beside_ours_with_a_mark_where_they_disagree():
    lines = shown.beside_published(
        {("commonest", "decode", "high"): 0.95, ("commonest", "encode", "low"): 0.06, ("task", "sort", ""): 0.8}
    ).splitlines()
    decode, encode, sort = (
        next(line for line in lines if line.startswith(name))
        for name in ("GPT-4 decode, high", "GPT-3.5 encode, low", "GPT-4 sort")
    )
    assert decode.split()[-3:] == ["0.510", "0.950", "≠"]
    assert encode.split()[-2:] == ["0.050", "0.060"] and sort.split()[-2:] == ["0.820", "0.800"]
    assert any(line.startswith("GPT-4 reverse-sort") and line.endswith("--") for line in lines)


def test_the_corpus_is_of_each_seed_where_seeds_are_compared():
    study = registry["embers"]
    for scale, corpus in (("smoke", "shared"), ("laptop", "of each seed"), ("night", "of each seed")):
        assert {spec["options"]["corpus"] for spec in study.grid(study.settings(scale), 1, checked=False)} == {corpus}
