"""Rows are copied as they came: byte by byte from text, type by type from Parquet, kind by kind from memory."""

from __future__ import annotations

import csv
import gzip
import io
import json

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.tables import copy_rows, ending_of, open_source, records, taken

few = settings(deadline=None, max_examples=60)


def copied(path, chosen, folder, files=2):
    """What lands in each file."""
    folder.mkdir()
    with open_source(path) as source:
        paths = [folder / f"part{i}{ending_of(source.origin)}" for i in range(files)]
        copy_rows(source, np.asarray(chosen), paths)
    return paths


cell = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=6)


@few
@given(
    st.lists(
        st.tuples(cell, cell, st.sampled_from(["", '"', 'a"b', "two\nlines", "a,b", " x "])), min_size=1, max_size=9
    ),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([5, 1 << 24]),
    st.data(),
)
def test_every_row_of_a_csv_goes_into_its_file_and_nothing_is_lost(tmp_path_factory, rows, quoting, end, chunk, data):
    folder = tmp_path_factory.mktemp("copies")
    texts = []
    for row in [("one", "two", "three"), *rows]:
        line = io.StringIO()
        csv.writer(line, quoting=quoting, lineterminator=end).writerow(row)
        texts.append(line.getvalue().encode())
    path = folder / "table.csv"
    path.write_bytes(b"".join(texts))
    chosen = data.draw(st.lists(st.integers(-1, 1), min_size=len(rows), max_size=len(rows)))
    before, records._CHUNK = records._CHUNK, chunk
    try:
        paths = copied(path, chosen, folder / "out")
    except rc.UserError as problem:  # what DuckDB itself does not read as a table is no row to copy
        assert any(word in str(problem) for word in ("line", "cells", "data")), problem
        return
    finally:
        records._CHUNK = before
    for number, out in enumerate(paths):
        wanted = [texts[0], *(text for text, own in zip(texts[1:], chosen, strict=True) if own == number)]
        assert out.read_bytes() == b"".join(wanted)


ODD = {
    "stray quotes": b'a,b\n5" pipe,x\nthe "big" one,y\n"q\nw",z\nlast"one,w\n',
    "spelling": b'a,b\n007,1e3\n"7",1000\n  7 ,"1,000"\n+7,\n',
    "no last line end": b"a,b\n1,2\n3,4\n5,6\n7,8",
    "empty lines": b"a,b\n1,2\n\n3,4\n5,6\n7,8\n\n",
    "carriage returns": b"a,b\r1,2\r3,4\r5,6\r7,8\r",
    "mark": b"\xef\xbb\xbfa,b\n1,2\n3,4\n5,6\n7,8\n",
    "empty cells": b'a,b\n,\n"",2\n3,\n4,4\n',
}


