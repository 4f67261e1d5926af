"""The comparison with rivals: the tables they get hold what ours do, and they are judged by the same rule."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from recombine.audit.planted_worlds import world

PATH = Path(__file__).parents[2] / "docs" / "rivals" / "rivals.py"
spec = importlib.util.spec_from_file_location("rivals", PATH)
assert spec is not None and spec.loader is not None
rivals = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rivals)


def test_a_rival_gets_every_answer_and_is_judged_by_the_combinations_that_it_names():
    made = world("pair-pair", 0, combinations=500)
    given = rivals.as_json(made)
    assert len(given["rows"]) == made.answers.sum() and sum(given["wrong"]) == made.wrong.sum()
    assert given["causes"] == 2 and len(given["asked"]) == (made.answers == 0).sum()
    first, second = (dict(cause.pattern) for cause in made.causes)
    assert rivals.judged(made, [first, second]) == (2, 0)
    (factor, level), *_ = first.items()
    assert rivals.judged(made, [{str(factor): level}, second]) == (1, 1)  # a part is not the whole
    assert rivals.ranked(made, made.truth[made.answers == 0]) == 1
    assert rivals.ranked(made, np.zeros((made.answers == 0).sum())) == 0.5
