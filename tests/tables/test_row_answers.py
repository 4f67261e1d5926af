"""Answers row by row: what the rows say is what their combinations say."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from recombine.audit.outcomes import evaluate
from recombine.tables import find_roles, open_source, read_combinations, reading_of
from recombine.tables.row_answers import answers_that_count, row_answers


@pytest.mark.parametrize("trained", ["train", "test"], ids=["both sides", "training rows only"])
def test_rows_add_up_to_what_combinations_say(trained):
    rng = np.random.default_rng(0)
    n = 400
    frame = pandas.DataFrame({"a": rng.choice(["x", "y'; --", "z"], n), "age": rng.integers(0, 90, n)})
    frame["split"] = np.where(rng.random(n) < 0.5, "train", trained)
    frame.loc[:30, "a"] = None
    frame["error"], frame["w"], frame["id"] = rng.random(n), rng.integers(0, 3, n), [f"r{i}" for i in range(n)]
    with open_source(frame) as source:
        roles = find_roles(source, split="split", outcome="error < .3", weight="w", id="id")
        observed, _ = read_combinations(source, ["a", "age"], roles=roles, reading=reading_of(bin={"age": 3}))
    with open_source(frame) as source:  # opened again: bins and levels are those that were read
        rows = row_answers(source, observed)
    assert (rows.at[:31] == -1).all() and list(rows.ids) == list(frame.id)
    assert (rows.right == (frame.error < 0.3)).all() and (rows.trained == (frame.split == "train")).all()
    counts = answers_that_count(rows, observed)
    evaluated = evaluate(observed)
    for values, known in ((rows.weight, evaluated.answers), (rows.weight * rows.right, evaluated.right)):
        summed = np.bincount(rows.at[counts], weights=values[counts], minlength=len(observed.rows))
        assert summed[evaluated.at] == pytest.approx(known) and summed.sum() == pytest.approx(known.sum())
