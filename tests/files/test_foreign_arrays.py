"""Damaged and foreign files of arrays: each is read, or refused in one sentence; nothing else comes out."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from damaged_bytes import damaged

from recombine.audit.activations import load_layers
from recombine.errors import UserError

TRIES = 250  # for each kind of file


def npy(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version, allow_pickle=True)
    return file.getvalue()


def npz(compression: int = zipfile.ZIP_STORED, **arrays: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in arrays.items():
            archive.writestr(f"{name}.npy", data)
    return file.getvalue()


VALUES = np.arange(12.0).reshape(4, 3)
WHOLE = {
    "npy": (".npy", npy(VALUES)),
    "stored": (".npz", npz(l=npy(VALUES), ids=npy(np.arange(4)))),
    "deflated": (".npz", npz(zipfile.ZIP_DEFLATED, l=npy(VALUES))),
    "bzip2": (".npz", npz(zipfile.ZIP_BZIP2, l=npy(VALUES))),
    "lzma": (".npz", npz(zipfile.ZIP_LZMA, l=npy(VALUES))),
    "safetensors": (".safetensors", safetensors.numpy.save({"l": VALUES, "ids": np.arange(4)})),
}


def outcome(path: Path, data: bytes) -> str:
    """What is said of a file; anything but arrays and one sentence fails the test."""
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load_layers([path])
    except UserError as problem:
        said = str(problem)
        assert "\n" not in said and len(said) < 400 and path.stem[:3] in said, said
        return said
    return ""


@pytest.mark.parametrize("kind", WHOLE)
def test_whatever_is_damaged_one_sentence_says_so(kind, tmp_path):
    ending, data = WHOLE[kind]
    assert outcome(tmp_path / f"file{ending}", data) == ""
    rng = np.random.default_rng(sum(kind.encode()))
    refused = 0
    for number in range(TRIES):
        refused += bool(outcome(tmp_path / f"file{number}{ending}", damaged(data, rng)))
    assert refused > TRIES / 5


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


FOREIGN = {
    "beyond all counts": (
        ".npz",
        npz(l=header("{'descr': '<f8', 'fortran_order': False, 'shape': (%s,)}" % ("9" * 400))),
    ),
    "bomb": (
        ".npz",
        npz(zipfile.ZIP_DEFLATED, l=header("{'descr': '<f8', 'fortran_order': False, 'shape': (9**11,)}")),
    ),
    "claims": (".npz", npz(l=header("{'descr': '<f8', 'fortran_order': False, 'shape': (900000000,)}        "))),
    "negative": (".npz", npz(l=header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"))),
    "deep": (".npy", header("(" * 9000)),
    "words": (".npy", header("{'descr': '<f8', 'shape': (1,), ")),
    "objects": (".npy", npy(np.array([{}], dtype=object))),
    "records": (".npy", npy(np.zeros(4, dtype=[("a", float), ("b", "U3")]))),
    "dates": (".npy", npy(np.zeros((4, 3), "datetime64[s]"))),
    "complex": (".npy", npy(VALUES + 0j)),
    "version 3": (".npy", npy(VALUES, (3, 0))),
    "no zip": (".npz", b"PK\x03\x04" + bytes(60)),
    "deep JSON": (".safetensors", struct.pack("<Q", 60_000) + b"[" * 60_000),
    "large header": (".safetensors", struct.pack("<Q", 2**63) + b"{}"),
    "unknown kind": (
        ".safetensors",
        struct.pack("<Q", 56) + b'{"l":{"dtype":"Q7","shape":[1],"data_offsets":[0,1]}}   ' + b"x",
    ),
    "empty": (".safetensors", b""),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_no_audit_can_use_is_refused(kind, tmp_path):
    ending, data = FOREIGN[kind]
    said = outcome(tmp_path / f"file{ending}", data)
    assert "is cut off" in said if kind == "claims" else said  # before memory is taken for what is not there


def test_encrypted_members_are_refused(tmp_path):
    data = bytearray(WHOLE["stored"][1])
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset] |= 1  # the flag of a member that needs a password
            at = data.find(mark, at + 1)
    assert "password" in outcome(tmp_path / "file.npz", bytes(data))


def test_numbers_that_numpy_does_not_have_are_read_by_their_value(tmp_path):
    path = tmp_path / "file.safetensors"
    safetensors.numpy.save_file({"l": VALUES.astype(ml_dtypes.bfloat16), "ids": np.arange(4) + 2**40}, path)
    (layer,) = load_layers([path])
    assert (np.asarray(layer.values, float) == VALUES).all()
    assert layer.ids is not None and layer.ids.tolist() == [2**40, 2**40 + 1, 2**40 + 2, 2**40 + 3]
