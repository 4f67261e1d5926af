"""Our decoder and our transformer as one would write them in torch: the same function, trained by the same rule.

The parameters stand in the order of ours, so that weights can be taken over (tests/bench/test_torch_nets.py does, and
compares what the two compute). The decoder runs in the channels-last order, in which torch convolves fastest on a CPU;
bfloat16 is torch's autocast; AdamW is its fused one.
"""

from __future__ import annotations

from typing import Any

from ..nets import CNNDecoder, Transformer
from ..nets.layers.attention import EPSILON, rotary_angles
from .bench_row import Steps


def decoder(torch: Any, net: CNNDecoder, code: int, side: int) -> Any:
    """The module of a `CNNDecoder`: codes (T, C, 1, 1) -> pictures (T, 1, side, side)."""
    n, doubled = torch.nn, net.doublings(side)
    layers = [n.ConvTranspose2d(code, net.width, net.base)]
    for number in range(net.depth):
        grows = {"kernel_size": 4, "stride": 2} if number < doubled else {"kernel_size": 3}
        layers += [n.ReLU(), n.ConvTranspose2d(net.width, net.width, padding=1, **grows)]
    layers += [n.ReLU(), n.ConvTranspose2d(net.width, 1, 3, padding=1)]
    return n.Sequential(*layers).to(memory_format=torch.channels_last)


def transformer(torch: Any, net: Transformer, code: int, inputs: int, outputs: int, rows: int) -> Any:
    """The module of a `Transformer`: codes (T, C) and inputs (T, rows, I) -> predictions (T, rows, O)."""
    n, functional = torch.nn, torch.nn.functional
    size = net.width // net.heads
    angles = torch.tensor(rotary_angles(rows + 1, size))[:, None]  # (L, 1, D/2)
    cos, sin = (torch.cat([one, one], -1) for one in (angles.cos(), angles.sin()))

    def norm(x: Any, scale: Any) -> Any:
        return functional.layer_norm(x, scale.shape, scale, eps=EPSILON)

    def rotate(x: Any) -> Any:
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    class Block(n.Module):
        def __init__(self):
            super().__init__()
            d, f = net.width, net.feedforward
            self.attention_norm = n.Parameter(torch.ones(d))
            self.query, self.key_and_value = n.Linear(d, d, bias=False), n.Linear(d, 2 * d, bias=False)
            self.query_norm, self.key_norm = n.Parameter(torch.ones(size)), n.Parameter(torch.ones(size))
            self.mix = n.Linear(d, d, bias=False)
            self.feedforward_norm = n.Parameter(torch.ones(d))
            self.widen, self.narrow = n.Linear(d, f, bias=False), n.Linear(f, d, bias=False)

        def forward(self, h: Any) -> Any:
            normed = norm(h, self.attention_norm)
            query = self.query(normed).unflatten(-1, (net.heads, size))
            key, value = self.key_and_value(normed).unflatten(-1, (2 * net.heads, size)).chunk(2, 2)
            query, key = rotate(norm(query, self.query_norm)), rotate(norm(key, self.key_norm))
            query, key, value = (one.transpose(1, 2) for one in (query, key, value))
            value = value.to(query.dtype)
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            h = h + self.mix(mixed.transpose(1, 2).flatten(2))
            wide = functional.gelu(self.widen(norm(h, self.feedforward_norm)), approximate="tanh")
            return h + self.narrow(wide)

    class Module(n.Module):
        def __init__(self):
            super().__init__()
            self.code, self.read = n.Linear(code, net.width, bias=False), n.Linear(inputs, net.width)
            self.blocks = n.ModuleList([Block() for _ in range(net.depth)])
            self.norm = n.Parameter(torch.ones(net.width))
            self.out = n.Linear(net.width, outputs)

        def forward(self, codes: Any, shown: Any) -> Any:
            h = torch.cat([self.code(codes)[:, None], self.read(shown)], 1)
            for block in self.blocks:
                h = block(h)
            return self.out(norm(h[:, 1:], self.norm))

    return Module()


def training(torch: Any, module: Any, given: tuple[Any, ...], target: Any, precision: str) -> Steps:
    """Steps of AdamW on the squared error."""
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, fused=True)

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
                answer = module(*given)
            torch.nn.functional.mse_loss(answer.float(), target).backward()
            optimizer.step()

    return steps
