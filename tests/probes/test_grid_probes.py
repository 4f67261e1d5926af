"""Probes of layers over a grid of two factors, against nets whose layers are written down and closed forms."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from planted import NOISE, PRODUCTS, SUMS, N, Table, TableNet, noise, only, planted, pretend

from recombine import Product, UserError, probes, supports, tasks
from recombine.nets import MLP
from recombine.probes import effective_rank, geometry, separability, tuning
from recombine.probes.effective_rank import ranks, spectrum
from recombine.probes.geometry import (
    differentiable,
)
from recombine.probes.grid import activations, grid_of, make_grid, predict, read
from recombine.probes.separability import separable_maps
from recombine.probes.tuning import tuned_units
from recombine.tasks import Batch, Bumps, Task

# -- the grid ---------------------------------------------------------------------------------------------------


def test_the_published_grid_has_495_trained_and_289_held_out_points():
    space = Product(x=28, y=28)
    grid = make_grid(Bumps(space), supports.donut(space))
    assert (grid.trained.sum(), grid.held_out.sum(), grid.unused.sum()) == (495, 289, 0)
    assert grid.held_out[6:23, 6:23].all() and not grid.held_out[5].any()
    few = make_grid(Bumps(space), supports.donut(space, trained=100))
    assert (few.trained.sum(), few.held_out.sum(), few.unused.sum()) == (100, 289, 395)


def test_maps_are_indexed_by_the_first_factor_first():
    run = planted(layer=np.arange(N * N).reshape(N, N, 1).astype(float))
    assert activations(run, "layer1/post")[2, 5, 0] == 2 * N + 5
    grid = grid_of(run)
    code = np.asarray(grid.codes).reshape(N, N, -1)
    assert code[2, 5].nonzero()[0].tolist() == [2, N + 5]
    truth = np.asarray(grid.truth()).reshape(N, N, N, N)
    assert np.unravel_index(truth[2, 5].argmax(), (N, N)) == (5, 2)  # row = y, column = x


@pytest.mark.parametrize("at_once", [7, 1000])
def test_what_is_read_does_not_depend_on_the_memory(at_once):
    wide = noise(N, N, 1500)  # two blocks, and more than one pass with little memory
    run = planted(layer=wide)
    grid, net = grid_of(run), run.nets[0]
    for megabytes in (0.2, 256.0):
        blocks = list(read(grid, net, ("layer1/post", "output"), at_once=at_once, megabytes=megabytes))
        assert max(block.shape[-1] for _, block in blocks) <= 1024
        layer = np.concatenate([block for name, block in blocks if name == "layer1/post"], axis=-1)
        np.testing.assert_array_equal(layer, wide.astype(np.float32))
    np.testing.assert_array_equal(predict(net, grid.inputs, grid.codes, at_once=at_once), np.zeros((N * N, N * N)))


def test_a_pass_keeps_no_more_than_it_may():
    from recombine.probes.grid import _loads

    units = {"a": 10, "b": 95, "c": 30, "d": 1}
    loads = _loads(units, 40)
    assert all(sum(size for _, _, size in load) <= 40 for load in loads)
    for name, count in units.items():
        pieces = [(start, size) for load in loads for layer, start, size in load if layer == name]
        assert [start for start, _ in pieces] == np.cumsum([0, *(size for _, size in pieces)])[:-1].tolist()
        assert sum(size for _, size in pieces) == count


def test_further_factors_are_fixed():
    space = Product(x=6, y=5, size=3)
    task = tasks.registry["sized-bumps-v1"](space)
    support = supports.random(space, held_out=0.3)
    grid = make_grid(task, support, ("y", "size"), {"x": 4})
    assert grid.shape == (5, 3) and (grid.combinations[:, 0] == 4).all()
    np.testing.assert_array_equal(grid.trained.ravel(), support.train.contains(grid.combinations))
    assert make_grid(task, support, ("size", "y"), {"x": 4}).shape == (3, 5)
    for arguments, message in {
        (None, None): "3 factors; choose two",
        (("x", "y"), None): "fix the level of 'size'",
        (("x", "sise"), None): "did you mean 'size'",
        (("x", "x"), None): "two different",
        (("x", "y"), ("size", 7)): "unknown level of size '7'",
        (("x", "y"), ("x", 1)): "'x' spans the grid",
    }.items():
        with pytest.raises(UserError, match=message):
            make_grid(task, support, arguments[0], arguments[1] and dict([arguments[1]]))


def test_a_level_without_its_factor_is_no_part_of_the_grid():
    task = tasks.registry["bumps-and-stripes-v1"]
    space = task.space_of(N)
    grid = make_grid(task(space), supports.random(space))
    assert grid.shape == (N, N) and np.asarray(grid.present).all()


class Noisy(Task):
    """A task with fresh inputs at every point, told by a code that is no picture's."""

    id = "noisy-v1"

    def __init__(self, space: Product):
        self.space, self.constituent_names, self.samples = space, tuple(space.factors), 5

    def sample(self, key, combinations, samples=None):
        hot = self.space.multihot(combinations).astype(jnp.float32)
        inputs = jax.random.normal(key, (len(hot), samples or self.samples, 3))
        return Batch(combinations, hot, inputs, inputs[..., :2], hot)