@pytest.mark.parametrize("name", ODD)
def test_odd_files_keep_their_bytes(name, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(ODD[name])
    first, second = copied(path, [0, 1, 0, 1], tmp_path / "out")
    for part, own in ((first, [0, 2]), (second, [1, 3])):
        with open_source(part) as source, open_source(path) as whole:
            rows, all_rows = (
                one.run(f"SELECT * FROM {one.relation(['a', 'b'])[0]}", one.relation(["a", "b"])[1]).fetchall()
                for one in (source, whole)
            )
        assert rows == [all_rows[i] for i in own]
        for line in part.read_bytes().splitlines():
            assert line in ODD[name].splitlines()


def test_one_column_has_rows_that_are_empty_lines(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"a\nx\n\ny\n\n")
    first, second = copied(path, [0, 0, 1, 1], tmp_path / "out")
    assert first.read_bytes() == b"a\nx\n\n" and second.read_bytes() == b"a\ny\n\n"


def test_a_first_line_that_is_empty_is_refused(tmp_path):
    (tmp_path / "table.csv").write_bytes(b"\na,b\n1,2\n")
    with pytest.raises(rc.UserError, match="first line of table.csv is empty"), open_source(tmp_path / "table.csv"):
        pass


def test_packed_files_stay_packed_and_several_files_become_one(tmp_path):
    for number in range(2):
        text = "a\tb\n" + "".join(f"{number}\t{i}\n" for i in range(3))
        (tmp_path / f"t{number}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    first, second = copied(str(tmp_path / "t*.tsv.gz"), [0, 1, 0, 1, 0, 1], tmp_path / "out")
    assert first.name == "part0.tsv.gz"
    assert gzip.decompress(first.read_bytes()) == b"a\tb\n0\t0\n0\t2\n1\t1\n"
    assert gzip.decompress(second.read_bytes()) == b"a\tb\n0\t1\n1\t0\n1\t2\n"
    again = copied(str(tmp_path / "t*.tsv.gz"), [0, 1, 0, 1, 0, 1], tmp_path / "again")
    assert again[0].read_bytes() == first.read_bytes()


def test_json_lines_keep_their_bytes(tmp_path):
    lines = ['{"a": 1, "b": [1, 2]}', '{"b": null, "a": 1.0}', ' {"a":"x\\ny"}', '{"c": {"d": "\\u00e9"}}']
    (tmp_path / "t.jsonl").write_text("\n".join([*lines[:2], "", *lines[2:]]))
    first, second = copied(tmp_path / "t.jsonl", [0, 1, 1, 0], tmp_path / "out")
    assert first.read_text() == f"{lines[0]}\n{lines[3]}\n" and second.read_text() == f"{lines[1]}\n{lines[2]}\n"
    assert [json.loads(line) for line in second.read_text().splitlines()][0] == {"b": None, "a": 1.0}


def test_parquet_keeps_its_types_its_metadata_and_its_compression(tmp_path):
    frame = pandas.DataFrame(
        {
            "a": pandas.Categorical(["x", "y", "x", None]),
            "when": pandas.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-04"]).tz_localize("UTC"),
            "small": np.array([1, 2, 3, 4], np.uint8),
            "half": np.array([1, 2, 3, 4], np.float16),
            "lists": [[1, 2], [], None, [3]],
            "flag": pandas.array([True, None, False, True], dtype="boolean"),
        },
        index=pandas.Index([10, 20, 30, 40], name="key"),
    )
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, compression="gzip")
    first, second = copied(path, [0, 1, 1, 0], tmp_path / "out")
    pandas.testing.assert_frame_equal(pandas.read_parquet(first), pandas.read_parquet(path).iloc[[0, 3]])
    pandas.testing.assert_frame_equal(pandas.read_parquet(second), pandas.read_parquet(path).iloc[[1, 2]])
    assert pyarrow.parquet.read_schema(first).equals(pyarrow.parquet.read_schema(path), check_metadata=True)
    assert pyarrow.parquet.ParquetFile(first).metadata.row_group(0).column(0).compression == "GZIP"


@pytest.mark.parametrize(
    "make",
    [lambda f: f, pyarrow.Table.from_pandas, polars.from_pandas, lambda f: f.to_dict("list")],
    ids=["pandas", "pyarrow", "polars", "lists"],
)
def test_tables_in_memory_come_back_as_what_they_were(make, tmp_path):
    frame = make(pandas.DataFrame({"a": ["x", "y", "x"], "n": [1, 2, 3]}))
    found = taken(frame, np.array([True, False, True]))
    assert type(found) is type(frame)
    columns = found if isinstance(found, dict) else {name: list(found[name]) for name in ("a", "n")}
    values = [value.as_py() if hasattr(value, "as_py") else value for value in columns["n"]]
    assert values == [1, 3]
    first, _ = copied(frame, [0, 1, 0], tmp_path / "out")
    assert pandas.read_parquet(first)["a"].tolist() == ["x", "x"]


def test_a_file_that_changed_meanwhile_is_noticed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(rc.UserError, match=r"read as 3 rows and has 2 to copy"):
        copied(path, [0, 1, 0], tmp_path / "out")


def test_what_parquet_cannot_hold_is_said_in_one_sentence(tmp_path):
    frame = pandas.DataFrame({"a": ["x", "y"], "mixed": [1, "two"]})
    with pytest.raises(rc.UserError, match="cannot be copied into Parquet"):
        copied(frame, [0, 1], tmp_path / "out")
