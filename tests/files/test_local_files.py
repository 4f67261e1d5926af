"""The folder of local files is made by the first write only: if it goes later, that is an error."""

from __future__ import annotations

import shutil

import pytest

from recombine.files import LocalFiles


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_goes_is_not_made_again(there, tmp_path):
    folder = tmp_path / "new" / "s"
    if there:
        folder.mkdir(parents=True)
    files = LocalFiles(folder)
    if not there:
        files.write("a", b"1")  # makes it, and what is above it
        assert files.read("a") == b"1"
    shutil.rmtree(folder)
    for name in ("b", "deep/b"):
        with pytest.raises(FileNotFoundError):
            files.write(name, b"2")
    assert not folder.exists()
