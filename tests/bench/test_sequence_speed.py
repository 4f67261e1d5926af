"""The bench of sequences: what it times, and how it asks another python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import recombine as rc
from recombine.bench import sequence_speed


@pytest.fixture(scope="module")
def setting():
    task = rc.tasks.Scan(rc.tasks.scan_commands(sentences=1))
    return task, rc.supports.scan(task.space, split="simple")


def torch_says(folder: Path, monkeypatch, printed: dict) -> None:
    """Stands in for the script that times torch."""
    script = folder / "twin.py"
    script.write_text(f"print({json.dumps(printed)!r})\n")
    monkeypatch.setattr(sequence_speed, "TWIN", script)


def test_a_net_is_timed_in_training_and_decoding_and_beside_torch(setting, tmp_path, monkeypatch):
    monkeypatch.setattr(sequence_speed, "NETS", {"lstm": rc.nets.LSTM(8, 1)})
    monkeypatch.setattr(sequence_speed, "STEPS", 2)
    lines: list[str] = []
    torch_says(tmp_path, monkeypatch, {"seconds": [0.5, 0.5, 2.0], "parameters": 1319})
    training, decoding = sequence_speed.measured("lstm", *setting, 2, 1e11, lines.append, torch=True)
    assert training.others == {"torch": [500.0, 500.0]} and len(training.ours) == 2 and decoding.ours[0] > 0
    assert training.reached is True  # 500 ms per step are less than three quarters as fast
    words = (sequence_speed.some_batches(*setting)["targets"] >= 0).sum(axis=(1, 2)).mean()
    second = words / (np.median(training.ours) / 1e3)
    assert f"{second:,.0f} words" in lines[-1] and f"{6 * 1319 * second / 1e11:.0%} of the matmul" in lines[-1]


def test_without_torch_the_ratio_is_not_asked(setting, monkeypatch):
    monkeypatch.setattr(sequence_speed, "STEPS", 1)
    monkeypatch.setattr(sequence_speed, "NETS", {"lstm": rc.nets.LSTM(8, 1)})
    training, decoding = sequence_speed.measured("lstm", *setting, 1, 1e11, lambda _: None, torch=False)
    assert training.reached is None and decoding.reached is not None


def test_batches_have_the_words_of_the_world_and_what_counts_is_counted(setting):
    batches = sequence_speed.some_batches(*setting)
    assert batches["codes"].shape[1] == batches["targets"].shape[1] == sequence_speed.TASKS
    assert batches["words"].tolist() == [13, 7] and batches["targets"].max() < 7


def test_another_net_is_no_comparison(setting, tmp_path, monkeypatch):
    torch_says(tmp_path, monkeypatch, {"seconds": [1.0], "parameters": 200})
    with pytest.raises(ValueError, match="200 parameters, and ours 100"):
        sequence_speed.torch_step("lstm", sequence_speed.some_batches(*setting), 100)
