"""`recombine split` from the command line: files, refusals, and what it never overwrites."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pandas
import pytest
from command_line import exit_code as run

import recombine as rc

FACTORS = ["--factors", "weather,light,road,vehicle"]


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_it_writes_the_sets_the_certificate_and_a_map(capsys, tmp_path):
    assert run("split", rc.example("drives"), *FACTORS, "--design", "pairs", "--held-out", ".2", "--out", "here") == 0
    assert sorted(os.listdir("here")) == [
        "certificate.json",
        "certificate.txt",
        "held_out.csv",
        "map.html",
        "test.csv",
        "train.csv",
        "validation.csv",
    ]
    said = capsys.readouterr().out
    assert "divergence" in said and "held_out: here/held_out.csv" in said
    known = json.loads((tmp_path / "here" / "certificate.json").read_text())
    assert set(known["files"]) == set(os.listdir("here")) - {"certificate.json"}


def test_json_is_one_object_and_a_dry_run_writes_nothing(capsys):
    assert run("split", rc.example("drives"), *FACTORS, "--dry-run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == {} and found["certificate"]["atom_divergence"] >= 0 and not os.path.exists("runs")
    assert run("split", rc.example("drives"), *FACTORS) == 0
    assert os.path.exists("runs/split-drives/train.csv")


def test_folders_are_replaced_by_force_and_only_if_they_are_ours(capsys):
    words = ("split", rc.example("drives"), *FACTORS, "--out", "here")
    assert run(*words) == 0 and run(*words) == 2
    assert "--force" in capsys.readouterr().err
    assert run(*words, "--force", "--seed", "3") == 0
    with open("here/notes.txt", "w") as file:
        file.write("mine")
    capsys.readouterr()
    assert run(*words, "--force") == 2
    assert "notes.txt" in capsys.readouterr().err and os.path.exists("here/notes.txt")


@pytest.mark.parametrize(
    "words, remedies",
    [
        (["--held-out", "0"], ["held_out=0", "nearest possible"]),
        (["--held-out", "1"], ["held_out=1", "nearest possible"]),
        (["--design", "missing", "--elements", "light=day", "light=dusk", "light=night"], ["light=day", "fewer"]),
        (["--group", "vehicle"], ["'vehicle'", "--group"]),
        (["--design", "orthotope", "--width", "2"], ["width=", "'orthotope'", "extreme"]),
    ],
)
def test_bad_requests_end_with_two_and_one_sentence(capsys, words, remedies):
    factors = [] if "--group" in words else FACTORS
    factors = factors or ["--factors", "weather,light,road"]
    assert run("split", rc.example("drives"), *factors, *words) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in remedies), said
    assert said.count("\n") == 1 and said.startswith("recombine: ")


@pytest.mark.long
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_million_rows_take_seconds(ending, tmp_path):
    rng = np.random.default_rng(0)
    n = 1_000_000
    frame = pandas.DataFrame({f"f{i}": rng.integers(6 + i, size=n) for i in range(4)})
    frame["x"], frame["note"] = rng.normal(size=n), 'he said "hi, there"'
    path = tmp_path / f"t.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    started = time.monotonic()
    assert run("split", path, "--factors", "f0,f1,f2,f3", "--out", "here") == 0
    assert time.monotonic() - started < 60
