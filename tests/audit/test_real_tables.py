"""Real tables with real models: what the audit says fails is added to training, and --before says whether it is cured.

Three tables that come with scikit-learn. Digits: two turned ones were never shown, and showing them cures that. Tumors:
a forest that sees two of thirty features fails where benign and malignant ones are of one size; more data help, and do
not cure. Diabetes: no patient with a body mass index above 28 was trained on, and no failure is shown: none is said.
"""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import recombine as rc
from recombine.report import render_audit

FACTORS = ["digit", "turn", "ink"]
GAPS = (("7", "90"), ("4", "180"))


def digits(collected: bool) -> pandas.DataFrame:
    """Digits in four turns and two inks, answered by the five nearest of those trained on; two pairs were not."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import KNeighborsClassifier

    data = load_digits()
    part = np.random.default_rng(0).permutation(len(data.images)) % 3  # known, asked about, and still to be collected
    turns = [(turn, ink) for turn in range(4) for ink in ("dark", "pale")]
    pixels = np.concatenate(
        [(np.rot90(data.images, turn, (1, 2)) * (1 if ink == "dark" else 0.5)).reshape(-1, 64) for turn, ink in turns]
    )
    frame = pandas.DataFrame(
        [(str(d), str(90 * turn), ink, f"{i} {turn} {ink}") for turn, ink in turns for i, d in enumerate(data.target)],
        columns=[*FACTORS, "id"],
    )
    side = np.tile(part, len(turns))
    hole = np.any([(frame.digit == digit) & (frame.turn == turn) for digit, turn in GAPS], axis=0)
    trained = ((side == 0) & ~hole) | (collected & (side == 2) & hole)
    model = KNeighborsClassifier(5).fit(pixels[trained], frame.digit[trained])
    frame["predicted"] = frame.digit  # of what was trained on nothing is asked
    frame.loc[side == 1, "predicted"] = model.predict(pixels[side == 1])
    frame["split"] = np.where(trained, "train", "test")
    return frame[trained | (side == 1)]


def tumors(known: int) -> pandas.DataFrame:
    """Tumors, each answered by a forest that saw so many others, and of them only radius and smoothness."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import KFold

    frame = load_breast_cancer(as_frame=True).frame
    frame["target"] = frame.target.map({0: "malignant", 1: "benign"})
    frame["predicted"], frame["id"] = "", [f"tumor {i}" for i in range(len(frame))]
    seen = frame[["mean radius", "mean smoothness"]].to_numpy()
    for train, test in KFold(5, shuffle=True, random_state=0).split(seen):
        model = RandomForestClassifier(50, random_state=0).fit(seen[train[:known]], frame.target[train[:known]])
        frame.loc[test, "predicted"] = model.predict(seen[test])
    return frame


def patients(collected: bool) -> pandas.DataFrame:
    """How far diabetes went in a year, foretold by a forest that saw no heavy patient until some are collected."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import RandomForestRegressor

    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame["sex"], frame["id"] = frame.sex.map({1.0: "one", 2.0: "two"}), [f"patient {i}" for i in range(len(frame))]
    half = np.random.default_rng(0).permutation(len(frame)) % 2 == 0
    trained = half & ((frame.bmi <= 28) | collected)
    seen = frame[["age", "bmi", "bp", "s5", "s6"]].to_numpy()
    model = RandomForestRegressor(60, random_state=0).fit(seen[trained], frame.target[trained])
    frame["abs_error"] = (model.predict(seen) - frame.target).abs()
    frame["split"] = np.where(trained, "train", "test")
    return frame[trained | ~half]


@pytest.fixture(scope="module")
def of_digits():
    options = {"label": "digit", "prediction": "predicted", "split": "split", "id": "id"}
    before = rc.audit(digits(False), FACTORS, **options)
    return before, rc.audit(digits(True), FACTORS, before=digits(False), **options)


def test_digits_that_were_never_shown_so_are_found(of_digits):
    before, _ = of_digits
    worst = before.findings[0]
    assert worst.rule == "unseen" and worst.rate > 0.6 and worst.combinations == 4  # two pairs in two inks
    assert {(one.combination["digit"], one.combination["turn"]) for one in before.next[:4]} == set(GAPS)
    assert "never trained" in before.headline
    table = before.table
    called = table[table.call == "fails"]
    assert set(zip(called.digit, called.turn, strict=True)) >= set(GAPS)


def test_and_once_they_are_shown_the_failure_is_cured_and_others_remain(of_digits):
    before, after = of_digits
    verdicts = {one.finding.words: one for one in after.changes.changes}
    cured = verdicts[before.findings[0].words]
    assert cured.verdict == "cured" and cured.change[1] > 0.5 and cured.after.right > 0.95
    assert cured.rows == cured.after.n == 246  # compared row by row
    assert after.changes.overall[1] > 0.02
    # threes and fives were never lacking, and nothing was done about them
    assert all(verdicts[f"'{digit}'"].verdict == "remains" for digit in "35" if f"'{digit}'" in verdicts)
    page = render_audit(after)
    assert '<section id="changes">' in page and "cured" in page


def test_where_tumors_overlap_more_data_help_and_do_not_cure():
    options = {"label": "target", "prediction": "predicted", "id": "id"}
    options["bin"] = {"mean radius": [11, 13, 15, 17], "mean texture": 3, "mean smoothness": 2}
    few, many = tumors(100), tumors(10_000)
    found = rc.audit(many, ["mean radius", "mean texture", "mean smoothness"], before=few, **options)
    (overlap,) = [one for one in found.changes.changes if one.finding.pattern == {"mean radius": "13 to under 15"}]
    assert overlap.verdict == "remains" and overlap.change[1] > 0 and overlap.others[2] < -0.05
    assert found.changes.overall[1] > 0 and found.changes.rows == 569


def test_where_no_failure_is_shown_none_is_said():
    options = {"outcome": "abs_error < 70", "split": "split", "id": "id"}
    options["bin"] = {"age": 3, "bmi": [22, 25, 28], "bp": 2}
    found = rc.audit(patients(True), ["sex", "age", "bmi", "bp"], before=patients(False), **options)
    assert found.findings == [] and found.changes.changes == []
    assert found.changes.overall[1] < 0 < found.changes.overall[2]
    assert "undecided" in found.changes.sentences()[0] and "No combination is shown" in found.headline
