"""superposition: readings on planted tables, what is probed, its chart, the published setting, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    assert_trained_as_published,
    paper_trials,
    probe_rows,
    score_rows,
    table_of,
)

from recombine import UserError, packed_images
from recombine.context import Context
from recombine.lab.cells import Cell
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies.liang2025 import superposition_readings as readings
from recombine.studies.liang2025.render_weights import weight
from recombine.studies.liang2025.superposition import study


def explained(mlp: float, coordinate: float) -> StudyTable:
    """By held-out error of an MLP that blends and of a coordinate net that draws the truth."""
    rows = []
    for net, error, shared, truth in (("mlp", mlp, 0.7, 0.1), ("coordinate-mlp", coordinate, 0.3, 0.99)):
        common = {"net": net, "encoding": "one-hot", "cell": net}
        rows += score_rows(common, 0.0, error)
        values = {"by_shared": shared, "by_truth": truth, "by_others": 0.2, "by_filled": 0.25, "mean_code": 0.8}
        values |= {f"kernel_{name}": 0.5 for name in ("factorized", "radial", "binary", "match")}
        for metric, value in values.items():
            rows += probe_rows(common, "superposition", metric, {"output": value})
        for metric, value in (("ssim_error_held_out", 0.2), ("cosine_sharing", 0.4)):
            rows += probe_rows(common, "similarity", metric, {"output": value})
        for metric, value in (("to_truth", 3.0), ("to_template", 1.0)):
            rows += probe_rows(common, "transport", metric, {"output": value})
    return table_of(rows)


# -- readings on planted tables ---------------------------------------------------------------------------------------
def test_failing_nets_must_fail_and_cured_ones_must_be_cured():
    """The truth is given as many pictures as share a factor; that of a cured net stands alone."""
    assert readings.blend_over_truth(explained(1.0, 0.01)) == {"mlp, one-hot": pytest.approx(0.7 - 0.25)}
    assert readings.truth_over_blend(explained(1.0, 0.01)) == {"coordinate-mlp, one-hot": pytest.approx(0.69)}
    (unmet,) = readings.blend_over_truth(explained(0.2, 0.01)).values()
    assert isinstance(unmet, PreconditionFailed) and "mlp, one-hot does not fail (held-out error 0.20)" in str(unmet)
    (unmet,) = readings.truth_over_blend(explained(1.0, 0.4)).values()
    words = "coordinate-mlp, one-hot is not cured (held-out error 0.40, above 0.1); train longer"
    assert isinstance(unmet, PreconditionFailed) and str(unmet) == words
    with pytest.raises(PreconditionFailed, match="none of coordinate-mlp, rendering was run"):
        readings.truth_over_blend(explained(1.0, 0.01).where(net="mlp"))


def test_what_explains_failing_nets_is_measured_of_these_alone():
    table = explained(1.0, 0.01)
    found = {one.id: one.reading(table) for one in study.measurements}
    kernels = {f"kernel-{name}": 0.5 for name in ("factorized", "radial", "binary", "match")}
    shares = {"others": 0.2, "shared": 0.7, "truth": 0.1, "filled": 0.25, "mean-code": 0.8, "transport": 2.0}
    assert found == pytest.approx(shares | kernels | {"ssim": 0.2, "cosine": 0.4})


# -- charts -----------------------------------------------------------------------------------------------------------
def test_its_chart_has_one_point_per_seed_and_explanation():
    (figure,) = study.figures(explained(1.0, 0.01))
    rows = figure.spec["data"]["values"]
    shown = {(row["net"], row["series"]): row["value"] for row in rows}
    assert len(rows) == 8 and shown["mlp, one-hot", "trained, sharing a factor"] == pytest.approx(0.7)
    assert shown["coordinate-mlp, one-hot", "the truth"] == pytest.approx(0.99)
    assert_says_so_without_records(study)


# -- settings ---------------------------------------------------------------------------------------------------------
def test_kernels_are_fitted_for_every_seed_and_similarity_matrices_kept_of_the_first():
    first, second = (study.grid(study.settings("smoke"), seed)[0]["trial"] for seed in (0, 1))
    assert first["probes"] == second["probes"] == [{"name": n} for n in ("superposition", "transport", "similarity")]
    assert first["keep"] == ["panel", "drawings", "similarity"] and second["keep"] == ["panel"]


def test_similarity_matrices_are_shown_beside_those_of_the_true_pictures():
    spec = study.grid(study.settings("smoke", {"size": 5, "steps": 2, "net": ["mlp"]}), 0)[0]
    grid = study.image_grids([study.compute(Cell(study.id, study.version, spec), Context())])[-1]
    assert grid.title == "How alike drawings are" and grid.columns == ("drawn", "truth")
    ((_, (drawn, truth)),) = grid.rows
    trained = 25 - 9
    assert drawn is not None and drawn.outlines == ((trained, trained, 9, 9),)
    matrix = packed_images.unpack(truth.packed)
    assert matrix.shape == (25, 25) and np.diag(matrix) == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(matrix, matrix.T, atol=0.01)


def test_cured_nets_have_the_first_code_only():
    places = [tuple(spec["at"].values()) for spec in study.grid(study.settings("laptop"), 0)]
    assert places == [
        ("mlp", "one-hot"),
        ("mlp", "bump"),
        ("cnn-decoder", "one-hot"),
        ("cnn-decoder", "bump"),
        ("coordinate-mlp", "one-hot"),
        ("rendering", "one-hot"),
    ]


def test_paper_scale_is_the_published_setting():
    trials = paper_trials(study)
    assert all(trial.world["space"]["size"] == 28 for trial in trials)
    nets = {trial.stages[0]["net"]["name"]: trial.stages[0]["net"] for trial in trials}
    scaled = {"entropy": weight("entropy", 28, 1.0), "variance": weight("variance", 28, 1.0)}
    assert nets["rendering"] == {"name": "rendering", "variance_of": "raw", **scaled}
    assert nets["cnn-decoder"] == {"name": "cnn-decoder", "base": 7, "width": 64, "depth": 4}
    assert_trained_as_published(study)
    assert_one_step_can_be_taken(trials[0])


def test_in_its_controls_every_picture_is_the_same():
    for control in study.control_names():
        for spec in study.grid(study.settings("smoke", study.control(control)), 0):
            assert spec["trial"]["world"]["name"] == "bumps-indifferent-v1"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"world": "hyperteacher-v1"}, "hyperteacher-v1"),
        ({"net": "transformer"}, "unknown name in net 'transformer'"),
        ({"encoding": "identity"}, "identity"),
        ({"size": "4"}, "size=4 is too small; it must be at least 5"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words):
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)
