"""What adapters do without torch: they load late, miss it in one sentence, and collect rows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import recombine as rc
from recombine.adapters.pooled_rows import Rows, file_of


def test_importing_recombine_imports_no_torch():
    code = """
import sys, recombine as rc
late = {"torch", "transformers"}
assert not (late | {"recombine.adapters.torch"}) & set(sys.modules)
assert late <= set(dir(rc.adapters)) and rc.adapters.torch.capture and rc.adapters.transformers.capture
assert not late & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_what_is_not_installed_is_named(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    adapter = getattr(rc.adapters, missing)
    wanted = rf"needs {missing}, which is not installed: pip install 'recombine\[{missing}\]'"
    with pytest.raises(rc.UserError, match=wanted):
        adapter.capture(None, None, None)
    with pytest.raises(rc.UserError, match=wanted):
        adapter.layer_names(None)


def test_no_other_adapter():
    with pytest.raises(AttributeError, match=r"no attribute 'keras'; it has: torch, transformers"):
        _ = rc.adapters.keras


def parts(rng):
    return [
        {"a": rng.normal(size=(n, 3)).astype("f4"), "b.c": rng.normal(size=(n, 1)).astype("f4")} for n in (4, 1, 20)
    ]


def test_rows_on_the_disk_are_those_in_memory(tmp_path):
    given = parts(np.random.default_rng(0))
    arrays = []
    for out in (None, tmp_path / "new" / "folder"):
        with Rows(out) as rows:
            for part in given:
                rows.add(part)
            arrays.append(rows.finish())
    for layer in ("a", "b.c"):
        np.testing.assert_array_equal(arrays[0][layer], np.concatenate([part[layer] for part in given]))
        np.testing.assert_array_equal(arrays[1][layer], arrays[0][layer])
        assert isinstance(arrays[1][layer], np.memmap) and not arrays[1][layer].flags.writeable
        # a plain .npy that anyone can read
        stored = np.load(tmp_path / "new" / "folder" / f"{layer}.npy", allow_pickle=False)
        np.testing.assert_array_equal(stored, arrays[0][layer])
    assert len(list((tmp_path / "new" / "folder").iterdir())) == 2


def test_a_file_grows_past_every_number_of_digits(tmp_path):
    with Rows(tmp_path) as rows:
        for _ in range(1001):
            rows.add({"x": np.full((10, 1), rows.count, "f4")})
        found = rows.finish()["x"]
    assert found.shape == (10_010, 1)
    np.testing.assert_array_equal(found[::10, 0], np.arange(0, 10_010, 10))


def test_what_fails_leaves_no_file(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"from before")
    with pytest.raises(ZeroDivisionError), Rows(tmp_path) as rows:
        rows.add({"a": np.zeros((2, 2), "f4")})
        _ = 1 / 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]
    assert (tmp_path / "a.npy").read_bytes() == b"from before"


def test_a_layer_cannot_leave_its_folder(tmp_path):
    assert file_of(tmp_path, "../../up").parent == tmp_path
    assert file_of(tmp_path, "encoder.layer.0").name == "encoder.layer.0.npy"
    assert file_of(tmp_path, "a/b") != file_of(tmp_path, "a%2Fb")


@pytest.mark.parametrize(
    "second, message",
    [
        (
            {"a": np.zeros((2, 4), "f4"), "b": np.zeros((2, 2), "f4")},
            r"'a' gives 4 features from row 3 on and 3 before",
        ),
        ({"a": np.zeros((2, 3), "f4")}, r"'b' gives nothing from row 3 on and one vector per row before"),
        ({"a": np.zeros((2, 3), "f4"), "b": np.zeros((1, 2), "f4")}, r"different numbers of rows .*'a' 2, 'b' 1"),
        ({k: np.zeros((2, 3), "f4") for k in "abc"}, r"'c' gives one vector per row from row 3 on and nothing before"),
    ],
)
def test_rows_that_do_not_fit_are_refused(second, message):
    rows = Rows()
    rows.add({"a": np.zeros((3, 3), "f4"), "b": np.zeros((3, 2), "f4")})
    with pytest.raises(rc.UserError, match=message):
        rows.add(second)


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(rc.UserError, match="cannot write to the folder"):
        Rows(tmp_path / "taken")
