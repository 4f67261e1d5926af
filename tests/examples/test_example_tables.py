"""Example tables: shipped as they are made, with the truth that they are said to have."""

from __future__ import annotations

import csv

import pytest

import recombine as rc
from recombine.cli import main
from recombine.examples.example_tables import TABLES, made


def rows() -> list[dict[str, str]]:
    with rc.example("drives").open() as file:
        return list(csv.DictReader(file))


def test_the_table_is_what_its_maker_makes():
    assert rc.example("drives").read_text() == made()


def test_what_was_planted_is_there():
    def is_hard(row: dict[str, str]) -> bool:
        at_night = (row["weather"], row["light"]) == ("snow", "night")
        return at_night or (row["vehicle"], row["road"]) == ("bike", "tunnel")

    hard = [row for row in rows() if is_hard(row)]
    easy = [row for row in rows() if not is_hard(row)]
    assert len(hard) > 100 and not any(row["split"] == "train" for row in hard)
    assert sum(row["right"] == "1" for row in hard) / len(hard) < 0.2
    assert sum(row["right"] == "1" for row in easy) / len(easy) > 0.95


def test_the_command_writes_it_and_replaces_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["example"])
    assert not ended.value.code and (tmp_path / "drives.csv").read_text() == made()
    (tmp_path / "drives.csv").write_text("mine")
    with pytest.raises(SystemExit) as ended:
        main(["example", "drives"])
    assert ended.value.code == 2 and "drives.csv is there already" in capsys.readouterr().err
    assert (tmp_path / "drives.csv").read_text() == "mine"


def test_an_unknown_table_is_named():
    with pytest.raises(rc.UserError, match="drive.*drives"):
        rc.example("drive")
    assert TABLES == ("drives",)
