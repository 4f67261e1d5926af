"""`rc.split`: what every split of a table must be, whatever the table, and what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.splitting import DESIGNS, SETS
from recombine.supports import divergences

few = settings(deadline=None, max_examples=40)
FACTORS = "weather,light,road,vehicle"


def table(seed=0, rows=400, levels=(4, 3, 5), kept=0.8, groups=None) -> pandas.DataFrame:
    """Random rows over some of the combinations of a few factors."""
    rng = np.random.default_rng(seed)
    there = rng.random(levels) < kept
    cells = np.argwhere(there)
    drawn = cells[rng.integers(len(cells), size=rows)]
    found = pandas.DataFrame({f"f{i}": [f"v{v}" for v in drawn[:, i]] for i in range(len(levels))})
    found["n"] = np.arange(rows)
    if groups:
        found["group"] = groups(drawn, rng)
    return found


def combinations(frame, factors) -> set[tuple[str, ...]]:
    return set(map(tuple, frame[factors].astype(str).to_numpy().tolist()))


# -- what every split is ----------------------------------------------------------------------------------------------
@few
@given(st.integers(0, 10**6), st.sampled_from(DESIGNS), st.sampled_from([0.1, 0.2, 0.4]), st.booleans())
def test_held_out_combinations_are_nowhere_else_and_no_row_is_lost(seed, design, share, gaps):
    frame = table(seed, levels=(4, 3, 5) if seed % 2 else (6, 6))
    factors = [name for name in frame if name.startswith("f")]
    if gaps:
        frame.loc[seed % 7 :: 11, "f1"] = None
    options = {"atoms": 0.5} if design == "divergence" else {}
    if design not in ("disconnected", "stair", "l-shape", "cross-arms", "diagonal"):
        options["held_out"] = share
    try:
        parts = rc.split(frame, factors, design=design, seed=seed, validation=0.05, test=0.05, **options)
    except rc.UserError as refusal:  # too few rows of a combination to set any apart, or no such shape here
        assert "\n" not in str(refusal) and len(str(refusal)) < 400
        return
    whole = frame[frame["f1"].notna()]
    sets = {name: parts[name] for name in SETS}
    taken = sorted(n for one in (*sets.values(), parts["left_out"]) for n in one["n"])
    assert taken == frame["n"].tolist()
    assert parts["left_out"]["n"].tolist() == frame[frame["f1"].isna()]["n"].tolist()
    for one in sets.values():
        assert one["n"].is_monotonic_increasing  # row order is kept
        pandas.testing.assert_frame_equal(one, frame.loc[one.index])
    held = combinations(sets["held_out"], factors)
    trained = combinations(sets["train"], factors)
    assert held and trained and not held & trained
    assert held | trained == combinations(whole, factors)
    for name in ("validation", "test"):
        assert combinations(sets[name], factors) <= trained  # each keeps a row to train on
    assert parts.certificate.train == len(trained) and parts.certificate.held_out == len(held)
    if design in ("random", "pairs", "divergence"):
        assert parts.certificate.compositional


@pytest.mark.parametrize("design", ["random", "pairs", "divergence", "popular", "unpopular"])
def test_the_share_that_is_asked_is_held_out(design):
    frame = table(levels=(5, 5, 4), kept=1.1, rows=3000)
    options = {"atoms": 0.1} if design == "divergence" else {}
    parts = rc.split(frame, "f0,f1,f2", design=design, held_out=0.3, **options)
    share = parts.certificate.held_out / parts.support.space.size
    assert share == 0.3 if design != "pairs" else 0.2 < share <= 0.3
    rows = parts.rows
    known = sum(rows[name] for name in SETS[:3])
    assert rows["validation"] == rows["test"] == round(0.1 * known)


def test_the_certificate_counts_rows_and_reports_both_divergences():
    frame = table(levels=(4, 4, 3), rows=900)
    parts = rc.split(frame, "f0,f1,f2", design="divergence", held_out=0.2, atoms=0.05)
    known = pandas.concat([parts[name] for name in SETS[:3]])
    space = rc.Product(**{f"f{i}": [f"v{v}" for v in range(n)] for i, n in enumerate((4, 4, 3))})

    def coded(rows):
        return np.stack([rows[f"f{i}"].str[1:].astype(int) for i in range(3)], axis=1)

    found = divergences(space, coded(known), coded(parts["held_out"]))
    assert parts.certificate.atom_divergence == pytest.approx(found.atoms) and found.atoms <= 0.05
    assert parts.certificate.compound_divergence == pytest.approx(found.compounds)
    random = rc.split(frame, "f0,f1,f2", held_out=0.2)
    assert random.certificate.compound_divergence < found.compounds


def test_rare_levels_are_trained_where_no_plain_draw_would_train_them():
    rare = pandas.DataFrame({"a": [f"r{i}" for i in range(60)], "b": ["x"] * 60})
    common = pandas.DataFrame({"a": ["p", "q"] * 40, "b": np.repeat(list("xyzw"), 20)})
    frame = pandas.concat([rare, common], ignore_index=True)
    parts = rc.split(frame, "a,b", held_out=0.04, validation=0, test=0)
    assert parts.certificate.compositional and parts.certificate.held_out == int(0.04 * parts.support.space.size)
    with pytest.raises(rc.UserError) as refusal:
        rc.split(frame, "a,b", held_out=0.5, validation=0, test=0)
    near = float(re.search(r"held_out=([\d.]+)", str(refusal.value))[1])  # type: ignore[index]
    assert rc.split(frame, "a,b", held_out=near, validation=0, test=0).certificate.compositional


def test_the_same_seed_gives_the_same_split_and_another_one_another():
    frame = table()
    first, again, other = (rc.split(frame, "f0,f1,f2", seed=seed) for seed in (1, 1, 2))
    assert (first.sets == again.sets).all() and (first.sets != other.sets).any()


def test_shapes_take_the_setting_whose_share_is_nearest_and_say_so():
    frame = table(levels=(4, 3, 5), kept=1.1, rows=2000)
    parts = rc.split(frame, "f0,f1,f2", design="missing", held_out=0.3)
    assert parts.support.settings["elements"][0].startswith("f1=")  # a third; a quarter and a fifth are farther
    assert any("0.333" in note for note in parts.notes)
    named = rc.split(frame, "f0,f1,f2", design="missing", elements=["f2=v4"])
    assert combinations(named["held_out"], ["f2"]) == {("v4",)} and named.certificate.untrained == ("f2=v4",)
    pair = rc.split(frame, "f0,f1,f2", design="pairs", pairs=["f0=v1 & f1=v2"])
    assert combinations(pair["held_out"], ["f0", "f1"]) == {("v1", "v2")}


# -- groups -----------------------------------------------------------------------------------------------------------
def separable(drawn, rng):
    """Groups of rows whose combinations agree in the first factor."""
    return [f"g{row[0]}-{n}" for row, n in zip(drawn, rng.integers(30, size=len(drawn)), strict=True)]


def test_no_group_is_in_two_sets():
    frame = table(
        rows=3000,
        levels=(12, 3),
        kept=1.1,
        groups=lambda drawn, rng: [f"g{a}-{b % 3}-{n}" for (a, b), n in zip(drawn, rng.integers(9, size=len(drawn)))],
    )
    for design, options in (("random", {}), ("divergence", {"atoms": 0.3})):
        parts = rc.split(frame, "f0,f1", design=design, group="group", held_out=0.25, **options)
        of_set = {name: set(parts[name]["group"]) for name in SETS}
        for a in SETS:
            for b in SETS:
                assert a == b or not of_set[a] & of_set[b], (design, a, b)
        assert parts.rows["validation"] and parts.rows["test"]


def test_combinations_that_share_a_group_are_held_out_together():
    frame = table(rows=2000, levels=(10, 4), kept=1.1, groups=separable)
    with pytest.raises(rc.UserError) as refusal:  # a group has all of a level: none can be held out and trained at once
        rc.split(frame, "f0,f1", group="group", held_out=0.3)
    assert "needed" in str(refusal.value) or "cannot be held out" in str(refusal.value)
    parts = rc.split(frame, "f0,f1", design="missing", elements=["f0=v3"], group="group")
    assert not set(parts["held_out"]["group"]) & set(parts["train"]["group"])


def test_rows_without_a_group_are_groups_of_their_own():
    frame = table(rows=500, levels=(4, 4), kept=1.1)
    frame["group"] = None
    frame.loc[::50, "group"] = "one of many"
    with pytest.raises(rc.UserError, match="'one of many'"):
        rc.split(
            frame[["f0", "f1", "group"]].assign(group=lambda f: f["group"].fillna("one of many")),
            "f0,f1",
            group="group",
        )
    frame["group"] = None
    frame.loc[:0, "group"] = "alone"
    parts = rc.split(frame, "f0,f1", group="group")
    assert parts.rows["held_out"] and parts.rows["validation"]


def test_a_design_that_cuts_a_group_names_it_and_those_that_do_not():
    frame = table(rows=600, levels=(6, 6), kept=1.1)
    frame["group"] = frame["f0"] + frame["f1"]
    frame.loc[frame["group"].isin(["v0v0", "v1v1"]), "group"] = "both"
    with pytest.raises(rc.UserError) as refusal:
        rc.split(frame, "f0,f1", design="missing", elements=["f0=v0"], group="group")
    assert all(word in str(refusal.value) for word in ("'both'", "'missing'", "random and divergence"))
    parts = rc.split(frame, "f0,f1", group="group", held_out=0.2, validation=0, test=0)
    assert len({parts.sets[n] for n in frame.index[frame["group"] == "both"]}) == 1


# -- what is refused --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options, words",
    [
        ({"held_out": 0}, ["held_out=0", "nearest possible is held_out=0."]),
        ({"held_out": 1}, ["held_out=1", "leaves none to train on", "nearest possible is held_out=0.9"]),
        ({"held_out": 1.5}, ["held_out=1.5", "nearest possible"]),
        ({"held_out": float("nan")}, ["held_out=nan", "number"]),
        ({"held_out": "much"}, ["held_out='much'", "number"]),
        ({"design": "missing", "held_out": 0}, ["held_out=0", "nearest possible"]),
        ({"design": "missing", "elements": [f"f1=v{i}" for i in range(3)]}, ["f1=v0, f1=v1, f1=v2", "leave out fewer"]),
        ({"design": "missing", "elements": ["f1=v9"]}, ["'f1=v9'", "f1=v"]),
        ({"design": "missing", "elements": ["f1=v1"], "held_out": 0.2}, ["elements=['f1=v1']", "held_out=0.2"]),
        ({"design": "disconnected", "held_out": 0.2}, ["'disconnected'", "held_out=0.2"]),
        ({"design": "missing", "atoms": 0.1}, ["atoms=", "'missing'", "elements"]),
        ({"design": "rondom"}, ["'rondom'", "'random'"]),
        ({"design": "implicit"}, ["'implicit'", "random"]),
        ({"validation": 0.5, "test": 0.5}, ["validation=0.5", "test=0.5", "less than 1"]),
        ({"validation": -0.1}, ["validation=-0.1", "at least 0"]),
        ({"validation": 0.49, "test": 0.5}, ["validation=0.49", "keeps one row", "at most"]),
        ({"group": "drive"}, ["'drive'", "group"]),
        ({"group": 3}, ["group=3"]),
        ({"seed": -1}, ["seed=-1", "at least 0"]),
        ({"factors": "f0,f9"}, ["'f9'", "'f0'"]),
        ({"factors": "f0,f1,n"}, ["'n'", "id"]),
    ],
)
def test_what_cannot_be_split_is_refused_by_value_and_remedy(options, words):
    frame = table(rows=150, levels=(4, 3, 5))
    with pytest.raises(rc.UserError) as refusal:
        rc.split(frame, **{"factors": "f0,f1,f2", **options})
    text = str(refusal.value)
    assert all(word in text for word in words), text
    assert "\n" not in text and len(text) < 400


def test_a_table_of_one_combination_is_refused():
    with pytest.raises(rc.UserError, match="one combination"):
        rc.split({"a": ["x"] * 5, "b": ["y"] * 5}, "a,b")


def test_shares_that_cannot_be_set_apart_are_refused_with_those_that_can():
    frame = table(rows=150, levels=(4, 3, 5))
    with pytest.raises(rc.UserError) as refusal:
        rc.split(frame, "f0,f1,f2", validation=0.4, test=0.5)
    most = float(re.search(r"add up to ([\d.]+)", str(refusal.value))[1])  # type: ignore[index]
    rc.split(frame, "f0,f1,f2", validation=most / 2 - 0.01, test=most / 2 - 0.01)


# -- files ------------------------------------------------------------------------------------------------------------
def test_files_are_those_rows_as_they_came_and_the_certificate_knows_them(tmp_path):
    path = rc.example("drives")
    parts = rc.split(path, FACTORS, design="pairs")
    found = parts.write(tmp_path / "out")
    whole = path.read_text().splitlines()
    for name in SETS:
        lines = found[name].read_text().splitlines()
        assert lines[0] == whole[0]
        assert lines[1:] == [line for line, own in zip(whole[1:], parts.where(name), strict=True) if own]
    certificate = json.loads(found["certificate"].read_text())
    assert certificate["kind"] == "recombine-split" and certificate["rows"] == parts.rows
    assert set(certificate["files"]) == {"train.csv", "validation.csv", "test.csv", "held_out.csv", "certificate.txt"}
    assert certificate["certificate"]["compound_divergence"] == parts.certificate.compound_divergence
    assert found["words"].read_text() == f"{parts}\n"


def test_a_file_has_no_rows_in_memory_and_says_where_they_are():
    parts = rc.split(rc.example("drives"), FACTORS)
    with pytest.raises(rc.UserError, match="write"):
        parts["train"]
    assert parts.where("train").sum() == parts.rows["train"]
    with pytest.raises(rc.UserError, match="'trian'.*'train'"):
        parts.where("trian")


def test_rows_left_out_have_a_file_of_their_own(tmp_path):
    frame = table(rows=300)
    frame.loc[::10, "f2"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    parts = rc.split(tmp_path / "t.csv", "f0,f1,f2")
    found = parts.write(tmp_path / "out")
    assert len(found["left_out"].read_text().splitlines()) == 31 and any(
        "30 of 300 rows" in note for note in parts.notes
    )
    assert "30 rows lack a factor" in str(parts)


def test_sets_that_were_not_asked_for_have_no_file(tmp_path):
    found = rc.split(rc.example("drives"), FACTORS, validation=0, test=0).write(tmp_path / "out")
    assert set(found) == {"train", "held_out", "certificate", "words"}


def test_what_is_copied_is_read_again_and_a_difference_is_refused(tmp_path, monkeypatch):
    parts = rc.split(rc.example("drives"), FACTORS)
    from recombine.splitting import split_result

    def wrong(source, chosen, paths):
        return real(source, np.roll(chosen, 1), paths)

    real = split_result.copy_rows
    monkeypatch.setattr(split_result, "copy_rows", wrong)
    with pytest.raises(rc.UserError, match="other rows than it should have"):
        parts.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_labels_of_strangers_are_shown_and_do_not_act(tmp_path):
    evil = "<script>alert(1)</script>"
    frame = table(rows=300, levels=(3, 3)).rename(columns={"f0": evil})
    frame[evil] = frame[evil].map({"v0": "<b>", "v1": "\x1b[31m", "v2": "&"})
    parts = rc.split(frame, [evil, "f1"])
    page = rc.report.render_split(parts)
    for shown in (page, parts._repr_html_(), parts.certificate._repr_html_()):
        assert "<script>alert" not in shown and "<b>=" not in shown and "\x1b" not in shown
    assert "\x1b" not in str(parts)
    assert "default-src &#39;none&#39;" in page


def test_the_page_has_a_map_where_it_can_be_drawn():
    small = rc.report.render_split(rc.split(table(rows=400), "f0,f1,f2"))
    assert "Map of" in small and "where there is neither, the table has no row" in small
    wide = table(rows=12_000, levels=(20, 20, 20), kept=0.3)
    large = rc.report.render_split(rc.split(wide, "f0,f1,f2", held_out=0.05, validation=0, test=0))
    assert "Map of" not in large and "too many to draw" in large