def test_tasks_with_inputs_are_read_at_one_input():
    task = Noisy(Product(a=4, b=2, c=3))
    run = pretend(task, supports.random(task.space), MLP(8, 1), MLP(8, 1).build(task, jax.random.key(0)))
    options = {"factors": ("a", "c"), "fixed": {"b": 1}}
    grid, layer = grid_of(run, **options), activations(run, "layer1/pre", **options)
    assert layer.shape == (4, 3, 8) and grid.inputs.shape == (1, 1, 3)
    # before the nonlinearity the effects of the two factors add up, with one input; other inputs would be seen here
    np.testing.assert_allclose(layer[1, 2] - layer[1, 0], layer[3, 2] - layer[3, 0], atol=1e-5)
    assert not differentiable(grid) and grid.truth() is None
    readings = separability(run, layers="layer1/pre", **options)
    assert readings.value().mean > 0.999 and readings.value("additive_encoding").mean > 0.999
    with pytest.raises(UserError, match="noisy-v1 draws nothing"):
        probes.superposition(run, **options)


def test_what_cannot_be_read_is_refused():
    run = planted()
    with pytest.raises(UserError, match="did you mean 'layer1/post'"):
        geometry(run, layers="layer1/pots")
    with pytest.raises(UserError, match="each once"):
        geometry(run, layers=["output", "output"])
    with pytest.raises(UserError, match="seed=3"):
        activations(run, "output", seed=3)
    with pytest.raises(UserError, match="megabytes"):
        geometry(run, megabytes=1e-6)
    with pytest.raises(UserError, match="at_once=0"):
        geometry(run, at_once=0)
    narrow = Product(x=1, y=5)
    with pytest.raises(UserError, match="at least 2"):
        make_grid(Bumps(narrow), supports.where(narrow, lambda rows: rows[:, 1] == 2))


# -- separability -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layer, additive, rank_one",
    [(SUMS, (0.9999, 1), (-9, 0.95)), (PRODUCTS, (-9, 0.5), (0.99, 1)), (NOISE, (-9, 0), (-9, 0))],
    ids=["sums", "products", "noise"],
)
def test_sums_and_products_are_predicted_where_they_were_not_fitted(layer, additive, rank_one):
    readings = separability(planted(layer=layer), layers="layer1/post")
    for metric, (low, high) in (("additive", additive), ("rank_one", rank_one)):
        assert low <= readings.value(metric).mean <= high
        assert readings.value(f"{metric}_untrained").mean < 0.1  # tables of noise
        assert readings.value(f"{metric}_encoding").mean > 0.99
    assert readings.value("unpredictable").mean == 0
    assert readings.value("rank_one_truth").mean > readings.value("additive_truth").mean


