"""Probes of drawings: kernels, superposition and transport, against drawings of which the answer is known."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from planted import N, Table, planted, pretend

from recombine import Product, UserError, supports, tasks
from recombine.probes import drawings_of, explained, fit_kernels, kernel_machine, superposition, transport
from recombine.probes.grid import grid_of
from recombine.probes.ink_superposition import blends, mean_code_sum
from recombine.probes.transport import distance, transport_maps
from recombine.tasks import Bumps


def bump(x: float, y: float, side: int = 28, sigma: float = 1.0) -> np.ndarray:
    across, down = (np.exp(-((np.arange(side) - at) ** 2) / (2 * sigma**2)) for at in (x, y))
    return down[:, None] * across


@functools.cache
def known() -> dict[str, np.ndarray]:
    drawings = drawings_of(planted())
    return {"truth": drawings.truth, "template": drawings.template}


# -- templates ----------------------------------------------------------------------------------------------------


def test_a_template_is_the_mean_of_what_shares_a_factor():
    drawings = drawings_of(planted())
    grid = drawings.grid
    for x, y in ((3, 4), (0, 5), (7, 7)):
        shared = [(i, j) for i, j in np.argwhere(grid.trained) if i == x or j == y]
        expected = np.mean([drawings.truth[i, j] for i, j in shared], axis=0)
        np.testing.assert_allclose(drawings.template[x, y], expected, atol=1e-6)
    np.testing.assert_allclose(drawings.truth[2, 5].reshape(N, N), bump(2, 5, N), atol=1e-6)


def test_ink_does_not_depend_on_the_polarity():
    drawn = np.random.default_rng(0).uniform(size=(N, N, N * N))
    rows = [superposition(planted(output=drawn, polarity=polarity)).rows for polarity in ("bright", "dark")]
    for bright, dark in zip(*rows, strict=True):
        if not bright["metric"].endswith("untrained"):
            assert bright["value"] == pytest.approx(dark["value"], abs=1e-4), bright["metric"]


def test_trained_stripes_can_be_superposed_too():
    task = tasks.registry["bumps-and-stripes-v1"]
    space = task.space_of(N)
    hole = supports.where(space, lambda rows: ((rows >= 2) & (rows <= 5)).all(1))
    drawings = drawings_of(pretend(task(space), hole, Table()))  # no net is needed
    stripes = (drawings.places == -1).any(1)
    assert stripes.sum() == 2 * N and len(stripes) == 2 * N + N * N - 16
    across = drawings.trained[(drawings.places == (3, -1)).all(1)].reshape(N, N)
    np.testing.assert_allclose(across, np.broadcast_to(bump(3, 0, N)[0], (N, N)), atol=1e-6)
    both = (drawings.places[:, 0] == 3) | (drawings.places[:, 1] == 4)
    np.testing.assert_allclose(drawings.template[3, 4], drawings.trained[both].mean(0), atol=1e-6)


def test_what_shares_nothing_with_training_is_refused():
    space = Product(x=4, y=4)
    one = supports.where(space, lambda rows: (rows != 0).all(1) & (rows.sum(1) == 6), design="corner")
    run = pretend(Bumps(space, encoding="one-hot"), one, Table())
    assert drawings_of(run).held_out.sum() == 1
    alone = supports.from_combinations(space, [[0, 0]], [[3, 3]])
    with pytest.raises(UserError, match="nothing that could be superposed"):
        drawings_of(pretend(run.task, alone, Table()))


# -- kernels ------------------------------------------------------------------------------------------------------


def test_kernel_machines_without_training_fail_like_blank_pictures():
    """The figures of the notes (ours): held-out error of kernel regression on the published grid; blank is .00401."""
    space = Product(x=28, y=28)
    support = supports.donut(space)

    def error(code: str, **options) -> float:
        return kernel_machine(Bumps(space, encoding=code), support, **options).error_held_out

    for scale in (0.5, 1.0, 4.0):
        assert 0.00355 <= error("bump", scale=scale) <= 0.0039
    assert [error("one-hot", scale=scale) for scale in (0.5, 4.0)] == pytest.approx([0.0040, 0.0059], abs=5e-5)
    assert error("ramp", scale=1.0) == pytest.approx(0.0033, abs=5e-5)
    assert error("ramp", scale=2.0) == pytest.approx(0.0091, abs=5e-5)
    for options in ({"kernel": "linear"}, {"kernel": "delta"}, {"kernel": "delta", "match": 1.0}):
        assert 0.0052 <= error("one-hot", **options) <= 0.0059
    with pytest.raises(UserError, match="'rbff'.*'rbf'"):
        error("bump", kernel="rbff")
    small = planted()
    machine = kernel_machine(small.task, small.support)
    assert machine.error_trained < 1e-6 < machine.error_held_out
    np.testing.assert_allclose(machine.prediction[0, 0], known()["truth"][0, 0], atol=1e-4)


def smooth(run, lengths: tuple[float, float]) -> np.ndarray:
    """Drawings over the grid that a factorized kernel of these lengths makes of random weights at trained points."""
    grid = grid_of(run)
    x, y = (grid.combinations[:, axis].astype(float) for axis in (0, 1))
    fit = grid.trained.ravel()
    squares = (((at[:, None] - at[fit]) / length) ** 2 for at, length in zip((x, y), lengths, strict=True))
    gram = np.exp(-sum(squares) / 2)
    return (gram @ np.random.default_rng(3).normal(size=(fit.sum(), N * N))).reshape(N, N, -1)


def test_the_scale_is_found_on_trained_points_alone():
    run = planted()
    grid, drawn = grid_of(run), smooth(run, (2.0, 0.5))
    found = fit_kernels(grid, {"": drawn})[""]
    assert found["factorized"].scale == (2.0, 0.5)
    np.testing.assert_allclose(found["factorized"].prediction, drawn[grid.held_out], atol=1e-3)
    assert found["radial"].scale[0] == found["radial"].scale[1]
    other = np.where(grid.held_out[..., None], 100.0, drawn)
    again = fit_kernels(grid, {"": other})[""]
    for kernel, fit in found.items():
        assert again[kernel].scale == fit.scale and again[kernel].left_out == fit.left_out
        np.testing.assert_array_equal(again[kernel].prediction, fit.prediction)


def test_leaving_out_in_closed_form_is_leaving_out():
    run = planted()
    grid, drawn = grid_of(run), np.random.default_rng(4).normal(size=(N, N, 3))
    found = fit_kernels(grid, {"": drawn}, scales=(1.0,), ridge=1e-3)[""]["radial"]
    at, targets = grid.combinations[grid.trained.ravel()].astype(float), drawn[grid.trained]
    gram = np.exp(-((at[:, None] - at) ** 2).sum(-1) / 2)
    errors = []
    for i in range(len(at)):
        rest = np.arange(len(at)) != i
        weights = np.linalg.solve(gram[np.ix_(rest, rest)] + 1e-3 * np.eye(rest.sum()), targets[rest])
        errors.append((gram[i, rest] @ weights - targets[i]) ** 2)
    assert found.left_out == pytest.approx(np.mean(errors), rel=1e-6)


def test_binary_and_match_kernels():
    run = planted()
    grid, rng = grid_of(run), np.random.default_rng(5)
    sums = rng.normal(size=(N, 1, 4)) + rng.normal(size=(1, N, 4))
    found = fit_kernels(grid, {"sums": sums, "truth": known()["truth"]})
    np.testing.assert_allclose(found["sums"]["binary"].prediction, sums[grid.held_out], atol=1e-4)
    assert np.abs(found["truth"]["binary"].prediction - known()["truth"][grid.held_out]).max() > 0.5
    assert (found["sums"]["match"].prediction == 0).all()


# -- superposition ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draws", ["truth", "template"])
def test_what_composes_and_what_superposes_score_on_their_sides(draws):
    readings = superposition(planted(output=known()[draws]))
    value = {row["metric"]: row["value"] for row in readings.rows}
    for metric in ("by_shared", "by_truth", "by_others", "mean_code", "kernel_binary"):
        assert value[metric] == pytest.approx(value[f"{metric}_{draws}"], abs=1e-4), "the control is this net"
    if draws == "truth":
        assert value["by_truth"] == pytest.approx(1, abs=1e-5) and value["by_shared"] < 0.7
    else:
        assert value["by_shared"] == pytest.approx(1, abs=1e-5) and value["by_truth"] < 0.3
        assert value["kernel_binary"] > 0.7
    assert value["by_others"] < 0.5 and value["kernel_match"] == 0 and value["blank"] == 0


def test_blends_are_non_negative_least_squares_on_pixels():
    rng = np.random.default_rng(6)
    drawn = rng.normal(size=(N, N, N * N)) + 0.5
    drawings = drawings_of(planted(output=drawn))
    (energy, parts) = blends(drawings, {"": drawn}, 0)[""]
    for point, (x, y) in list(enumerate(np.argwhere(drawings.held_out)))[::5]:
        shared = ((drawings.places == (x, y)).any(1)).nonzero()[0]
        _, rest = scipy.optimize.nnls(drawings.trained[shared].T.astype(float), drawn[x, y])
        assert energy[point] - parts["shared"][point] == pytest.approx(rest**2, rel=1e-5)
        truth = drawings.truth[x, y].astype(float)
        best = max(truth @ drawn[x, y], 0) ** 2 / (truth @ truth)
        assert parts["truth"][point] == pytest.approx(best, rel=1e-5, abs=1e-9)


def test_the_mean_code_test_feeds_the_mean_over_trained_points():
    rng = np.random.default_rng(7)
    drawn = rng.normal(size=(N, N, N * N))
    run = planted(output=drawn)
    drawings = drawings_of(run)
    trained = drawings.grid.trained
    # the net is linear in each part of its one-hot code, so that a mean code gives the mean of its drawings
    usage = [trained.sum(1) / trained.sum(), trained.sum(0) / trained.sum()]
    expected = np.einsum("iju,j->iu", drawn, usage[1])[:, None] + np.einsum("iju,i->ju", drawn, usage[0])[None]
    summed = mean_code_sum(drawings, run.nets[0])
    np.testing.assert_allclose(summed, expected, atol=1e-4)
    found = explained(run)
    assert found.mean_code[3, 4] == pytest.approx(np.corrcoef(expected[3, 4], drawn[3, 4])[0, 1], abs=1e-4)
    assert np.isnan(found.mean_code[0, 0]) and np.isnan(found.by["shared"][0, 0])
    assert set(found.kernels) == {"factorized", "radial", "binary", "match"}
    across = np.stack([np.broadcast_to(bump(x, 0, N)[0], (N, N)).ravel() for x in range(N)])
    stripes = across[:, None] + across.reshape(N, N, N).swapaxes(1, 2).reshape(N, -1)[None]
    assert superposition(planted(output=stripes)).value("mean_code").mean > 0.95


def test_blank_pages_are_counted_and_not_scored():
    half = known()["truth"].copy()
    half[3] = 0
    value = {row["metric"]: row["value"] for row in superposition(planted(output=half), kernels=False).rows}
    assert value["blank"] == 0.25 and value["by_truth"] == pytest.approx(1, abs=1e-5)
    nothing = superposition(planted(output=0 * half))
    assert str(nothing.value()) == "undefined" and nothing.value("blank").mean == 1


# -- transport ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [(1, 0), (0, -3), (5, 2), (-4, 7)])
def test_a_shifted_bump_is_as_far_as_it_was_shifted(shift):
    here, there = bump(13, 12)[None], bump(13 + shift[0], 12 + shift[1])[None]
    assert distance(here, there)[0] == pytest.approx(np.hypot(*shift), rel=2e-3)
    assert distance(here, here)[0] == pytest.approx(0, abs=1e-6)
    assert distance(here, there)[0] == pytest.approx(distance(there, here)[0], rel=1e-5)
    assert distance(3 * here, there)[0] == pytest.approx(distance(here, there)[0], rel=1e-4)  # mass is scaled to 1


def test_along_one_line_it_is_the_transport_along_the_line():
    rng = np.random.default_rng(8)
    a, b = np.zeros((2, 4, 28, 28))
    a[:, 5], b[:, 5] = rng.uniform(size=(2, 4, 28))
    a[2:], b[2:] = a[2:].swapaxes(1, 2), b[2:].swapaxes(1, 2)
    lines = [(one[one.any(1)].ravel() if one.any(1).sum() == 1 else one[:, 5]) for one in np.concatenate([a, b])]
    expected = [
        scipy.stats.wasserstein_distance(np.arange(28), np.arange(28), lines[i], lines[4 + i]) for i in range(4)
    ]
    np.testing.assert_allclose(distance(a, b), expected, rtol=2e-3)


def test_it_is_a_distance():
    pages = np.random.default_rng(9).uniform(size=(3, 10, N, N)) ** 4
    ab, bc, ac = (distance(pages[i], pages[j]) for i, j in ((0, 1), (1, 2), (0, 2)))
    assert (ab > 0).all() and (ac <= ab + bc + 1e-6).all()


def test_negative_ink_has_no_mass_and_no_ink_has_no_distance():
    here = bump(4, 4, N)[None]
    sunk = np.where(here < 0.1, -5.0, here)
    assert distance(sunk, np.where(here < 0.1, 0, here))[0] == pytest.approx(0, abs=1e-6)
    assert np.isnan(distance(here, 0 * here)[0]) and np.isnan(distance(-here, here)[0])


@pytest.mark.parametrize("draws", ["truth", "template"])
def test_drawings_are_near_what_they_are(draws):
    value = {row["metric"]: row["value"] for row in transport(planted(output=known()[draws])).rows}
    other = {"truth": "template", "template": "truth"}[draws]
    assert value[f"to_{draws}"] == pytest.approx(0, abs=1e-4)
    assert value[f"to_{other}"] == pytest.approx(value["to_truth_template"], rel=1e-4) and value[f"to_{other}"] > 1
    assert value["nearer_template"] == (draws == "template") and value["blank"] == 0
    assert value["to_truth_truth"] < 1e-6 and value["to_template_template"] < 1e-6


def test_a_haze_is_no_ink_and_faint_drawings_are_blank():
    hazy = known()["truth"] + 0.05
    maps = transport_maps(planted(output=hazy))
    assert np.nanmax(maps.to_truth) < 0.25 and not maps.blank.any()
    assert np.nanmin(transport_maps(planted(output=hazy), floor=0.0).to_truth) > 0.5
    faint = known()["truth"].copy()
    faint[3] *= 0.01
    maps = transport_maps(planted(output=faint))
    assert maps.blank.sum() == 4 and maps.blank[3, 2:6].all() and np.isnan(maps.to_truth[3]).all()
    value = transport(planted(output=faint)).value
    assert value("blank").mean == 0.25 and value("to_truth").mean == pytest.approx(0, abs=1e-4)
    nothing = transport(planted(output=0 * faint))
    assert str(nothing.value()) == "undefined" and nothing.value("blank").mean == 1
    with pytest.raises(UserError, match="floor=2"):
        transport(planted(), floor=2.0)
