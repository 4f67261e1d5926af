"""Paper scale: the published number of cells, the published recipe, and a first step that can be taken."""

from __future__ import annotations

import paper_scale
import pytest

from recombine.studies import registry

#: cells of the published grids, with three seeds each; None: the grid is ours
CELLS = {
    "supports": 6 * 3,
    "supports-preference": 6 * 3,
    "supports-goal": None,
    "required-tasks-preference": 7 * 3 * 19 * 3,
    "encodings": 7 * 3,
    "encodings-preference": 6 * 3,
    "scaling-model": 6 * 2 * 5 * 3,
    "scaling-model-preference": 5 * 2 * 8 * 3,
    "scaling-data": 3 * 6 * 4 * 8 * 3,  # MLP, transformer, deep teacher
    "scaling-data-preference": 6 * 4 * 7 * 3,
    "required-tasks": 10 * 3 * 15 * 2 * 3,
}


@pytest.mark.parametrize("name", [name for name, number in CELLS.items() if number is not None])
def test_the_paper_grid_has_the_published_number_of_cells(name):
    paper_scale.assert_published_number_of_cells(registry[name], CELLS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
def test_one_step_of_one_cell_at_paper_scale(name):
    paper_scale.assert_one_step_can_be_taken(registry[name])


@pytest.mark.parametrize("name", [*CELLS, "decodability", "beyond", "phase"])
def test_paper_scale_trains_as_published(name):
    paper_scale.assert_trained_as_published(registry[name])
