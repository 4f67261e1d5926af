"""The audit reads tables of strangers: what is right with them, and each thing that can be wrong with them."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas
import pytest

import recombine as rc
from recombine.tables import factors, find_roles, open_source
from recombine.tables import observed as data

ROWS = [("red", "round", "train"), ("red", "square", "train"), ("blue", "round", "train"), ("blue", "square", "test")]
CSV = "color,shape,split\n" + "".join(f"{','.join(row)}\n" for row in ROWS * 6)


def observed(source, names=("color", "shape"), split=None, outcome=None):
    with open_source(source) as opened:
        roles = find_roles(opened, split=split, outcome=outcome)
        return data.observe(data.code(opened, list(names), roles), list(names), roles)


def refused(source, words, **options):
    """One sentence that holds these words."""
    with pytest.raises(rc.UserError) as caught:
        rc.audit(source, **options)
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert "\n" not in text and len(text) < 300
    return text


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(CSV)
    return path


# -- every way to give the same table ---------------------------------------------------------------------------------
def test_all_formats_and_tables_in_memory_give_the_same(tmp_path, table):
    frame = pandas.read_csv(table)
    (tmp_path / "a.tsv").write_text(CSV.replace(",", "\t"))
    (tmp_path / "b.csv").write_text(CSV.replace(",", ";"))
    (tmp_path / "crlf.csv").write_bytes(CSV.replace("\n", "\r\n").encode())
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(dict(zip(frame.columns, row))) + "\n" for row in ROWS * 6))
    frame.to_parquet(tmp_path / "e.parquet")
    half = len(frame) // 2
    frame[:half].to_parquet(tmp_path / "part1.parquet")
    frame[half:].to_parquet(tmp_path / "part2.parquet")
    import polars
    import pyarrow

    sources = [
        table,
        *(tmp_path / name for name in ("a.tsv", "b.csv", "crlf.csv", "bom.csv", "c.csv.gz", "d.jsonl", "e.parquet")),
    ]
    sources += [
        str(tmp_path / "part*.parquet"),
        frame,
        frame.astype("category"),
        pyarrow.Table.from_pandas(frame),
        polars.from_pandas(frame),
        frame.to_dict("list"),
    ]
    for source in sources:
        found = observed(source, split="split")
        assert found.space == rc.Product(color=["blue", "red"], shape=["round", "square"]), source
        assert found.trained.tolist() == [6, 0, 6, 6] and found.tested.tolist() == [0, 6, 0, 0]
        assert found.total == 24 and found.left_out == 0


def test_labels_of_every_kind_survive(tmp_path):
    labels = [
        "a,b",
        'say "hi"',
        "two\nlines",
        "nul\0inside",
        "NA",
        "nan",
        "=cmd()",
        "<script>",
        "‮bidi",
        "'; DROP TABLE grouped; --",
        "ünï",
        " ",
    ]
    frame = pandas.DataFrame({'x"; DROP TABLE given; --': labels * 4, "y'": ["p", "q"] * 24})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    for source in (frame, tmp_path / "t.csv", tmp_path / "t.parquet", tmp_path / "t.jsonl"):
        found = observed(source, list(frame.columns))
        assert set(found.space.factors[frame.columns[0]]) == set(labels), source
        assert found.total == 48


def test_names_of_files_are_no_patterns(tmp_path, table):
    odd = tmp_path / "a[1]*'; --.csv"
    odd.write_text(CSV.replace("red", "green"))
    (tmp_path / "a1.csv").write_text(CSV)
    assert observed(odd).space.factors["color"] == ("blue", "green")


def test_numbers_stay_as_they_are_written_and_lookalikes_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,s\n" + "1,Red\n1.0,red\n01,red \n2,blue\n10,blue\n9,blue\n" * 3)
    found = observed(path, ("n", "s"))
    assert found.space.factors["n"] == ("01", "1", "1.0", "2", "9", "10")  # by size
    assert sum("differ only in spelling" in note for note in found.notes) == 2
    mixed = pandas.DataFrame({"n": [1, 1.0, "1", True, None, np.nan] * 2, "s": list("ab") * 6})
    assert set(observed(mixed, ("n", "s")).space.factors["n"]) == {"1", "1.0", "True"}


def test_rows_that_lack_a_factor_are_counted_left_out_and_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + 'x,1\n,1\ny,\ny,2\n"",2\n' * 5)
    found = observed(path, ("a", "b"))
    assert (found.total, found.left_out, found.missing) == (25, 15, {"a": 10, "b": 5})
    assert "15 of 25 rows" in found.notes[-1]
    refused(pandas.DataFrame({"a": [None, None], "b": ["x", "y"]}), ["'a'", "empty in every row"], factors="a,b")


# -- files that are wrong ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b"\n\n", ["empty"]),
        (b"color,shape\n", ["no rows"]),
        (b"color,color\nred,blue\n", ["two columns", "'color'"]),
        (b"color,shape\nred,round\nblue\n", ["line 3", "1 cells", "2"]),
        (b"color,shape\nred,round,extra\n", ["line 2", "3 cells"]),
        ("color,shape\nr\xe9d,round\n".encode("latin-1"), ["not UTF-8"]),
        ("color,shape\nred,round\n".encode("utf-16"), ["UTF-16"]),
        (b'color,shape\n"red,round\n', ["quote"]),
        (b"1,2\n3,4\n5,6\n", ["looks like data", "header"]),
        (b"red,round\nblue,round\nred,square\n", ["looks like data"]),
    ],
)
def test_a_bad_csv_gets_one_sentence(tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    refused(path, words, factors=None)


def test_a_file_that_turns_bad_late_is_refused_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"x,y\nz,w\n" * 400_000 + "r\xe9d,y\n".encode("latin-1"))
    refused(path, ["not UTF-8", "t.csv"], factors="a,b")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"a": 1}\n{"a":\n', ["not JSON"]),
        ("[1, 2]\n", ["no JSON objects"]),
        ('{"a": "x", "a": "y"}\n', ["key twice"]),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n", ["lists or records"]),
    ],
)
def test_a_bad_jsonl_gets_one_sentence(tmp_path, content, words):
    path = tmp_path / "t.jsonl"
    path.write_text(content)
    refused(path, words, factors="a")


def test_keys_with_slashes_and_missing_keys(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a/b~c\\"": "x", "n": 1}\n{"n": 2, "a/b~c\\"": "y"}\n{"n": 2}\n' * 2)
    found = observed(path, ('a/b~c"', "n"))
    assert found.space.factors['a/b~c"'] == ("x", "y") and found.left_out == 2


def test_other_things_that_are_no_tables(tmp_path, table):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really PAR1")
    refused(tmp_path / "t.parquet", ["t.parquet", "cannot be read"])
    (tmp_path / "t.pkl").write_bytes(b"\x80\x04N.")
    refused(tmp_path / "t.pkl", ["not a table"])
    refused(tmp_path / "none.csv", ["no file"])
    refused(tmp_path, ["folder"])
    refused("https://example.org/t.csv", ["local files"])
    refused("s3://bucket/t.parquet", ["local files"])
    refused("a\0b.csv", ["NUL"])
    refused([1, 2], ["list is not a table"])
    refused({"a": [1, 2], "b": [1]}, ["not a table"])
    refused(pandas.DataFrame([[1, 2]], columns=["a", "a"]), ["two columns"])
    (tmp_path / "other.csv").write_text("color,form\nred,round\n")
    refused(str(tmp_path / "*.csv"), ["other columns"])
    (tmp_path / "wide.csv").write_text(",".join(f"c{i}" for i in range(10_001)) + "\n")
    refused(tmp_path / "wide.csv", ["10,001 columns"])
    (tmp_path / "long.csv").write_text("x" * 5_000_000)
    refused(tmp_path / "long.csv", ["first line"])
    (tmp_path / "broken.csv.gz").write_bytes(gzip.compress(CSV.encode())[:20])
    refused(tmp_path / "broken.csv.gz", ["cannot be read"])


# -- factors ----------------------------------------------------------------------------------------------------------
def test_factors_are_proposed_with_reasons():
    rng = np.random.default_rng(0)
    n = 600
    color = rng.choice(["red", "green", "blue"], n)
    frame = pandas.DataFrame(
        {
            "id": np.arange(n),
            "color": color,
            "shape": rng.choice(["round", "square"], n),
            "hue": [c[0] for c in color],
            "is_red": color == "red",
            "constant": 1,
            "speed": rng.normal(size=n),
            "when": pandas.date_range("2020", periods=n),
            "tags": [["a", "b"]] * n,
            "split": rng.choice(["train", "test"], n),
            "rare": [None] * 500 + ["x", "y"] * 50,
            "day": rng.integers(0, 365, n),
            "right": (color == "red").astype(int),
        }
    )
    audit = rc.audit(frame, outcome="right")
    assert audit.factors == ("color", "shape")
    assert audit.choice.proposed and "proposed" in str(audit)
    why = audit.choice.left_out
    assert "an id" in why["id"] and "--bin" in why["speed"] and "function of 'color'" in why["hue"]
    assert "--date" in why["when"] and "--missing" in why["rare"] and "--split" in why["split"]
    # is_red is what the outcome is, so it would give it away
    assert "outcome" in why["is_red"] and "one level" in why["constant"] and "lists" in why["tags"]
    assert "split" in why["split"] and "empty in 83%" in why["rare"] and "levels" in why["day"]


def test_factors_that_cannot_be(table):
    refused(table, ["'colour'", "did you mean 'color'"], factors="colour,shape")
    refused(table, ["named twice"], factors="color,color")
    refused(table, ["at once"], factors="color,split", split="split")
    refused(table, ["no factor"], factors=[])
    refused(table, ["different columns"], split="split", outcome="split", factors="color")
    frame = pandas.DataFrame(
        {"speed": np.linspace(0, 1, 200) ** 2, "tags": [["a"]] * 200, "id": range(200), "b": ["x", "y"] * 100}
    )
    refused(frame, ["'speed'"], factors="speed,b")
    refused(frame, ["lists or records"], factors="tags,b")
    refused(frame, ["looks like an id"], factors="id,b")
    many = pandas.DataFrame({"a": np.arange(20_000) % 6_000, "b": ["x", "y"] * 10_000})
    refused(many, ["6,000 levels", "bins"], factors="a,b")
    decimals = pandas.DataFrame({"speed": (np.arange(2000) % 100) / 7, "b": ["x", "y"] * 1000})
    refused(decimals, ["measurement", "bins"], factors="speed,b")


def test_is_function_is_exact():
    a, b = np.array([0, 0, 1, 2, -1]), np.array([1, 1, 0, 0, -1])
    assert factors.is_function(a, b) and not factors.is_function(b, a)


# -- the split and the outcome ----------------------------------------------------------------------------------------
def test_split_and_outcome_that_cannot_be(table):
    frame = pandas.DataFrame(ROWS * 6, columns=["color", "shape", "split"])
    refused(frame.assign(split="a"), ["'a'", "must say 'train'"], split="split", factors="color,shape")
    refused(frame, ["unknown column for the split", "did you mean 'split'"], split="splt", factors="color,shape")
    options = {"factors": "color,shape", "outcome": "o"}
    refused(frame.assign(o="maybe"), ["'maybe'", "1 for right"], **options)
    refused(frame.assign(o=[-3.0, 17.0] * 12), ["from -3 to 17"], **options)
    refused(frame.assign(o=None), ["empty in every row"], **options)
    refused(frame.assign(o=[0.5, float("inf")] * 12), ["'inf'"], **options)


def test_words_and_numbers_for_outcomes_mean_the_same():
    frame = pandas.DataFrame(ROWS * 6, columns=["color", "shape", "split"])
    right = np.arange(24) % 4 != 3
    ways = [
        right,
        right.astype(int),
        right.astype(float),
        np.where(right, "True", "false"),
        np.where(right, " Correct", "WRONG"),
    ]
    for way in ways:
        found = observed(frame.assign(o=way), split="split", outcome="o")
        assert found.right.sum(1).tolist() == [6, 0, 6, 6] and found.answers.sum(1).tolist() == [6, 6, 6, 6]
    assert any("turn it around" in note for note in observed(frame.assign(failed=right), outcome="failed").notes)
    trained = frame.assign(is_train=frame.split == "train")
    assert observed(trained, split="is_train").trained.tolist() == [6, 0, 6, 6]


def test_row_codes_follow_the_order_of_the_rows(table):
    frame = pandas.DataFrame(ROWS * 500, columns=["color", "shape", "split"]).sample(frac=1, random_state=0)
    frame.loc[frame.index[::7], "color"] = None
    with open_source(frame) as source:
        found = data.observe(data.code(source, ["color", "shape"]), ["color", "shape"])
        at, _ = data.row_codes(source, found, None, None)
    for position, (color, shape) in zip(at.tolist(), frame[["color", "shape"]].itertuples(index=False), strict=True):
        assert (
            position == -1
            if not isinstance(color, str)
            else found.labels(found.rows[position]) == {"color": color, "shape": shape}
        )
