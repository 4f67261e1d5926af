"""The nets of `sequence_speed` written in torch, timed by another interpreter: `python torch_twin.py BATCHES.json NET`.

Eager, float32, one thread, fused AdamW; each batch is cut to its longest command and answer. Prints JSON: processor
seconds of each step after a few to warm up, the number of parameters, and the first and the last loss. It imports
nothing of ours, so that the interpreter needs torch and numpy only.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import torch  # type: ignore[import-not-found]
from torch import nn  # type: ignore[import-not-found]
from torch.nn import functional as F  # type: ignore[import-not-found]

WARM_UP = 3


def sinusoidal(length, width):
    angles = torch.arange(length)[:, None] * 10_000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.cat([angles.sin(), angles.cos()], -1)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.mix = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.key_and_value = nn.Linear(width, 2 * width, bias=False)

    def forward(self, x, read, mask, causal):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # noqa: E731
        key, value = self.key_and_value(read).chunk(2, -1)
        found = F.scaled_dot_product_attention(split(self.query(x)), split(key), split(value), mask, is_causal=causal)
        return self.mix(found.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads, feedforward, reads_other):
        super().__init__()
        self.own, self.other = Attention(width, heads), Attention(width, heads) if reads_other else None
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(3 if reads_other else 2))
        self.widen, self.narrow = (
            nn.Linear(width, feedforward, bias=False),
            nn.Linear(feedforward, width, bias=False),
        )

    def forward(self, h, mask, causal=False, read=None, there=None):
        normed = self.norms[0](h)
        h = h + self.own(normed, normed, mask, causal)
        if self.other is not None:
            h = h + self.other(self.norms[1](h), read, there, False)
        return h + self.narrow(F.gelu(self.widen(self.norms[-1](h)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self, words, width=128, depth=2, heads=4, feedforward=256):
        super().__init__()
        self.width = width
        self.code, self.target = nn.Embedding(words[0], width), nn.Embedding(words[1] + 1, width)
        self.encoder = nn.ModuleList(Block(width, heads, feedforward, False) for _ in range(depth))
        self.decoder = nn.ModuleList(Block(width, heads, feedforward, True) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(2))
        self.output = nn.Linear(width, words[1], bias=False)

    def forward(self, code, shifted):
        there = (code >= 0)[:, None, None]
        h = self.code(code.clamp(min=0)) * self.width**0.5 + sinusoidal(code.shape[1], self.width)
        for block in self.encoder:
            h = block(h, there)
        read = self.norms[0](h)
        h = self.target(shifted) * self.width**0.5 + sinusoidal(shifted.shape[1], self.width)
        for block in self.decoder:
            h = block(h, None, True, read, there)
        return self.output(self.norms[1](h))


class LSTM(nn.Module):
    def __init__(self, words, width=200, depth=2):
        super().__init__()
        self.code, self.target = nn.Embedding(words[0], width), nn.Embedding(words[1] + 1, width)
        self.encoder, self.decoder = (nn.LSTM(width, width, depth, batch_first=True) for _ in range(2))
        self.output = nn.Linear(width, words[1])

    def forward(self, code, shifted):
        lengths = (code >= 0).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.code(code.clamp(min=0)), lengths, batch_first=True, enforce_sorted=False
        )
        _, state = self.encoder(packed)
        return self.output(self.decoder(self.target(shifted), state)[0])


def main(path, name):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with open(path) as file:
        given = json.load(file)
    codes, targets, words = np.array(given["codes"]), np.array(given["targets"]), given["words"]
    net = {"seq2seq-transformer": Transformer, "lstm": LSTM}[name](words)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    took, losses = [], []
    for code, target in zip(codes, targets, strict=True):
        begun = time.process_time()
        code = torch.from_numpy(code[:, : (code >= 0).sum(1).max()]).long()
        target = torch.from_numpy(target[:, : (target >= 0).sum(1).max()]).long()
        first = torch.full((len(target), 1), words[1])
        before = torch.cat([first, target[:, :-1]], 1)
        logits = net(code, torch.where(before < 0, words[1], before))
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=-1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        took.append(time.process_time() - begun)
    parameters = sum(one.numel() for one in net.parameters())
    ends = {"first_loss": losses[0], "last_loss": losses[-1]}
    print(json.dumps({"torch": torch.__version__, "seconds": took[WARM_UP:], "parameters": parameters, **ends}))


if __name__ == "__main__":
    main(*sys.argv[1:])
