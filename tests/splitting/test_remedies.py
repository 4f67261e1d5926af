"""What a refusal of a split proposes is done here, and splits the table."""

from __future__ import annotations

import shlex

import numpy as np
import pandas
import pytest

import recombine as rc
from recombine.splitting import DESIGNS
from recombine.splitting.remedies import OF_ONE_FACTOR


def table(*columns: str) -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    levels = {"color": list("xyzw"), "the shape": ["a box", "b, c", "d"], "size": list("ij")}
    whole = pandas.DataFrame({name: rng.choice(own, 400) for name, own in levels.items()})
    return whole[list(columns)].assign(n=np.arange(400))


def refusal(frame: pandas.DataFrame, **options) -> str:
    with pytest.raises(rc.UserError) as refused:
        rc.split(frame, **options)
    text = str(refused.value)
    assert "\n" not in text and len(text) < 400
    return text


def done(frame: pandas.DataFrame, text: str, **options) -> rc.splitting.Split:
    """The split that a refusal proposes in words of the command line."""
    words = shlex.split(text[text.index("--factors" if "--factors" in text else "--design") :])
    given = dict(zip((word.removeprefix("--") for word in words[::2]), words[1::2], strict=True))
    elements = {"elements": [given.pop("elements")]} if "elements" in given else {}
    return rc.split(frame, **(options | given | elements))


@pytest.mark.parametrize("design", [design for design in DESIGNS if design not in OF_ONE_FACTOR])
def test_one_factor_is_refused_with_a_second_one_that_would_do(design):
    frame, options = table("color", "the shape", "size"), {"design": design, "validation": 0, "test": 0}
    options |= {"atoms": 0.6} if design == "divergence" else {}
    text = refusal(frame, factors="color", **options)
    if "--design" in text:
        options = {"validation": 0, "test": 0}
    parts = done(frame, text, **({"factors": "color"} | options))
    assert "'color'" in text and parts.rows["held_out"] and parts.factors[0] == "color"
    if design in ("random", "pairs", "popular", "disconnected", "orthotope"):  # any two factors of this table
        assert parts.factors == ("color", "the shape")


@pytest.mark.parametrize("design", ["random", "orthotope"])
def test_one_factor_of_a_table_that_has_no_other_is_held_out_by_levels(design):
    frame = table("color")
    text = refusal(frame, factors="color", design=design)
    parts = done(frame, text, factors="color")
    assert parts.certificate.untrained and parts.rows["held_out"]
    assert "'color'" in refusal(frame, design=design), "it was proposed, as there is no other"


@pytest.mark.parametrize("design", OF_ONE_FACTOR)
def test_a_design_that_can_hold_out_levels_of_one_factor_does(design):
    assert rc.split(table("color").assign(color=lambda f: f["n"] % 5), "color", design=design).certificate.held_out


def test_one_factor_of_one_level_has_no_remedy_but_another_table():
    assert "a table with two factors" in refusal(table("color").assign(color="x"), factors="color")


def test_a_factor_as_group_is_held_out_by_its_levels_where_groups_hang_together():
    frame = table("color", "the shape", "size")
    for factors, group in (("color,size", "color"), ("color,the shape,size", "the shape"), ("color", "color")):
        text = refusal(frame, factors=factors, group=group)
        assert f"'{group}'" in text and "--design missing" in text
        parts = done(frame, text, factors=factors)
        assert not set(parts["train"][group]) & set(parts["held_out"][group])


def test_a_factor_as_group_is_left_out_of_the_factors_where_that_splits():
    frame = table("color", "size")
    frame["place"] = frame["color"] + (frame["n"] % 5).astype(str)
    number = (frame["n"] // 5 % 3).astype(str)
    frame["drive"] = frame["size"] + frame["place"] + number  # three drives per combination
    text = refusal(frame, factors="color,size,place,drive", group="drive", held_out=0.1)
    assert "--factors color,size,place" in text
    parts = done(frame, text, group="drive", held_out=0.1)
    assert parts.factors == ("color", "size", "place")
    assert not set(parts["train"]["drive"]) & set(parts["held_out"]["drive"])
