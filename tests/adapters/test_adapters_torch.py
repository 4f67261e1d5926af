"""Activations of torch modules: the right numbers, the right rows, and a module that is left as it was found."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; `make check-extras` runs these tests")

from torch import nn  # noqa: E402

import recombine as rc  # noqa: E402

capture = rc.adapters.torch.capture
X = torch.linspace(-1, 1, 15).reshape(5, 3)


@pytest.fixture
def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(4, 2))


class Give(nn.Module):
    """A module whose layer `part` gives what a function says."""

    def __init__(self, function):
        super().__init__()
        self.part = Part(function)

    def forward(self, x, **others):
        self.part(x)
        return x


class Part(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def part(function, batches=(X,), **options):
    return capture(Give(function), batches, "part", **options)["part"]


# -- numbers ----------------------------------------------------------------------------------------------------------
def test_layers_give_what_they_compute_and_not_what_later_ones_make_of_it(net):
    found = capture(net, [X, X[:2]], "*")
    before = X @ net[0].weight.T + net[0].bias  # the next layer works in place
    hidden = before.clamp(min=0)  # dropout is off
    expected = {"0": before, "1": hidden, "2": hidden, "3": net[3](hidden), "(output)": net[3](hidden)}
    assert list(found) == rc.adapters.torch.layer_names(net) == ["(output)", "0", "1", "2", "3"]
    for layer, values in expected.items():
        values = torch.cat([values, values[:2]]).detach().numpy()
        assert found[layer].dtype == np.float32
        np.testing.assert_allclose(found[layer], values, atol=1e-6)


def test_batches_make_no_difference(net):
    whole = capture(net, [X], "0")["0"]
    np.testing.assert_allclose(capture(net, X.split(2), "0")["0"], whole, atol=1e-6)
    np.testing.assert_allclose(capture(net, (row[None] for row in X), "0")["0"], whole, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_types_of_numbers_come_as_float32(dtype):
    net = nn.Linear(3, 4).to(dtype)
    found = capture(net, [X.to(dtype)], "(output)")["(output)"]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, net(X.to(dtype)).detach().float().numpy())


def test_numpy_batches_get_the_type_of_the_module():
    net = nn.Linear(3, 4).to(torch.bfloat16)
    found = capture(net, [X.double().numpy()], "(output)")["(output)"]
    np.testing.assert_array_equal(found, net(X.bfloat16()).detach().float().numpy())


def test_an_average_of_bfloat16_is_taken_in_float32():
    values = torch.full((1, 4096, 1), 1.0, dtype=torch.bfloat16)
    values[:, ::2] = 1.0078125  # the next number of that type: a sum in bfloat16 would lose it
    np.testing.assert_allclose(part(lambda x: values, [X[:1]]), 1.00390625, rtol=1e-7)


# -- what layers give, and what modules take --------------------------------------------------------------------------
@dataclass
class Answer:
    loss: object = None
    state: object = None


Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: (x, x + 1),
        lambda x: [None, x],
        lambda x: {"state": x, "other": x + 1},
        lambda x: Answer(loss=x.sum(), state=x),
        lambda x: Pair(x, x + 1),
        lambda x: (x.long(), (x, x + 1)),
    ],
)
def test_structures_give_their_first_tensor_of_fractions(wrap):
    np.testing.assert_array_equal(part(wrap), X.numpy())


def test_select_chooses_another():
    found = part(lambda x: (x, x + 1), select=lambda layer, output: output[1])
    np.testing.assert_array_equal(found, X.numpy() + 1)


def test_numbers_a_row_become_a_feature():
    assert part(lambda x: x.sum(1)).shape == (5, 1)
    np.testing.assert_array_equal(part(lambda x: x > 0), (X > 0).float().numpy())


class Sum(nn.Module):
    def forward(self, a, b):
        return a + 2 * b


@pytest.mark.parametrize("batch", [(X, X), [X, X], {"b": X, "a": X}, Pair(X, X), (X.numpy(), X)])
def test_tuples_are_arguments_and_dicts_are_named_ones(batch):
    np.testing.assert_allclose(capture(Sum(), [batch], "(output)")["(output)"], 3 * X.numpy(), atol=1e-6)


def test_a_loader_of_pairs_says_which_is_the_input(net):
    data = torch.utils.data
    pairs = data.TensorDataset(X, torch.arange(5))
    with pytest.raises(TypeError) as problem:
        capture(net, data.DataLoader(pairs, 2), "0")
    assert "forward=lambda module, batch: module(batch[0])" in problem.value.__notes__[0]
    found = capture(net, data.DataLoader(pairs, 2), "0", forward=lambda module, batch: module(batch[0]))
    np.testing.assert_allclose(found["0"], capture(net, [X], "0")["0"], atol=1e-6)
    with pytest.raises(rc.UserError, match="shuffles, so rows could not be told apart"):
        capture(net, data.DataLoader(pairs, 2, shuffle=True), "0")


# -- pooling ----------------------------------------------------------------------------------------------------------
TOKENS = torch.arange(24.0).reshape(2, 4, 3)  # (rows, tokens, features)
MASKS = {"right": torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0]]), "left": torch.tensor([[0, 1, 1, 1], [0, 0, 0, 1]])}


def tokens(side=None, pooling="mean", values=TOKENS, **options):
    batch = {"x": values} if side is None else {"x": values, "attention_mask": MASKS[side]}
    return part(lambda x: x, [batch], pooling=pooling, **options)


def test_tokens_are_averaged_chosen_or_laid_side_by_side():
    t = TOKENS.numpy()
    np.testing.assert_allclose(tokens(), t.mean(1))
    np.testing.assert_array_equal(tokens(pooling="last"), t[:, 3])
    np.testing.assert_array_equal(tokens(pooling="token:1"), t[:, 1])
    np.testing.assert_array_equal(tokens(pooling="token:-2"), t[:, 2])
    np.testing.assert_array_equal(tokens(pooling="flatten"), t.reshape(2, 12))


@pytest.mark.parametrize("side, real", [("right", [[0, 1, 2], [0]]), ("left", [[1, 2, 3], [3]])])
def test_padding_never_counts_on_either_side(side, real):
    t = TOKENS.numpy()
    padded = TOKENS.masked_fill(MASKS[side][..., None] == 0, float("nan"))  # must not be touched at all
    np.testing.assert_allclose(tokens(side, values=padded), [t[row, places].mean(0) for row, places in enumerate(real)])
    np.testing.assert_array_equal(
        tokens(side, "last", values=padded), [t[row, places[-1]] for row, places in enumerate(real)]
    )
    np.testing.assert_array_equal(
        tokens(side, "token:0", values=padded), [t[row, places[0]] for row, places in enumerate(real)]
    )
    kept = t * MASKS[side].numpy()[..., None]
    np.testing.assert_array_equal(tokens(side, "flatten", values=padded), kept.reshape(2, 12))
    np.testing.assert_allclose(tokens(side, mask=None), t.mean(1))


def test_masks_are_found_by_key_place_or_function():
    real, expected = MASKS["left"], tokens("left")
    assert not np.allclose(expected, tokens())
    two = Give(lambda x: x)
    by_key = capture(two, [{"x": TOKENS, "real": real}], "part", mask="real")["part"]
    run = lambda module, batch: module(batch[0])  # noqa: E731
    by_place = capture(two, [(TOKENS, real.bool())], "part", mask=1, forward=run)["part"]
    by_function = capture(two, [(TOKENS, ~real.bool())], "part", mask=lambda b: ~b[1], forward=run)["part"]
    for found in (by_key, by_place, by_function):
        np.testing.assert_array_equal(found, expected)


def test_pixels_are_averaged_wherever_the_channels_are():
    maps = torch.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    expected = maps.mean((2, 3)).numpy()
    np.testing.assert_allclose(part(lambda x: maps, [X[:2]]), expected, rtol=1e-6)
    np.testing.assert_allclose(part(lambda x: maps.movedim(1, -1), [X[:2]], channels="last"), expected, rtol=1e-6)
    np.testing.assert_allclose(part(lambda x: maps.flatten(2), [X[:2]], channels="first"), expected, rtol=1e-6)
    real = torch.zeros(2, 4, 5, dtype=torch.bool)
    real[:, 1:3, 2] = True
    found = part(lambda x: maps, [X[:2]], mask=lambda batch: real)
    np.testing.assert_allclose(found, maps[:, :, 1:3, 2].mean(2).numpy(), rtol=1e-6)


def test_time_may_come_first():
    torch.manual_seed(0)
    lstm = nn.LSTM(3, 2)  # (time, rows, features)
    series = torch.randn(7, 4, 3)
    found = capture(lstm, [series], "(output)", pooling="last", batch_axis=1)["(output)"]
    np.testing.assert_allclose(found, lstm(series)[0][-1].detach().numpy(), atol=1e-6)


def test_fused_encoders_are_seen_inside():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=True).eval()
    x, padding = torch.randn(3, 5, 4), torch.zeros(3, 5, dtype=torch.bool)
    padding[1, 3:] = True
    run = lambda module, batch: module(batch[0], src_key_padding_mask=batch[1])  # noqa: E731
    before = torch.backends.mha.get_fastpath_enabled()
    found = capture(encoder, [(x, padding)], ["layers.*.linear1", "layers.1"], forward=run, mask=lambda b: ~b[1])
    assert list(found) == ["layers.0.linear1", "layers.1", "layers.1.linear1"]
    alone = encoder(x[1:2, :3]).mean(1).detach().numpy()  # without its padding
    np.testing.assert_allclose(found["layers.1"][1:2], alone, atol=1e-5)
    assert torch.backends.mha.get_fastpath_enabled() == before


# -- the module is left as it was -------------------------------------------------------------------------------------
def test_modes_hooks_gradients_and_random_numbers_are_as_before(net):
    net.train()
    net[2].eval()  # a mode of its own
    modes = [m.training for m in net.modules()]
    torch.manual_seed(3)
    state = torch.get_rng_state()
    capture(net, [X], "*")
    assert [m.training for m in net.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.is_grad_enabled() and all(p.grad is None for p in net.parameters())
    assert not any(m._forward_hooks for m in net.modules())
    net(X).sum().backward()  # it can still be trained


def test_running_averages_do_not_move():
    net = nn.BatchNorm1d(3).train()
    before = net.running_mean.clone()
    capture(net, [X + 5], "(output)")
    assert torch.equal(net.running_mean, before) and net.num_batches_tracked == 0


def test_errors_leave_no_hooks_behind(tmp_path):
    class Fragile(Give):
        def forward(self, x):
            out = self.part(x)
            if len(x) == 2:
                raise RuntimeError("out of memory")
            return out

    net = Fragile(lambda x: x).train()
    with pytest.raises(RuntimeError, match="out of memory") as problem:
        capture(net, [X, X[:2]], "*", out=tmp_path)
    assert problem.value.__notes__ == ["the module raised this on batch 1 of capture"]
    assert net.training and net.part.training and not net.part._forward_hooks and not net._forward_hooks
    assert not list(tmp_path.iterdir())


def test_random_layers_answer_the_same_twice():
    drawn = part(lambda x: torch.rand_like(x), [X, X])
    np.testing.assert_array_equal(part(lambda x: torch.rand_like(x), [X, X]), drawn)
    assert not np.allclose(drawn[:5], drawn[5:])
    assert not np.allclose(part(lambda x: torch.rand_like(x), [X, X], seed=7), drawn)


def test_wrappers_are_looked_through(net):
    expected = capture(net, [X], "0")["0"]
    np.testing.assert_array_equal(capture(nn.DataParallel(net), [X], "0")["0"], expected)


def test_compiled_parts_are_seen_inside(net):
    """A program compiled before there were hooks would run without them."""
    expected = capture(net, [X], "0")["0"]
    compiled = torch.compile(net, backend="eager")
    with torch.no_grad():
        compiled.eval()(X)
        np.testing.assert_array_equal(capture(compiled, [X], "0")["0"], expected)
        np.testing.assert_array_equal(capture(nn.Sequential(compiled), [X], "0._orig_mod.0")["0._orig_mod.0"], expected)


def test_layers_go_to_files(net, tmp_path):
    expected = capture(net, X.split(2), "*")
    found = capture(net, X.split(2), "*", out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"{layer}.npy" for layer in expected}
    for layer, values in expected.items():
        assert isinstance(found[layer], np.memmap)
        np.testing.assert_array_equal(found[layer], values)


# -- names and mistakes -----------------------------------------------------------------------------------------------
class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.spare = nn.Linear(3, 3)
        self.position = Part(lambda x: x[:1])

    def forward(self, x):
        self.position(x)
        for block in self.encoder:
            x = block(x)
        return x


def test_patterns():
    assert list(capture(Named(), [X], "encoder.[02]")) == ["encoder.0", "encoder.2"]
    assert list(capture(Named(), [X], ["encoder.2", "encoder.?"])) == ["encoder.0", "encoder.1", "encoder.2"]
    with pytest.warns(UserWarning, match=r"left out: layer 'spare' gave no tensor; layer 'position' gives 1 rows"):
        found = capture(Named(), [X], "*")
    assert list(found) == ["(output)", "encoder.0", "encoder.1", "encoder.2"]


@pytest.mark.parametrize(
    "layers, message",
    [
        ("encodr.1", r"unknown layer 'encodr.1'; did you mean 'encoder.1'"),
        ("encodr.*", r"unknown layer 'encodr.\*'; did you mean 'encoder\.\d'"),
        ("zzz", r"unknown layer 'zzz'; there are: \(output\), encoder.0"),
        ("encoder", r"'encoder' is a list of layers and is never called itself; name one, such as 'encoder.0'"),
        ("spare", r"layer 'spare' gave no tensor: the forward pass did not call it"),
        ("spar*", r"layer 'spare' gave no tensor"),
        ("position", r"'position' gives 1 rows \(an array of shape \(1, 3\)\) for a batch of 5"),
        ([], "names no layer"),
        (3, "layers holds 3; names and patterns are strings"),
    ],
)
def test_wrong_layers(layers, message):
    with pytest.raises(rc.UserError, match=message):
        capture(Named(), [X], layers)


def test_names_of_a_large_module_are_not_listed():
    net = nn.Sequential(*[nn.Linear(3, 3) for _ in range(100)])
    with pytest.raises(rc.UserError) as problem:
        capture(nn.ModuleDict({"stack": net}), [X], "qqqqqq")
    assert str(problem.value) == "unknown layer 'qqqqqq'; there are: stack*"


@pytest.mark.parametrize(
    "batches, options, message",
    [
        (X, {}, r"batches is one array of shape \(5, 3\); give a list"),
        (X.numpy(), {}, "batches is one array"),
        ({"x": X}, {}, "batches is a dict"),
        (7, {}, "batches is a int"),
        ([], {}, "batches is empty"),
        ([X], {"pooling": "max"}, "unknown pooling 'max'"),
        ([X], {"pooling": "token:N"}, "unknown pooling 'token:N'"),
        ([X], {"calls": "every"}, "unknown calls 'every'"),
        ([X], {"channels": "middle"}, "unknown channels 'middle'"),
        ([X], {"batch_axis": -1}, "batch_axis=-1 is too small"),
        ([X], {"batch_axis": 2}, r"'part' gives an array of shape \(5, 3\), which has no axis 2"),
        ([np.array([["a"]])], {}, "an array of type <U1"),
        ([X], {"mask": "real"}, "mask='real' is a key, and the batch is a Tensor"),
        ([{"x": X, "reel": X}], {"mask": "real"}, "unknown mask 'real'; did you mean 'reel'"),
        ([X], {"mask": 1}, "mask=1 is a place in a tuple"),
        ([{"x": TOKENS, "attention_mask": TOKENS}], {}, "other values than 0 and 1"),
        ([{"x": TOKENS, "attention_mask": MASKS["left"][:, :3]}], {}, r"mask has shape \(2, 3\) and .* \(2, 4\)"),
        ([{"x": TOKENS, "attention_mask": 0 * MASKS["left"]}], {}, "row 0 has no position that is not masked"),
        ([{"x": TOKENS, "attention_mask": MASKS["left"]}], {"pooling": "token:2"}, "row 1 has fewer than 3 tokens"),
        ([torch.zeros(2, 3, 4, 4)], {"pooling": "last"}, "maps of 4 x 4 positions, which have no order"),
        ([torch.zeros(2, 3, 4), torch.zeros(2, 2, 4)], {"pooling": "flatten"}, "8 features from row 2 on and 12"),
        ([X], {"select": lambda layer, output: 3}, "select gave a int for layer 'part'"),
        ([X.to(torch.complex64)], {}, "complex numbers"),
    ],
)
def test_mistakes_are_named(batches, options, message):
    with pytest.raises(rc.UserError, match=message):
        part(lambda x: x, batches, **options)


def test_only_modules():
    with pytest.raises(rc.UserError, match="a torch.nn.Module is needed, got a function"):
        capture(lambda x: x, [X], "*")
