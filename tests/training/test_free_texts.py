"""What a net says to texts that no list has: the same as to those that one has."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import recombine as rc
from recombine import UserError
from recombine.tasks import Scan, scan_commands
from recombine.training.free_texts import answers_to


@pytest.fixture(scope="module")
def world():
    return Scan(scan_commands(sentences=1))


@pytest.mark.parametrize("name", ["lstm", "seq2seq-transformer", "decoder-transformer"])
def test_an_answer_does_not_depend_on_how_wide_a_text_is_padded(name, world):
    sizes = {"width": 8, "depth": 1} | ({} if name == "lstm" else {"heads": 2, "feedforward": 16})
    net = rc.nets.initialize(rc.nets.registry[name](**sizes), world, jax.random.key(0), "float32")
    rows = np.arange(6)[:, None]
    items = rc.evaluate(net, world, rows, key=jax.random.key(0), keep=["answer"])
    wanted = [tuple(world.said(answer).split()) for answer in items.kept["answer"]]
    assert answers_to(net, world, [tuple(world.text(row).split()) for row in rows]) == wanted


def test_longer_texts_than_those_of_the_list_are_read(world):
    net = rc.nets.initialize(rc.nets.LSTM(width=8, depth=1), world, jax.random.key(0), "float32")
    assert len(answers_to(net, world, [("jump",) * 40, ("walk",)])) == 2 and answers_to(net, world, []) == []
    with pytest.raises(UserError, match="'hop'"):
        answers_to(net, world, [("hop",)])
    with pytest.raises(UserError, match="writes no sequences"):
        answers_to(object(), world, [("jump",)])  # type: ignore[arg-type]
