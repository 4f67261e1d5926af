"""Records in memory: readings as they were, large facts in their files."""

import math
import sys

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.lab import store as module
from recombine.lab.cells import Cell
from recombine.lab.kept_records import KeptFacts, KeptRows
from recombine.lab.plain_rows import PlainRows
from recombine.lab.record import Record, tidy
from recombine.lab.store import Store
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry

values = st.sampled_from(["test", "", 0, 3, 0.5, None, True])
rows = st.lists(st.dictionaries(st.sampled_from(["a", "b", "value"]), values), max_size=4)


@settings(max_examples=30, deadline=None)
@given(rows)
def test_kept_rows_are_the_rows(rows):
    kept = KeptRows(rows)
    assert list(kept) == rows and len(kept) == len(rows) and kept == rows
    assert [kept[i] for i in range(len(rows))] == rows and kept[1:] == rows[1:]


def test_large_facts_are_read_when_they_are_asked_for():
    facts = {"seconds": 1.5, "content": "abc", "panel": {"score": [0.5] * 700}, "few": [1, 2, 3]}
    reads = []
    kept = KeptFacts(facts, lambda: reads.append(1) or facts)
    assert dict(kept.items()) == facts and len(reads) == 1
    assert "panel" in kept and kept["few"] == [1, 2, 3] and kept.get("nothing") is None and len(reads) == 1
    assert "0.5" not in repr(kept)
    assert sys.getsizeof(kept._facts) < 1000


def test_a_store_is_read_once_and_panels_stay_in_their_files(tmp_path, monkeypatch):
    store = Store.create(tmp_path / "s", {"study": "x", "version": 1, "scale": "smoke", "settings": {}, "seeds": 3})
    panel = {"score": [0.25] * 500}
    for seed in range(3):
        cell = Cell("x", 1, {"seed": seed, "at": {}})
        store.put(Record(cell, [{"reading": "a", "value": math.nan}], {"panel": panel, "seconds": 1.0}, {"jax": "1"}))
    reads = []
    real = module._read_record
    monkeypatch.setattr(module, "_read_record", lambda files, name: reads.append(name) or real(files, name))
    known = {cell.id: cell for cell in (Cell("x", 1, {"seed": seed, "at": {}}) for seed in range(3))}
    found = store.records(known)
    assert len(reads) == 3
    assert all(record.cell is known[record.cell.id] for record in found)
    assert found[0].provenance is found[1].provenance
    assert found[0].facts["panel"] == panel and len(reads) == 4
    assert (
        Record(found[0].cell, found[0].rows, found[0].facts, found[0].provenance).to_bytes()
        == real(store.files, f"records/{found[0].cell.id}.json").to_bytes()
    )


def test_a_tidy_table_is_that_of_its_rows():
    readings = [[{"a": 1, "value": 0.5}, {"value": 1.0, "b": "x"}], [], [{"b": "y", "value": math.nan, "asked": True}]]
    records = [
        Record(Cell("x", 1, {"seed": seed, "at": {"k": [seed]}}), rows, {}, {}) for seed, rows in enumerate(readings)
    ]
    expected = pandas.DataFrame(
        [
            {"study": "x", "cell": record.cell.id, "seed": seed, "k": f"[{seed}]"} | row
            for seed, record in enumerate(records)
            for row in record.rows
        ]
    )
    pandas.testing.assert_frame_equal(tidy(records), expected)


# -- scores -----------------------------------------------------------------------------------------------------------
columns = ["seed", "arm", "width", "reading", "metric", "stream", "group", "asked", "value"]
one_row = st.tuples(
    st.integers(0, 1),
    st.sampled_from(["a", "b"]),
    st.sampled_from([1, 2]),
    st.sampled_from(["score", "history"]),
    st.sampled_from(["r2", "r2_pooled"]),
    st.sampled_from(["test", "held_out"]),
    st.sampled_from(["", "cross-block"]),
    st.sampled_from([True, False, None]),
    st.floats(0, 1),
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(one_row, min_size=1, max_size=14),
    st.sampled_from(["test", "held_out"]),
    st.sampled_from([None, "", "cross-block"]),
)
def test_a_score_is_that_of_the_frame(drawn, stream, group):
    table = StudyTable(pandas.DataFrame(drawn, columns=columns), "r2")
    for at in ({}, {"arm": "a"}, {"arm": ["a", "b"], "width": 2}, {"nothing": 1}):
        for seed, part in table.seeds():
            frame = part.where(**at).scores(stream, group)
            expected = frame.value.tolist() if len(frame) else []
            assert part.plain("score").where(at).values(stream, group, "r2") == expected
            assert len(part) == (table.frame.seed == seed).sum()
            if len(expected) == 1:
                assert part.score(stream, group=group, **at) == expected[0]
            else:
                with pytest.raises(PreconditionFailed):
                    part.score(stream, group=group, **at)


def test_the_parts_of_seeds_are_cut_once(monkeypatch):
    frame = pandas.DataFrame(
        [(seed, "a", 1, "score", "r2", "test", "", None, 0.5) for seed in range(50)], columns=columns
    )
    table, cuts, scans = StudyTable(frame, "r2"), [], []
    take, of = pandas.DataFrame.take, PlainRows.of
    monkeypatch.setattr(pandas.DataFrame, "take", lambda self, *a, **k: cuts.append(1) or take(self, *a, **k))
    monkeypatch.setattr(PlainRows, "of", lambda frame, reading: scans.append(reading) or of(frame, reading))
    for _ in range(10):  # claims
        assert [part.score("test", arm="a") for _, part in table.seeds()] == [0.5] * 50
    assert scans == ["score"]
    assert len(cuts) <= 2  # one for the scores; of no seed a frame was cut


# -- studies ----------------------------------------------------------------------------------------------------------
def test_a_study_is_found_by_name_without_the_others():
    import subprocess

    script = (
        "import sys\nfrom recombine.studies import registry\nfirst = registry['supports']\n"
        "assert not {'jax', 'scipy', 'recombine.studies.audit.families'} & set(sys.modules), sorted(sys.modules)\n"
        "assert 'nothing' not in registry\n"
        "names = list(registry)\nassert registry['supports'] is first and len(names) == len(set(names))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_study_can_be_found_by_its_name():
    from recombine.studies import _called

    assert all(_called(name)[name] is registry[name] for name in registry)