def test_the_additive_fit_is_least_squares():
    run = planted(layer=NOISE)
    grid, maps = grid_of(run), only(separable_maps(run, layers="layer1/post"))
    design = np.hstack([np.repeat(np.eye(N), N, 0), np.tile(np.eye(N), (N, 1))])
    flat, fit = NOISE.reshape(N * N, -1), grid.trained.ravel()
    weights = np.linalg.lstsq(design[fit], flat[fit], rcond=None)[0]
    errors = ((flat - design @ weights) ** 2).sum(1).reshape(N, N)
    np.testing.assert_allclose(maps.errors["additive"], errors, rtol=1e-3)
    out = flat[grid.held_out.ravel()]
    expected = 1 - errors[grid.held_out].sum() / ((out - out.mean(0)) ** 2).sum()
    assert maps.r2("additive") == pytest.approx(expected, rel=1e-4)
    assert maps.r2("additive", "trained") > maps.r2("additive")


def test_units_count_by_their_variance_whatever_block_they_are_in():
    two_blocks = np.concatenate([np.repeat(SUMS, 20, -1), 0.01 * np.resize(NOISE, (N, N, 700))], axis=-1)
    readings = separability(planted(layer=two_blocks), layers="layer1/post", controls=False)
    assert 0.999 < readings.value("additive").mean < 1


def test_levels_that_were_never_trained_are_left_out_and_counted():
    space = Product(x=N, y=N)
    rows = space.enumerate()
    cross = supports.where(space, lambda rows: (rows[:, 0] == 3) | (rows == 5).all(1))
    readings = separability(planted(layer=SUMS, support=cross), layers="layer1/post", controls=False)
    assert readings.value("unpredictable").mean == N
    # one point is left, and one point has no variance
    assert str(readings.value("additive")) == "undefined"
    apart = (rows[:, 0] < 4) == (rows[:, 1] < 4)  # two blocks that share no level
    blocks = supports.where(space, lambda rows: ~((rows[:, 0] < 4) == (rows[:, 1] < 4)) | (rows == 6).all(1))
    readings = separability(planted(layer=SUMS, support=blocks), layers="layer1/post", controls=False)
    assert readings.value("unpredictable").mean == (~apart).sum()


# -- tuning -------------------------------------------------------------------------------------------------------


def test_shares_of_known_units():
    x, y = np.linspace(-1, 1, N)[:, None], np.linspace(-1, 1, N)[None]
    units = {"x": x + 0 * y, "y": 5 + x * 0 + y, "sum": 3 * x + y, "product": x * y, "bump": (1 + x) * (1 + y)}
    dead = [np.zeros((N, N)), np.full((N, N), 0.3)]
    layer = np.stack([*units.values(), *dead], axis=-1)
    run = planted(layer=layer)
    found = tuned_units(run, "layer1/post", 9)
    by = dict(zip([list(units)[unit] for unit in found.units], zip(found.shares.first, found.shares.second)))
    assert by["x"] == pytest.approx((1, 0), abs=1e-5) and by["y"] == pytest.approx((0, 1), abs=1e-5)
    assert by["sum"] == pytest.approx((0.9, 0.1), abs=1e-4) and by["product"] == pytest.approx((0, 0), abs=1e-5)
    v = x.var()  # (1 + x)(1 + y) = 1 + x + y + xy: parts of variance v, v and v^2
    assert by["bump"] == pytest.approx((1 / (2 + v), 1 / (2 + v)), abs=1e-4)
    readings = tuning(run, layers="layer1/post")
    assert readings.value("dead").mean == pytest.approx(2 / 7)
    assert readings.value("tuned").mean == pytest.approx(3 / 5)
    assert readings.value("tuned", factor="x").mean == pytest.approx(2 / 5)
    assert readings.value("index").mean == pytest.approx(0.9, abs=1e-4)
    assert readings.value("index_encoding").mean == pytest.approx(1)
    assert readings.value("index_untrained").mean < 0.4


