"""What tests of nets share: every net at a size that tests can afford, and weights that cannot hide."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from letters import Backwards

from recombine import Product, nets
from recombine.nets import (
    LSTM,
    MLP,
    CNNDecoder,
    CNNEncoder,
    CoordinateMLP,
    DecoderTransformer,
    Hypernetwork,
    PixelTransformer,
    Rendering,
    Seq2SeqTransformer,
    Straightened,
    Transformer,
)
from recombine.tasks import Bumps, BumpsRead

WIDTH, DEPTH = 24, 2


def with_biases(net):
    """The net with biases that are not zero, so that leaving them out would show."""
    biases = tuple(0.1 * jnp.cos(jnp.arange(b.size, dtype=jnp.float32)) for b in net.biases)
    return eqx.tree_at(lambda n: n.biases, net, biases)


# every net at a size that tests can afford
SMALL = {
    "mlp": MLP(WIDTH, DEPTH),
    "transformer": Transformer(16, 1, 2, 32),
    "hypernetwork": Hypernetwork(12),
}

# those that draw pictures, which others are not asked for
DRAWING = {
    "cnn-decoder": CNNDecoder(6, 1, base=4),
    "coordinate-mlp": CoordinateMLP(8, 1),
    "pixel-transformer": PixelTransformer(8, 1, 2, feedforward=16),
    "rendering": Rendering(),
    "straightened": Straightened(MLP(8, 1)),
}

# those that read and write sequences of words
WRITING = {
    "decoder-transformer": DecoderTransformer(16, 1, 4, 16, positions="relative", key_heads=2, tied=True),
    "lstm": LSTM(12, 1, attention=True),
    "seq2seq-transformer": Seq2SeqTransformer(16, 1, 2, 16),
}

# those that read pictures
READING = {"cnn-encoder": CNNEncoder(4, 2, 12)}


def small_net(name):
    return (SMALL | DRAWING | WRITING | READING).get(name) or nets.registry[name]()


PICTURES = Bumps(Product(x=8, y=8))
READ = BumpsRead(Product(x=8, y=8))
WORDS = Backwards()


def world_for(name, other):
    """A world that a net serves: one of pictures, drawn or read, one of sequences, or another."""
    return PICTURES if name in DRAWING else WORDS if name in WRITING else READ if name in READING else other


def draw(task, samples: int, tasks: int = 4):
    """Data by one compiled program: drawn piece by piece it takes seconds."""
    rows = jnp.asarray(task.space.sample(0, tasks))
    return jax.jit(lambda key: task.sample(key, rows, samples))(jax.random.key(1))


def jolted(net):
    """The net with every weight moved, so that scales of one and biases of zero cannot hide."""
    weights, rest = eqx.partition(net, eqx.is_array)
    moved = jax.tree.map(
        lambda leaf: leaf + 0.1 * jnp.cos(jnp.arange(leaf.size, dtype=jnp.float32)).reshape(leaf.shape), weights
    )
    return eqx.combine(moved, rest)


def norm(x, scale):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * scale
