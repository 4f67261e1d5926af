"""The other side of the bench: nets in torch compute what ours compute, with the same weights."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.bench import net_rows, torch_nets
from recombine.bench.other_sides import installed

if "torch" not in installed():
    pytest.skip("torch is not installed: make check-extras", allow_module_level=True)

from recombine.bench.other_sides import torch_package

torch = torch_package()


def taken_over(module, arrays) -> None:
    """Our weights, in the order of the module's parameters; a Linear has its matrix the other way around."""
    parameters = list(module.named_parameters())
    assert len(parameters) == len(arrays)
    with torch.no_grad():
        for (name, parameter), array in zip(parameters, arrays, strict=True):
            array = np.asarray(array)
            turned = array.transpose(2, 3, 0, 1) if array.ndim == 4 else array.T
            assert parameter.shape == turned.shape, name
            parameter.copy_(torch.tensor(np.ascontiguousarray(turned)))


def test_the_decoder_is_the_same_function():
    net, task = rc.nets.CNNDecoder(width=6, depth=3, base=4), rc.tasks.Bumps(rc.Product(x=8, y=8))
    ours = net.build(task, jax.random.key(0), "float32")
    module = torch_nets.decoder(torch, net, task.encoding.size, 8)
    taken_over(module, [one for pair in zip(ours.kernels, ours.biases, strict=True) for one in pair])
    batch = task.sample(jax.random.key(1), jnp.asarray(task.space.enumerate()[:5]), 1)
    theirs = module(torch.tensor(np.asarray(batch.code))[..., None, None]).detach().numpy()
    assert np.allclose(theirs.reshape(5, 1, -1), ours(batch)[0], atol=1e-5)


def test_the_transformer_is_the_same_function():
    net = rc.nets.Transformer(width=16, depth=2, heads=2, feedforward=24)
    task = rc.tasks.Hyperteacher(rc.Subsets(modules=5, at_most=2))
    ours = net.build(task, jax.random.key(0), "float32")
    batch = task.sample(jax.random.key(1), jnp.asarray(task.space.enumerate()[:5]), 4)
    code, inputs, target = (torch.tensor(np.asarray(part)) for part in (batch.code, batch.inputs, batch.target))
    module = torch_nets.transformer(torch, net, code.shape[-1], inputs.shape[-1], target.shape[-1], 4)
    outside = dict(norm=ours.output_norm, out=[ours.output_kernel, ours.output_bias])
    before = [outside["norm"], ours.code_kernel, ours.input_kernel, ours.input_bias]
    blocks = []
    for block in ours.blocks:
        norms = [block.attention_norm, block.query_norm, block.key_norm, block.feedforward_norm]
        blocks += [*norms, block.query, block.key_and_value, block.mix, block.widen, block.narrow]
    taken_over(module, [*before, *blocks, *outside["out"]])
    assert np.allclose(module(code, inputs).detach().numpy(), ours(batch)[0], atol=2e-5)


def test_its_steps_lower_the_loss_in_both_precisions():
    for precision in net_rows.PRECISIONS:
        torch.manual_seed(0)
        module = torch.nn.Linear(3, 1)
        x = torch.rand(16, 3)
        y = x.sum(1, keepdim=True)
        before = ((module(x) - y) ** 2).mean().item()
        torch_nets.training(torch, module, (x,), y, precision)(1500)
        assert ((module(x) - y) ** 2).mean().item() < 0.5 * before


def test_rows_of_nets_are_judged_against_torch():
    small = rc.nets.CNNDecoder(width=4, depth=1, base=4)
    exact, auto = net_rows.measure_cnn(1, ["torch"], str, seconds=0.01, net=small, side=8)
    assert list(exact.others) == ["torch float32"] and exact.ratios("torch float32")[0] > 0
    assert list(auto.others) == ["ours bfloat16", "torch float32", "torch bfloat16"]
    reading = rc.nets.Transformer(width=8, depth=1, heads=2, feedforward=8)
    rows = net_rows.measure_transformer(1, ["torch"], str, seconds=0.01, net=reading, tasks=4)
    assert [list(row.others) for row in rows] == [["torch float32"], ["torch bfloat16"]]
