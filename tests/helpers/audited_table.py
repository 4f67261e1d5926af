"""A table with hostile labels, and its audit."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import recombine as rc

EVIL = [
    "<script>alert(1)</script>",
    "=cmd|'/c calc'!A1",
    '"><img src=x onerror=alert(1)>',
    "\x1b[31mred\x1b[0m",
    "a‮b",
    "{{ 7*7 }}",
]


NAME = "<b>f=1</b>"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 1500
    frame = pandas.DataFrame(
        {NAME: rng.choice(EVIL, n), "light": rng.choice(["day", "night"], n), "road": rng.choice(list("abcdef"), n)}
    )
    known = rng.random((6, 2, 6)) < 0.5
    at = (frame[NAME].map(EVIL.index), (frame.light == "night").astype(int), frame.road.map("abcdef".index))
    hard = (frame[NAME] == EVIL[0]) & (frame.light == "night")
    frame["split"] = np.where(known[at] & ~hard & (rng.random(n) < 0.7), "train", "test")
    frame["right"] = (~hard).astype(int)
    path = tmp_path_factory.mktemp("secret-folder") / "data <i>.csv"
    frame.to_csv(path, index=False)
    layers = path.parent / "layers.npz"
    np.savez(layers, **{"<u>layer</u>": rng.normal(size=(n, 8))})
    return path, layers


@pytest.fixture(scope="module")
def audit(table):
    return rc.audit(table[0], factors=[NAME, "light", "road"], split="split", outcome="right", activations=table[1])
