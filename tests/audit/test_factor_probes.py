"""Linearly decodable? Planted representations, activations from files, arrays and models, and what is wrong there."""

from __future__ import annotations

import sys
import zipfile

import numpy as np
import pandas
import pytest
from safetensors.numpy import save_file

import recombine as rc
from recombine.audit.activations import load_layers

LEVELS = {"color": 4, "shape": 3, "size": 3}


def world(rows: int = 900, seed: int = 0):
    """A table, and activations in which factors are apart, mixed into one code per combination, or absent."""
    rng = np.random.default_rng(seed)
    space = rc.Product(**LEVELS)
    ranks = rng.integers(0, space.size, rows)
    combinations = space.unrank(ranks)
    frame = pandas.DataFrame(combinations, columns=list(LEVELS)).astype(str)
    frame.insert(0, "key", [f"k{i}" for i in range(rows)])
    hot = space.multihot(combinations).astype(float)
    noise = rng.normal(size=(rows, 48)) * 0.2
    layers = {
        "apart": hot @ rng.normal(size=(hot.shape[1], 48)) + noise,
        "memorized": rng.normal(size=(space.size, 48))[ranks] + noise,
        "nothing": rng.normal(size=(rows, 48)),
    }
    return frame, layers


@pytest.fixture(scope="module")
def given():
    return world()


def test_planted_representations_are_told_apart(given):
    frame, layers = given
    audit = rc.audit(frame, factors=list(LEVELS), activations=layers)
    assert audit.apart is not None
    found = {(one.layer, one.factor): one for one in audit.apart.readings}
    assert len(found) == 9
    for factor, levels in LEVELS.items():
        apart, memorized, nothing = (found[layer, factor] for layer in ("apart", "memorized", "nothing"))
        assert apart.verdict == "held apart" and apart.by_combination > 0.95 and apart.selectivity > 0.4
        # every combination has a code of its own: readable by row, at chance by combination
        assert memorized.verdict == "seen only" and memorized.by_row > 0.9 and memorized.by_combination < 0.7
        assert memorized.control_by_row > 0.8  # and so are labels shuffled by combination
        assert nothing.verdict == "not readable" and abs(nothing.by_row - 1 / levels) < 0.15
        assert apart.chance == pytest.approx(1 / levels)
    assert any("readable on seen combinations only" in s for s in audit.apart.sentences())
    readable = audit.apart.readable(audit.observed)
    assert readable.shape == (10,) and (readable > 0.9).all()


def test_more_units_than_rows_do_not_fool_the_probe():
    frame, _ = world(120)
    noise = np.random.default_rng(0).normal(size=(120, 2000))
    audit = rc.audit(frame, factors=list(LEVELS), activations={"noise": noise})
    assert audit.apart is not None and any("projected at random" in note for note in audit.notes)
    for one in audit.apart.readings:
        assert one.by_combination < one.chance + 0.25 and one.verdict == "not readable"


def test_probes_enter_the_risk():
    frame, _ = world(1500)
    rng = np.random.default_rng(0)
    frame["split"] = np.where(rng.random(len(frame)) < 0.5, "train", "test")
    frame = frame[~((frame.color == "0") & (frame["shape"] == "0") & (frame.split == "train"))].reset_index(drop=True)
    frame["right"] = ~((frame.color == "0") & (frame["shape"] == "0"))
    audit = rc.audit(
        frame, factors=list(LEVELS), split="split", outcome="right", activations={"x": world(len(frame))[1]["nothing"]}
    )
    asking, forecast = audit.risk.asking, audit.risk.forecast
    assert asking.more(forecast.table.codes).shape == (len(forecast.table), 1)
    without = rc.audit(frame, factors=list(LEVELS), split="split", outcome="right").risk.forecast
    assert len(forecast.models[1].columns) == len(without.models[1].columns) + 1


# -- files ------------------------------------------------------------------------------------------------------------
def test_files_of_every_kind_give_the_same(given, tmp_path):
    frame, layers = given
    data = layers["apart"].astype(np.float32)
    np.save(tmp_path / "apart.npy", data)
    np.savez(tmp_path / "a.npz", apart=data)
    np.savez_compressed(tmp_path / "b.npz", apart=data)
    save_file({"apart": data}, tmp_path / "c.safetensors")
    order = np.random.default_rng(0).permutation(len(frame))
    np.savez(tmp_path / "ids.npz", apart=data[order], ids=frame.key.to_numpy(dtype="U")[order])
    expected = rc.audit(frame, factors=list(LEVELS), activations={"apart": data}).apart
    for name in ("apart.npy", "a.npz", "b.npz", "c.safetensors"):
        assert rc.audit(frame, factors=list(LEVELS), activations=tmp_path / name).apart == expected, name
    assert rc.audit(frame, factors=list(LEVELS), activations=[tmp_path / "ids.npz"], id="key").apart == expected
    part = rc.audit(frame.iloc[::-1][:500], factors=list(LEVELS), activations=tmp_path / "ids.npz", id="key")
    assert part.apart is not None and all(one.by_combination > 0.9 for one in part.apart.readings)


def test_bfloat16_is_read(given, tmp_path):
    import jax.numpy as jnp
    from safetensors.flax import save_file as save_jax

    frame, layers = given
    save_jax({"apart": jnp.asarray(layers["apart"], jnp.bfloat16)}, tmp_path / "h.safetensors")
    audit = rc.audit(frame, factors=list(LEVELS), activations=tmp_path / "h.safetensors")
    assert audit.apart is not None and audit.apart.readings[0].verdict == "held apart"


class Bomb:
    def __reduce__(self):
        return (sys.exit, ("a pickle ran",))


