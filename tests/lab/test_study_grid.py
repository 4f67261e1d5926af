"""A large grid is made from two seeds, and is the one that every seed by itself would give."""

import pytest

from recombine.lab.cells import Cell
from recombine.studies import registry


@pytest.mark.parametrize("name", ["supports", "encodings", "stripes", "required-tasks", "decodability"])
@pytest.mark.parametrize("changes", [{}, {"control": "same-arms"}], ids=str)
def test_cells_and_ids_are_those_of_each_seed_by_itself(name, changes):
    study = registry[name]
    settings = study.settings("smoke", changes)
    cells = study.cells(settings, 4)
    expected = [Cell(study.id, study.version, spec) for seed in range(4) for spec in study.grid(settings, seed)]
    assert [cell.spec for cell in cells] == [cell.spec for cell in expected]
    assert [cell.id for cell in cells] == [cell.id for cell in expected]
    assert len({cell.id for cell in cells}) == len(cells)


def test_a_grid_of_many_seeds_is_looked_at_twice(monkeypatch):
    study, looked = registry["supports"], []
    real = type(study).require_possible
    monkeypatch.setattr(type(study), "require_possible", lambda self, specs: looked.append(1) or real(self, specs))
    settings = study.settings("smoke")
    assert len(study.cells(settings, 200)) == 200 * len(study.grid(settings, 0))
    assert len(looked) == 3  # the first seed, one of the others, and ours just now
    study.cells(settings, 200, checked=False)
    assert len(looked) == 3
