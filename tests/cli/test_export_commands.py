"""`recombine export` and `recombine score` from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import exit_code as run


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def exported(*more) -> int:
    return run("export", "bumps-v1", "--set", "x=6", "y=6", "held_out=.3", "--out", "world", *more)


def test_a_world_is_written_scored_and_audited(capsys, tmp_path):
    assert exported() == 0
    assert "26 train, 10 held_out" in capsys.readouterr().out
    answers = {}
    for name in ("train", "held_out"):
        part = np.load(tmp_path / "world" / f"{name}.npz")
        answers |= {name: part["target"], f"{name}_item": part["item"]}
    answers["held_out"] = np.zeros_like(answers["held_out"])
    np.savez("predictions.npz", **answers)
    assert run("score", "world", "predictions.npz") == 0
    said = capsys.readouterr().out
    (command,) = [line.removeprefix("next: recombine ") for line in said.splitlines() if line.startswith("next: ")]
    assert run(*command.split(), "--json") == 0
    audit = json.loads(capsys.readouterr().out)
    assert audit["seen_against_unseen"]["seen"]["mean"] == 1.0 and audit["seen_against_unseen"]["unseen"]["mean"] == 0.0


def test_a_world_whose_space_is_a_list_is_written_by_its_name(capsys):
    """No number makes a list of commands: its space is the one that the task has by itself."""
    assert run("export", "scan-v1", "--design", "scan", "--set", "split=add-jump", "--out", "world") == 0
    assert "13,204 train, 7,706 held_out" in capsys.readouterr().out


def test_nothing_is_overwritten_unasked(capsys):
    assert exported() == 0
    assert exported() == 2 and "--force" in capsys.readouterr().err
    assert exported("--force") == 0


@pytest.mark.parametrize(
    "words, named",
    [
        (("export", "bump-v1"), "bumps-v1"),
        (("export", "bumps-v1", "--set", "sigm=2"), "sigm"),
        (("export", "bumps-v1", "--design", "donuts"), "donut"),
        (("export", "bumps-v1", "--train", "10"), "contradict"),
        (("export", "hyperteacher-v1", "--held-out", "0"), "held_out=0"),
        (("export", "hyperteacher-v1", "--train", "9999999"), "train="),
        (("score", "nowhere", "predictions.npz"), "nowhere"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(capsys, words, named):
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert named in said and said.count("\n") == 1