def test_nothing_in_a_file_is_executed(tmp_path):
    objects = np.array([Bomb()], dtype=object)
    np.save(tmp_path / "o.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "o.npz", x=objects)
    for name in ("o.npy", "o.npz"):
        with pytest.raises(rc.UserError, match="pickled objects"):
            load_layers([tmp_path / name])
    (tmp_path / "x.pt").write_bytes(b"\x80\x04")
    with pytest.raises(rc.UserError, match="no pickles"):
        load_layers([tmp_path / "x.pt"])


def test_bad_files_get_one_sentence(tmp_path):
    cases = {"a.npy": b"not numpy", "b.npz": b"PK not a zip", "c.safetensors": b"\xff" * 40, "d.npy": b""}
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(rc.UserError, match=name):
            load_layers([tmp_path / name])
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("../../evil.txt", "x")
    with pytest.raises(rc.UserError, match="no array"):
        load_layers([tmp_path / "e.npz"])
    # a header that promises more than there may be: refused before it is unpacked
    header = np.lib.format.header_data_from_array_1_0(np.zeros((1, 1))) | {"shape": (10**9, 10**4)}
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive, archive.open("x.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(rc.UserError, match="GB"):
        load_layers([tmp_path / "bomb.npz"])
    with pytest.raises(rc.UserError, match="no file"):
        load_layers([tmp_path / "none.npy"])


def test_arrays_that_do_not_fit_get_one_sentence(given, tmp_path):
    frame, layers = given
    n = len(frame)
    bad = layers["apart"].copy()
    bad[5, 0] = np.nan
    cases = [
        (layers["apart"][:-1], "899 rows and the table has 900"),
        (layers["apart"].reshape(n, 6, 8), "one vector per row"),
        (bad, "not finite in 1 of 900 rows .first: row 6"),
        (layers["apart"].astype(complex), "complex128"),
        (np.array(["x"] * n), "real numbers"),
        (np.array([None] * n), "real numbers"),
        (np.zeros((n, 0)), "shape"),
        ([[1], [1, 2]], "no array"),
    ]
    for value, words in cases:
        with pytest.raises(rc.UserError, match=words):
            rc.audit(frame, factors=list(LEVELS), activations={"layer": value})
    with pytest.raises(rc.UserError, match="must map layers"):
        rc.audit(frame, factors=list(LEVELS), activations=3)
    constant = rc.audit(frame, factors=list(LEVELS), activations={"layer": np.ones((n, 3))})
    assert any("the same for every row" in note for note in constant.notes)
    np.savez(tmp_path / "ids.npz", x=layers["apart"], ids=np.arange(n))
    with pytest.raises(rc.UserError, match="--id"):
        rc.audit(frame, factors=list(LEVELS), activations=tmp_path / "ids.npz")
    with pytest.raises(rc.UserError, match="no id in 'key'"):
        rc.audit(frame, factors=list(LEVELS), activations=tmp_path / "ids.npz", id="key")
    np.save(tmp_path / "plain.npy", layers["apart"])
    with pytest.raises(rc.UserError, match="come without ids"):
        rc.audit(frame, factors=list(LEVELS), activations=[tmp_path / "plain.npy"], id="key")
    np.savez(tmp_path / "twice.npz", x=layers["apart"], ids=np.array(["k1"] * n))
    with pytest.raises(rc.UserError, match="id twice"):
        rc.audit(frame, factors=list(LEVELS), activations=tmp_path / "twice.npz", id="key")


# -- models -----------------------------------------------------------------------------------------------------------
def test_a_callable_model_stands_in(given, tmp_path):
    frame, layers = given
    place = {key: i for i, key in enumerate(frame.key)}

    def model(batch):
        assert len(batch) <= 256
        values = layers["apart"][[place[key] for key in batch["key"]]]
        batch["color"] = "changed"  # what it does to its batch stays there
        return values

    expected = rc.audit(frame, factors=list(LEVELS), activations={"model": layers["apart"]}).apart
    assert rc.audit(frame, factors=list(LEVELS), activations=model).apart == expected
    named = rc.audit(frame, factors=list(LEVELS), activations={"l": lambda batch: {"one": model(batch)}}).apart
    assert named is not None and {one.layer for one in named.readings} == {"one"}
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert rc.audit(tmp_path / "t.csv", factors=list(LEVELS), activations=model).apart == expected
    assert set(frame.color) == set("0123")


def test_models_that_misbehave_get_one_sentence(given):
    frame, _ = given
    state = iter(range(10**6))

    def raises(batch):
        raise ValueError("boom\nsecond line")

    def leaves(batch):
        sys.exit(3)

    def first_rows(batch):
        return np.arange(len(batch), dtype=float)[:, None]

    def several(batch):
        return np.zeros((len(batch), 2 if len(batch) == 256 else 3))

    cases = [
        (raises, "raised ValueError: boom on rows 0 to 255"),
        (leaves, "raised SystemExit"),
        (lambda batch: np.zeros((3, 2)), "shape .3, 2. for 256 rows"),
        (lambda batch: np.random.default_rng().normal(size=(len(batch), 2)), "two ways"),
        (lambda batch: np.full((len(batch), 2), next(state)), "two ways"),
        (first_rows, "order of the rows"),
        (several, "other layers or shapes"),
        (lambda batch: None, "shape"),
        (lambda batch: np.full((len(batch), 2), np.nan), "not finite"),
        (lambda batch: np.array(["x"] * len(batch)), "real numbers"),
        (lambda batch: {}, "no layer"),
    ]
    for model, words in cases:
        with pytest.raises(rc.UserError, match=words) as caught:
            rc.audit(frame, factors=list(LEVELS), activations=model)
        assert "\n" not in str(caught.value)