def test_units_are_chosen_for_pictures():
    rng = np.random.default_rng(1)
    layer = rng.normal(size=(N, N, 1500)) * np.linspace(1, 2, 1500)
    layer[..., 7] = 0
    run = planted(layer=layer)
    active = tuned_units(run, "layer1/post", 3, choose="active")
    assert active.units.tolist() == np.argsort(-layer.var((0, 1)))[:3].tolist()
    np.testing.assert_allclose(active.maps, np.moveaxis(layer[..., active.units], -1, 0), rtol=1e-6)
    np.testing.assert_allclose(active.along_first, layer[..., active.units].mean(1).T, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(active.along_second, layer[..., active.units].mean(0).T, rtol=1e-4, atol=1e-6)
    spread = tuned_units(run, "layer1/post", 5)
    assert (np.diff(spread.shares.index) > 0).all() and 7 not in spread.units
    with pytest.raises(UserError, match="every unit"):
        tuned_units(planted(), "layer1/post")
    with pytest.raises(UserError, match="'activ'.*'active'"):
        tuned_units(run, "layer1/post", choose="activ")


# -- effective rank -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [40, 1500], ids=lambda n: f"{n} units on 64 points")
def test_eigenvalues_are_those_of_the_covariance(units):
    layer = noise(N, N, units) + 3
    run = planted(layer=layer)
    found = spectrum(block for _, block in read(grid_of(run), run.nets[0], ("layer1/post",)))
    flat = layer.reshape(N * N, -1)
    expected = np.linalg.svd(flat - flat.mean(0), compute_uv=False) ** 2 / (N * N)
    keep = min(len(found), len(expected))
    np.testing.assert_allclose(found[:keep], expected[:keep], rtol=1e-4, atol=1e-4 * expected[0])


def test_ranks_of_known_layers():
    basis = np.linalg.qr(np.hstack([np.ones((N * N, 1)), noise(N * N, 5)]))[0][:, 1:]  # centered
    mixed = (basis @ np.linalg.qr(noise(40, 5))[0].T).reshape(N, N, 40)

    def of(layer: np.ndarray) -> probes.Readings:
        return effective_rank(planted(layer=layer), layers="layer1/post", controls=False)

    readings = of(mixed)
    for metric in ("rank", "components_99", "entropy_rank"):
        assert readings.value(metric).mean == pytest.approx(5, rel=1e-3)
    assert of(np.full((N, N, 40), 0.3)).value().mean == 0
    assert of(SUMS).value().mean == 2 * N - 2
    assert ranks(np.array([1.0, 0.5, 1e-2, 9e-4])) == pytest.approx(
        {"rank": 3, "components_99": 2, "entropy_rank": np.exp(-sum(p * np.log(p) for p in _shares()))}, rel=1e-6
    )


def _shares() -> list[float]:
    values = [1.0, 0.5, 1e-2, 9e-4]
    return [value / sum(values) for value in values]


# -- every seed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["geometry", "separability", "tuning", "effective-rank"])
def test_every_layer_of_every_seed_is_read(name):
    one = planted(layer=SUMS)
    other = TableNet(jnp.asarray(NOISE, jnp.float32), one.nets[0].output)
    run = pretend(one.task, one.support, Table(40), one.nets[0], other)
    readings = probes.registry[name](run, controls=False)
    assert readings.layers == ["layer1/post", "output"] and {row["seed"] for row in readings.rows} == {0, 1}
    alone = probes.registry[name](pretend(one.task, one.support, Table(40), other), controls=False)
    second = [row for row in readings.rows if row["seed"] == 1]
    assert [{**row, "seed": 1} for row in alone.rows if row["layer"] == "layer1/post"] == [
        row for row in second if row["layer"] == "layer1/post"
    ]
