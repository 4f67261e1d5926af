"""How far a store is: from what lies there, at no cost that rises with what its cells would take."""

from __future__ import annotations

from recombine import trials
from recombine.lab.status import status_of
from recombine.lab.store import Store
from recombine.studies import registry
from recombine.trials import possible


def test_the_status_of_a_store_makes_no_split_and_tries_no_trial(tmp_path, monkeypatch):
    """Of 20,000 cells whose splits were made again, status took half a minute."""
    study = registry["supports"]
    about = {"study": study.id, "version": study.version, "scale": "smoke", "settings": study.settings("smoke")}
    Store.create(tmp_path / "s", about | {"seeds": 3})
    made = []
    monkeypatch.setattr(trials.Trial, "build_support", lambda *_: made.append("split"))
    monkeypatch.setattr(possible, "require_possible", lambda *_: made.append("trial"))
    status = status_of(tmp_path / "s", registry)
    assert status.total == len(study.cells(study.settings("smoke"), 3, checked=False)) and made == []
