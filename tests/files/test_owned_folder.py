"""Folders that a command wrote: whole or absent, and never over files of somebody else."""

from __future__ import annotations

import json
import os

import pytest

from recombine import UserError
from recombine.files.owned_folder import refuse_occupied, write_manifest, written_folder

NAME, KIND = "card.json", "test-kind"


def write(folder, text="one", force=False):
    with written_folder(folder, NAME, KIND, force) as aside:
        (aside / "data.txt").write_text(text)
        write_manifest(aside, NAME, {"kind": KIND})


def test_a_new_folder_and_an_empty_one_are_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty", "deep/er"):
        write(tmp_path / name)
        assert sorted(os.listdir(tmp_path / name)) == [NAME, "data.txt"]
    assert sorted(os.listdir(tmp_path)) == ["deep", "empty", "new"]  # nothing is left beside them


def test_what_fails_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="no"), written_folder(tmp_path / "new", NAME, KIND) as aside:
        (aside / "data.txt").write_text("half")
        raise ValueError("no")
    assert os.listdir(tmp_path) == []


def test_only_force_replaces_and_only_what_is_ours(tmp_path):
    folder = tmp_path / "f"
    write(folder)
    with pytest.raises(UserError, match="--force"):
        write(folder, "two")
    write(folder, "two", force=True)
    assert (folder / "data.txt").read_text() == "two" and sorted(os.listdir(tmp_path)) == ["f"]
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"other files \(notes.txt\)"):
        write(folder, "three", force=True)
    (folder / "notes.txt").unlink()
    (folder / "data.txt").write_text("changed by hand")
    with pytest.raises(UserError, match="data.txt in .* is not as it was written"):
        write(folder, "three", force=True)
    assert (folder / "data.txt").read_text() == "changed by hand"


@pytest.mark.parametrize("manifest", [None, "not json", "[]", '{"kind": "another"}', '{"kind": "test-kind"}'])
def test_a_folder_without_a_manifest_of_this_kind_is_not_ours(tmp_path, manifest):
    (tmp_path / "data.txt").write_text("mine")
    if manifest is not None:
        (tmp_path / NAME).write_text(manifest)
    with pytest.raises(UserError, match="data.txt"):
        refuse_occupied(tmp_path, NAME, KIND, force=True)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "f").write_text("mine")
    with pytest.raises(UserError, match="is a file; name a folder"):
        write(tmp_path / "f", force=True)
    with pytest.raises(UserError, match="NUL"):
        refuse_occupied("a\0b", NAME, KIND, force=True)


def test_a_link_is_followed_and_stays(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "data.txt").exists()


def test_the_manifest_knows_every_other_file(tmp_path):
    write(tmp_path / "f")
    known = json.loads((tmp_path / "f" / NAME).read_text())
    assert set(known["files"]) == {"data.txt"} and len(known["files"]["data.txt"]) == 64
