"""What strangers bring to audit and plan. Numbers are those of the list of faults to survive."""

from __future__ import annotations

import copy
import gzip
import importlib.resources
import json
import time
import zipfile

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

import recombine as rc
from recombine.audit import activations, factor_probes, load_prior, risk_model
from recombine.audit.features import FEATURES, Features
from recombine.audit.outcomes import _differ
from recombine.audit.seen import Seen
from recombine.files import foreign_arrays
from recombine.labels import thousands, told_apart
from recombine.planning.risks import Risks

ROWS = 60
A = np.array(list("xyz"))[np.arange(ROWS) % 3]
B = np.array(list("pq"))[np.arange(ROWS) // 3 % 2]


def refused(words, data, *arguments, **options):
    """One sentence, with these words in it."""
    with pytest.raises(rc.UserError) as caught:
        rc.audit(data, *arguments, **options)
    said = str(caught.value)
    assert "\n" not in said and len(said) < 400
    for word in words if isinstance(words, list) else [words]:
        assert word in said, said


# -- 13, 20: numbers --------------------------------------------------------------------------------------------------
def test_13_activations_of_any_size_are_read_alike():
    hot = np.eye(3)[np.arange(ROWS) % 3]
    for scale in (1e-300, 1e-20, 1.0, 1e30, 1e200):
        found = rc.audit({"a": A, "b": B}, "a,b", activations={"l": hot * scale}).apart
        assert found is not None and {r.factor: r.by_combination for r in found.readings}["a"] == 1.0, scale


def test_13_constant_activations_are_said_to_be():
    audit = rc.audit({"a": A, "b": B}, "a,b", activations={"l": np.ones((ROWS, 3))})
    assert audit.apart is not None and "could be probed" in audit.apart.sentences()[0]
    assert any("the same for every row" in note for note in audit.notes)


def test_20_a_level_that_was_not_fitted_is_never_read():
    """Two levels of one combination each; 49 rows per combination make sums that do not cancel to zero."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 49)[None]
    fold = np.repeat([0, 0, 1, 1], 49)
    read = factor_probes._read(rng.normal(size=(196, 5)), labels, np.full(196, 1 / 49), fold)
    assert set(read[0, fold == 0]) <= {2, 3} and set(read[0, fold == 1]) <= {0, 1}


# -- 17, 26: sizes ----------------------------------------------------------------------------------------------------
def test_17_pairs_that_cannot_be_counted_are_not_counted(monkeypatch):
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 4, 200).astype(str) for name in "abc"}
    table |= {"o": rng.integers(0, 2, 200), "s": rng.choice(["train", "test"], 200)}
    monkeypatch.setattr(Seen, "affordable", lambda self, strength: False)
    monkeypatch.setattr(Seen, "table", lambda self, place: pytest.fail("a table of tuples was made"))
    audit = rc.audit(table, "a,b,c", outcome="o", split="s")
    assert audit.outcomes is not None and not audit.outcomes.by_unseen_pairs and audit.outcomes.unseen.answers


def test_17_counts_beyond_reading_are_powers_of_ten():
    assert thousands(1_234_567) == "1,234,567" and thousands(10**100) == "about 10^100"
    rng = np.random.default_rng(0)
    wide = {f"f{i}": rng.integers(0, 9, 30).astype(str) for i in range(60)}
    with pytest.warns(UserWarning, match="60 factors make about 10"):
        assert "of about 10^" in str(rc.plan(wide, list(wide), budget=1))
    refused("201 factors", {f"f{i}": list("xy") for i in range(201)}, [f"f{i}" for i in range(201)])


def test_17_intervals_come_in_parts_and_are_those_of_every_draw(monkeypatch):
    prior = rc.audit.shipped_prior()
    assert prior is not None
    values = np.random.default_rng(0).random((50, len(prior.names)))
    drawn = np.stack([draw.probability(values) for draw in prior.draws])
    monkeypatch.setattr(risk_model, "_AT_ONCE", 7)
    np.testing.assert_allclose(prior._spread(values), np.quantile(drawn, [0.025, 0.975], axis=0), atol=1e-12)


def test_17_a_large_table_of_risks_is_not_gone_through_at_every_step(monkeypatch):
    monkeypatch.setattr("recombine.planning.risks._LISTED", 3)
    space = rc.Product(a=4, b=4)
    risks = Risks(space, {rank: (rank % 7) / 10 for rank in range(16)} | {5: float("nan")})
    assert space.rank(risks.pool(space.enumerate()[:0])).tolist() == [6, 13, 12]
    risks.add(space.unrank([6])[0])
    assert space.rank(risks.pool(space.enumerate()[:0])).tolist() == [6, 13, 12, 4]
    assert len(rc.plan(space, risk={rank: rank / 16 for rank in range(16)}, budget=16)) == 16


def test_26_a_wide_layer_is_projected_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    layer = activations.Layer("l", rng.normal(size=(20, 50)))
    monkeypatch.setattr(factor_probes, "MOST_FEATURES", 7)
    whole = layer.values @ (np.random.default_rng(1).standard_normal((50, 7)) / np.sqrt(7))
    monkeypatch.setattr(factor_probes, "_UNITS", 8)
    np.testing.assert_allclose(factor_probes._projected(layer, np.arange(20), np.random.default_rng(1)), whole)


def test_26_archives_that_unpack_to_too_much(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "many.npz", **{f"l{i}": np.zeros((1000, 10)) for i in range(5)})
    monkeypatch.setattr(foreign_arrays, "MOST_BYTES", 200_000)  # each of them fits, all of them do not
    with pytest.raises(rc.UserError, match="unpacks to"):
        activations.load_layers([tmp_path / "many.npz"])
    np.save(tmp_path / "large.npy", np.zeros((1000, 100)))  # what stays on the disk may be larger
    assert activations.load_layers([tmp_path / "large.npy"])[0].values.shape == (1000, 100)


def test_26_bombs_and_keys_without_end(tmp_path):
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b\nx," + b"y" * 30_000_000 + b"\nx,y\n", 1))
    refused("longer than a line", tmp_path / "bomb.csv.gz", "a,b")
    (tmp_path / "keys.jsonl").write_text(json.dumps({f"k{i}": 1 for i in range(20_000)}) + "\n")
    refused("20,000 columns", tmp_path / "keys.jsonl")


# -- 22: many comparisons ---------------------------------------------------------------------------------------------
def test_22_a_level_is_called_weak_by_chance_as_rarely_as_said():
    """Five combinations that are all wrong by chance have no variance; that is no certainty."""
    rng = np.random.default_rng(0)
    for few, many, rate in ((5, 100, 0.3), (6, 200, 0.9), (20, 100, 0.05)):
        shares = (rng.random((500, few + many)) < rate).astype(float)
        p = np.array([_differ(row[:few], row[few:]) for row in shares])
        assert (p < 0.05).mean() < 0.05 and (p < 0.001).mean() < 0.007
    shares = rng.binomial(20, rng.beta(3, 7, (200, 110))) / 20
    assert (np.array([_differ(row[:10], row[10:]) for row in shares]) < 0.05).mean() < 0.07


def test_22_a_level_that_is_weak_is_found():
    right = np.ones(40)
    assert _differ(np.zeros(10), right) == pytest.approx(2 / 10272278170)  # 2 / C(50, 10): Fisher's test by hand
    assert _differ(np.zeros(5), np.tile([0.0, 1.0], 10)) == pytest.approx(2 * 3003 / 53130)  # 2 C(15, 5) / C(25, 5)
    assert _differ(right, right) == 1.0 and np.isnan(_differ(right[:4], right))
    rng = np.random.default_rng(0)
    assert _differ(rng.normal(0.6, 0.02, 20).clip(0, 1), rng.normal(0.7, 0.02, 200).clip(0, 1)) < 1e-6


# -- 21: beyond its support -------------------------------------------------------------------------------------------
def test_21_the_prior_is_never_sure_of_a_family_it_has_not_seen():
    rng = np.random.default_rng(0)
    seen = {"a": rng.integers(0, 5, 12).astype(str), "b": rng.integers(0, 5, 12).astype(str), "c": list("xy") * 6}
    risk = rc.audit(seen, "a,b,c", prior=True).risk
    assert risk.basis == "prior" and len(risk.combinations)
    assert np.isnan(risk.probability).all() and set(risk.calls) == {"open"}  # an order, and no probability


def test_21_groups_are_the_trials_of_an_interval(monkeypatch):
    monkeypatch.setattr(risk_model, "_DRAWS", 10)
    monkeypatch.setattr(risk_model, "_SHUFFLES", 5)
    fit_risk = risk_model.fit_risk
    rng = np.random.default_rng(0)
    x = np.zeros((300, len(FEATURES)))
    x[:, 3] = rng.random(300)
    failed = (x[:, 3] + 0.1 * rng.normal(size=300) > 0.5).astype(float)
    features = Features(tuple(FEATURES), x)
    alone, grouped = fit_risk(features, failed), fit_risk(features, failed, groups=np.arange(300) % 3)
    assert {one.groups for one in grouped.quality.bins} == {3}
    assert all(one.groups == one.combinations for one in alone.quality.bins)
    width = [np.subtract(*model.predict(features)[:0:-1]).mean() for model in (alone, grouped)]
    assert width[1] > 2 * width[0]
    assert fit_risk(features, failed, groups=np.arange(300) % 2).quality.auroc > 0.9  # of two, one is left


# -- 23: tables -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "column",
    [
        pandas.period_range("2020", periods=3, freq="D").take(np.arange(ROWS) % 3),
        (np.arange(ROWS) % 3).astype(complex),
        pandas.arrays.SparseArray(np.arange(ROWS) % 3),
        pandas.cut(np.arange(ROWS) % 3, 3),
        pandas.to_timedelta(np.arange(ROWS) % 3, unit="D"),
        pandas.array([1, 2, 3] * 20, dtype="Int8"),
        [1, "x", b"y"] * 20,
    ],
    ids=["period", "complex", "sparse", "interval", "timedelta", "nullable", "mixed"],
)
def test_23_columns_of_every_type_of_pandas(column):
    found = rc.audit(pandas.DataFrame({"a": A, "c": column}), "a,c").observed
    assert found.space.levels == (3, 3) and found.left_out == 0


def test_23_half_a_character(tmp_path):
    half = pandas.Series(["\ud800", "ok", "z"] * 20, dtype=object)
    refused(["'c'", "no valid text"], pandas.DataFrame({"a": A, "c": half}), "a,c")
    refused("can't encode", {"a": A, "\ud800": B})
    (tmp_path / "t.jsonl").write_text('{"a": "\\ud800"}\n')
    refused(["not JSON", "surrogate"], tmp_path / "t.jsonl")


def test_23_line_ends_and_paths(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\r\n" + b"x,p\r\ny,q\nz,p\r\n" * 3)
    refused("lines that end in different ways", tmp_path / "t.csv", "a,b")
    refused("path of the data is empty", "")
    refused("folder", str(tmp_path))


def test_23_columns_of_parquet_are_those_of_the_file(tmp_path):
    folder = tmp_path / "a=hidden"
    folder.mkdir()
    pyarrow.parquet.write_table(pyarrow.table({"a": A, "A": B, "b": B}), folder / "t.parquet")
    found = rc.audit(folder / "t.parquet", "a,A").observed
    assert found.space.factors == {"a": ("x", "y", "z"), "A": ("p", "q")}
    pyarrow.parquet.write_table(pyarrow.table([A, B], names=["a", "a"]), tmp_path / "twice.parquet")
    refused("two columns called 'a'", tmp_path / "twice.parquet")


def test_23_no_column_is_lost_in_what_is_written(tmp_path):
    assert told_apart(["a", "A", "a_", "risk", "Risk"]) == ["a", "A_", "a__", "risk", "Risk_"]
    table = {"Risk": A, "risk_": B, "risk": np.roll(B, 1), "=x": A, "'=x": B}
    audit = rc.audit(table, list(table))
    made = rc.plan(table, list(table), budget=2)
    made.write(tmp_path / "plan.csv")
    paths = audit.write(tmp_path)
    for path in (paths["csv"], tmp_path / "plan.csv"):
        columns = list(pandas.read_csv(path).columns)
        assert columns[:5] == ["Risk", "risk_", "risk__", "'=x", "'=x_"] and "risk___" in columns
    exact = pandas.read_parquet(paths["parquet"])
    assert set(exact["Risk"]) == set("xyz") and set(exact["risk__"]) == set("pq") and len(exact.columns) == 15


# -- 24, 25: factors and labels ---------------------------------------------------------------------------------------
def test_24_what_is_no_list_of_factors():
    for wrong in (3, 2.5, True):
        refused("names no columns", {"a": A, "b": B}, wrong)
    refused("RiskModel", {"a": A, "b": B}, prior=3)


def test_24_what_is_no_plan():
    space = rc.Product(a=["x", "y"], b=3)
    for wrong in ({"forbid": 3}, {"levels": 3}, {"levels": {"a": 3}}, {"levels": {"a": "fog"}}):
        with pytest.raises(rc.UserError):
            rc.plan(space, **wrong)
    with pytest.raises(rc.UserError) as caught:
        rc.plan(space, forbid="(" * 5000 + "a=x" + ")" * 5000)
    assert len(str(caught.value)) < 300
    assert len(rc.plan(space, covered=[])) == len(rc.plan(space)) == 6


def test_25_levels_that_only_tests_have_are_named():
    split = np.where(A == "z", "test", "train")
    audit = rc.audit({"a": A, "b": B, "s": split}, "a,b", split="s")
    assert audit.coverage.untrained == ["a=z"] and "Never trained: 'a=z'" in str(audit)
    assert any("'z' (a) was never trained" in words for words in audit.risk.reasons[0])


# -- 30, 31: files of settings and archives ---------------------------------------------------------------------------
def test_30_a_prior_that_was_tampered_with_is_refused(tmp_path):
    text = importlib.resources.files("recombine.audit").joinpath("prior.json").read_text()
    path = tmp_path / "p.json"

    def changed(change):
        data = copy.deepcopy(json.loads(text))
        change(data)
        path.write_text(json.dumps(data))
        return path

    assert load_prior(changed(lambda d: None)).combinations
    for change in (
        lambda d: d["quality"].update(auroc="<script>"),
        lambda d: d["quality"].update(bins=[]),
        lambda d: d["quality"]["bins"][0].update(happened=9),
        lambda d: d["quality"]["bins"][0].update(more=1),
        lambda d: d.update(draws=[]),
        lambda d: d.update(intercept=float("nan")),
        lambda d: d.update(scale=[-1.0] * len(d["scale"])),
        lambda d: d.update(weights=[-1.0] * len(d["weights"])),
        lambda d: d.update(features=[d["features"][0]] * len(d["features"])),
        lambda d: d.update(combinations="many"),
        lambda d: d.update(provenance=[1]),
    ):
        with pytest.raises(rc.UserError, match=r"p\.json is damaged"):
            load_prior(changed(change))


def test_31_two_members_of_one_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        for _ in range(2):
            with archive.open("../l.npy", "w") as file:
                np.lib.format.write_array(file, np.zeros((ROWS, 2)))
    with pytest.raises(rc.UserError, match="two arrays called"):
        activations.load_layers([tmp_path / "t.npz"])


def test_25_levels_that_only_test_rows_have_are_named_untrained():
    frame = pandas.DataFrame({"a": ["x", "y", "x", "z"], "b": ["1", "2", "2", "1"], "split": ["train"] * 3 + ["test"]})
    audit = rc.audit(frame, ["a", "b"], split="split")
    assert audit.coverage.untrained == ["a=z"] and audit.next[0].combination["a"] == "z"


def test_27_a_model_that_prints_and_takes_its_time_is_only_slow(capsys):
    frame = pandas.DataFrame({"a": list("xyxy") * 12, "b": list("1122") * 12})
    vectors = np.random.default_rng(0).normal(size=(48, 3))

    def model(batch):
        print("loading ...")
        time.sleep(0.01)
        return vectors[batch.index.to_numpy()]

    said = [rc.audit(frame, ["a", "b"], activations={"l": one}).apart.to_json() for one in (model, vectors)]
    assert said[0]["readings"] == said[1]["readings"] and "loading" in capsys.readouterr().out


def test_27_functions_of_cost_and_risk_that_raise_or_change_their_rows():
    space = rc.Product(a=3, b=3)

    def raises(rows):
        raise KeyError("no price")

    with pytest.raises(rc.UserError, match="the cost function raised KeyError"):
        rc.plan(space, cost=raises)
    with pytest.raises(rc.UserError, match="the risk function raised KeyError"):
        rc.plan(space, risk=raises, budget=9)

    def mutates(rows):
        rows[:] = 0
        return np.ones(len(rows))

    plain, changed = rc.plan(space, cost=lambda rows: np.ones(len(rows))), rc.plan(space, cost=mutates)
    assert plain.rows.tolist() == changed.rows.tolist()


def test_30_a_prior_with_a_key_twice_is_refused(tmp_path):
    text = (importlib.resources.files("recombine.audit") / "prior.json").read_text()
    (tmp_path / "p.json").write_text(text.replace("{", '{"format": 9, ', 1))
    with pytest.raises(rc.UserError, match=r"p\.json is damaged, or not JSON: it names the key .format. twice"):
        load_prior(tmp_path / "p.json")


@pytest.mark.parametrize("name", ["CON", "l.", "/etc/l", "C:\\l"])
def test_31_names_of_members_are_labels_and_no_paths(tmp_path, monkeypatch, name):
    (tmp_path / "in").mkdir()
    with zipfile.ZipFile(tmp_path / "in" / "t.npz", "w") as archive, archive.open(f"{name}.npy", "w") as file:
        np.lib.format.write_array(file, np.zeros((ROWS, 2)))
    monkeypatch.chdir(tmp_path)
    layers = activations.load_layers([tmp_path / "in" / "t.npz"])
    assert [layer.name.endswith(name) for layer in layers] == [True]
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "t.npz"]


def test_18_a_plan_of_one_factor_trains_its_levels():
    assert len(rc.plan(rc.Product(a=4), covered=[[0]])) == 3
