"""A store in the middle of a write: its report shows what is whole, and reading changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from fruit_study import Fruit, fruit_result, fruit_store

from recombine.files.local import temporary
from recombine.lab.reopening import reopen
from recombine.report import render, write


def test_a_store_in_the_middle_of_a_write_is_reported_as_far_as_it_is_whole(tmp_path: Path):
    """A record that is half there, and one that is still being written aside: neither counts, nothing is lost."""
    store = fruit_store(tmp_path / "store")
    store.put_all(fruit_result().records)
    records = sorted((tmp_path / "store" / "records").glob("*.json"))
    half = records[0].read_bytes()[:40]
    records[0].write_bytes(half)
    aside = temporary(records[0].parent)
    aside.write_bytes(b"{")
    with pytest.warns(UserWarning, match="is damaged and was left out"):
        reopened = reopen(tmp_path / "store", {"fruit": Fruit()})
    page = render(reopened)
    assert reopened.extent.done == len(records) - 1 and reopened.extent.damaged == 1
    assert "left a damaged record" in page and "data-chart" in page and len(reopened.charts) >= 1
    name = next(iter(reopened.charts))
    assert str(write(reopened, "svg", chart=name)).endswith(f"{name}.svg")
    assert records[0].read_bytes() == half and aside.exists()  # reading changes nothing
