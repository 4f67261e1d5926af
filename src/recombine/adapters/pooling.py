"""One vector per row from what a layer gives: tokens or pixels are averaged, chosen or laid side by side.

    (rows,)                    one feature
    (rows, features)           as it is
    (rows, tokens, features)   tokens are pooled
    (rows, channels, h, w ...) pixels are pooled

A mask (rows, tokens) or (rows, h, w ...) says which positions are real. "last" and "token:N" count real ones only, so
that it does not matter on which side a batch was padded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import UserError, unknown
from .optional_imports import torch_or_refuse

POOLINGS = ("mean", "last", "flatten", "token:N")
CHANNELS = ("auto", "first", "last")


@dataclass(frozen=True)
class Pooling:
    """How positions become one vector: "mean", "last", "flatten" or "token:N" (from 0; negative from the end)."""

    kind: str
    token: int = 0

    @classmethod
    def parse(cls, text: str) -> Pooling:
        """A pooling by its name."""
        numbered = re.fullmatch(r"token:([+-]?\d+)", text) if isinstance(text, str) else None
        if numbered:
            return cls("token", int(numbered[1]))
        if text not in POOLINGS or text == "token:N":
            raise unknown("pooling", text, POOLINGS)
        return cls("token", -1) if text == "last" else cls(text)

    def __call__(self, values: Any, mask: Any, layer: str, channels: str, first_row: int) -> Any:
        """(rows, features) of float32, on the device of `values`. `first_row` is for errors only."""
        torch = torch_or_refuse()
        if values.is_complex():
            raise UserError(f"layer {layer!r} gives complex numbers; pick real ones with select=")
        if values.ndim == 1:
            return values.to(torch.float32)[:, None]
        if values.ndim == 2:
            return values.to(torch.float32)
        # channels go last: (rows, positions ..., features)
        if channels == "first" or (channels == "auto" and values.ndim > 3):
            values = values.movedim(1, -1)
        positions = tuple(values.shape[1:-1])
        if self.kind == "token" and len(positions) > 1:
            raise UserError(
                f"layer {layer!r} gives maps of {' x '.join(map(str, positions))} positions, which have no order of "
                "tokens; use pooling='mean' or 'flatten'"
            )
        if mask is not None:
            mask = _fitting(mask, values, layer)
        values = values.flatten(1, -2)  # (rows, positions, features)
        if self.kind == "mean":
            return _mean(values, mask, layer, first_row)
        if self.kind == "token":
            return _token(values, mask, self.token, layer, first_row)
        values = values.to(torch.float32)
        if mask is not None:
            values = values.masked_fill(~mask[..., None], 0.0)
        return values.flatten(1)


def _fitting(mask: Any, values: Any, layer: str) -> Any:
    wanted, given = tuple(values.shape[:-1]), tuple(mask.shape)
    if wanted != given:
        raise UserError(
            f"the mask has shape {given} and layer {layer!r} has positions {wanted}; give a mask of that shape, "
            "or mask=None to count every position"
        )
    return mask.to(values.device).bool().flatten(1)


def _mean(values: Any, mask: Any, layer: str, first_row: int) -> Any:
    torch = torch_or_refuse()
    if mask is None:
        if not values.shape[1]:
            raise UserError(f"layer {layer!r} gives no positions to average")
        return values.mean(1, dtype=torch.float32)
    count = mask.sum(1)
    _refuse_rows(count < 1, first_row, "no position that is not masked", layer)
    # what is masked may be no number, and 0 times that is not 0
    kept = values.to(torch.float32).masked_fill(~mask[..., None], 0.0)
    return kept.sum(1) / count[:, None]


def _token(values: Any, mask: Any, token: int, layer: str, first_row: int) -> Any:
    torch = torch_or_refuse()
    if mask is None:
        mask = torch.ones(values.shape[:2], dtype=torch.bool, device=values.device)
    count = mask.sum(1)
    needed = token + 1 if token >= 0 else -token
    _refuse_rows(count < needed, first_row, f"fewer than {needed} tokens that are not masked", layer)
    wanted = token if token >= 0 else count + token  # which of the real ones
    which = mask.cumsum(1) - 1  # the number of each real token among the real ones
    wanted = torch.as_tensor(wanted, device=values.device).expand(len(values))
    at = (mask & (which == wanted[:, None])).int().argmax(1)
    return values[torch.arange(len(values), device=values.device), at].to(torch.float32)


def _refuse_rows(bad: Any, first_row: int, what: str, layer: str) -> None:
    if bool(bad.any()):
        raise UserError(f"row {first_row + int(bad.int().argmax())} has {what} in layer {layer!r}")
