"""Hidden states of Hugging Face text models: one vector per text from each layer.

    from transformers import AutoModel, AutoTokenizer
    model, tokenizer = AutoModel.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    activations = rc.adapters.transformers.capture(model, tokenizer, texts, layers="*", pooling="mean")

Layers are "embeddings", "layer.1", ... "layer.N": what enters the first block and what leaves each of them (the last
after the final norm, where a model has one). Of a model with a head the body is read; of an encoder with a decoder, the
encoder.

Batches are padded here, on the right: then no real token sees a padded one, positions count from the first real token
in models that would count padding too, and a text has one answer whatever batch it is in (up to rounding).
"""

from __future__ import annotations

import fnmatch
import inspect
import itertools
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import UserError, require_int, unknown
from .eval_mode import device_of, evaluating, seeded, unwrapped
from .optional_imports import torch_or_refuse, transformers_or_refuse
from .pooled_rows import Rows
from .pooling import Pooling

POOLINGS = ("mean", "last", "token:N", "cls")


def layer_names(model: Any) -> list[str]:
    """The layers of a model, from what enters its first block to what leaves its last.

    Args:
        model: a text model of transformers.

    Example:
        >>> import transformers
        >>> small = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8}
        >>> rc.adapters.transformers.layer_names(transformers.BertModel(transformers.BertConfig(**small)))
        ['embeddings', 'layer.1', 'layer.2']
    """
    return _names(_blocks(_body(model)))


def capture(
    model: Any,
    tokenizer: Any,
    texts: Iterable[str],
    layers: str | int | Sequence[str | int] = "*",
    *,
    pooling: str = "mean",
    batch_size: int = 32,
    max_length: int | None = None,
    out: str | os.PathLike | None = None,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Hidden states of texts: {layer: (texts, features)} of float32, in the order of the texts. Padding never counts.

    Args:
        model: a text model of transformers.
        tokenizer: its tokenizer.
        texts: the texts.
        layers: names or patterns ("layer.*"), or numbers (0 is what enters the first block, -1 the last layer).
        pooling: "mean" over the tokens of a text, those that the tokenizer adds included; "last", the last token;
            "token:N", the N-th from 0 or, if negative, from the end; "cls", the one added to stand for the text.
        batch_size: texts in one pass of the model.
        max_length: tokens after which a text is cut, which a warning tells; as many as the model can read if not given.
        out: a folder; each layer becomes a .npy file there and comes back mapped, not loaded.
        seed: for models that draw random numbers, on the CPU or CUDA; the random state outside is not touched.

    Example:
        >>> import transformers, tokenizers
        >>> known = {"[PAD]": 0, "red": 1, "box": 2}
        >>> words = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="[PAD]"))
        >>> words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        >>> tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]")
        >>> small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
        >>> model = transformers.BertModel(transformers.BertConfig(vocab_size=3, **small))
        >>> rc.adapters.transformers.capture(model, tokenizer, ["red box", "box"], layers=-1)["layer.1"].shape
        (2, 8)
    """
    body = _body(model)
    torch = torch_or_refuse()
    _require_tokenizer(tokenizer)
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise UserError(f"texts is a {type(texts).__name__}; a list of texts is needed")
    batch_size = require_int("batch_size", batch_size, at_least=1)
    seed = require_int("seed", seed, at_least=0)
    pool = _pooling(pooling, tokenizer)
    longest = _longest(body, tokenizer, max_length)
    chosen = _chosen(layers, _blocks(body))
    device, known = device_of(body), set(inspect.signature(body.forward).parameters)
    cut: list[int] = []
    with Rows(out) as rows, evaluating(body):
        for number, batch in enumerate(_batches(texts, batch_size)):
            tokens = _tokens(tokenizer, batch, longest, rows.count, cut)
            # token types are all 0 here: a model that has none is not given any
            tokens = {key: values for key, values in tokens.items() if key != "token_type_ids" or key in known}
            inputs = {key: values.to(device) for key, values in _padded(torch, tokens, tokenizer).items()}
            with seeded(seed + number, device):
                answer = body(**inputs, output_hidden_states=True, return_dict=True)
            states = getattr(answer, "hidden_states", None) or ()
            if len(states) != 1 + _blocks(body):
                raise UserError(
                    f"{type(body).__name__} gives {len(states)} hidden states for its {_blocks(body)} layers, so "
                    "they cannot be named; capture them with rc.adapters.torch"
                )
            mask = _counted(inputs, pooling, tokenizer, rows.count)
            found = {}
            for name, at in chosen.items():
                pooled = pool(states[at], mask, name, "last", rows.count)
                found[name] = np.array(pooled.cpu().numpy(), copy=True)
            rows.add(found)
        if not rows.count:
            raise UserError("texts is empty: there is nothing to run the model on")
        if cut:
            warnings.warn(
                f"{len(cut)} of {rows.count} texts are longer than {longest} tokens and were cut (first: row {cut[0]})",
                stacklevel=2,
            )
        return rows.finish()


# -- the model --------------------------------------------------------------------------------------------------------
def _body(model: Any) -> Any:
    """The part that makes the hidden states: without its head, and without its decoder if it has an encoder."""
    transformers = transformers_or_refuse()
    torch = torch_or_refuse()
    if isinstance(model, torch.nn.Module):
        model = unwrapped(model)
    if not isinstance(model, transformers.PreTrainedModel):
        raise UserError(
            f"a transformers.PreTrainedModel is needed, got a {type(model).__name__}; of a SentenceTransformer it is "
            "model[0].auto_model, and rc.adapters.torch takes any torch module"
        )
    if getattr(model.config, "is_encoder_decoder", False):
        return model.get_encoder()
    return model.base_model


def _blocks(body: Any) -> int:
    for name in ("num_hidden_layers", "n_layer", "num_layers"):
        number = getattr(body.config, name, None)
        if isinstance(number, int):
            return number
    raise UserError(f"the configuration of {type(body).__name__} does not say how many layers it has")


def _names(blocks: int) -> list[str]:
    return ["embeddings", *(f"layer.{number}" for number in range(1, blocks + 1))]


def _chosen(layers: str | int | Sequence[str | int], blocks: int) -> dict[str, int]:
    """{name: which of the hidden states}, in their order."""
    names = _names(blocks)
    asked = [layers] if isinstance(layers, str) or not isinstance(layers, Iterable) else list(layers)
    if not asked:
        raise UserError("layers names no layer; '*' is all of them")
    found: set[str] = set()
    for one in asked:
        if isinstance(one, str):
            fitting = [name for name in names if fnmatch.fnmatchcase(name, one)]
            if not fitting:
                raise unknown("layer", one, names)
            found.update(fitting)
        else:
            found.add(names[require_int("layer", one, at_least=-len(names), at_most=blocks)])
    return {name: at for at, name in enumerate(names) if name in found}


def _longest(body: Any, tokenizer: Any, asked: int | None) -> int | None:
    """The number of tokens after which texts are cut; None for a model that reads texts of any length."""
    positions = getattr(body.config, "max_position_embeddings", None)
    limits = [
        limit for limit in (tokenizer.model_max_length, positions) if isinstance(limit, int) and 0 < limit < 10**9
    ]
    can = min(limits, default=None)
    return can if asked is None else require_int("max_length", asked, at_least=1, at_most=can)


# -- the texts --------------------------------------------------------------------------------------------------------
def _require_tokenizer(tokenizer: Any) -> None:
    transformers = transformers_or_refuse()
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
        raise UserError(f"a tokenizer of transformers is needed, got a {type(tokenizer).__name__}")


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    rows = iter(texts)
    start = 0
    while batch := list(itertools.islice(rows, size)):
        for number, text in enumerate(batch, start):
            if not isinstance(text, str):
                raise UserError(f"row {number} of texts is {text!r}, which is no text")
        # numpy's strings are strings to Python, not to every tokenizer
        yield [str(text) for text in batch]
        start += len(batch)


def _tokens(
    tokenizer: Any, texts: list[str], longest: int | None, first_row: int, cut: list[int]
) -> dict[str, list[list[int]]]:
    """What the tokenizer makes of texts, without padding; the rows of those that were cut are added to `cut`."""
    options = {"padding": False, "return_attention_mask": False, "verbose": False}
    tokens = dict(tokenizer(texts, truncation=False, **options))
    too_long = [row for row, ids in enumerate(tokens["input_ids"]) if longest is not None and len(ids) > longest]
    if too_long:
        cut += [first_row + row for row in too_long]
        tokens = dict(tokenizer(texts, truncation=True, max_length=longest, **options))
    for row, ids in enumerate(tokens["input_ids"]):
        if not ids:
            raise UserError(f"row {first_row + row} of texts, {texts[row]!r}, has no tokens")
    return tokens


def _padded(torch: Any, tokens: dict[str, list[list[int]]], tokenizer: Any) -> dict[str, Any]:
    """(texts, tokens) of each input, padded on the right, and the mask that says so."""
    lengths = [len(ids) for ids in tokens["input_ids"]]
    filler = tokenizer.pad_token_id
    if filler is None:  # models that continue texts often have none; masked, so any token does
        filler = tokenizer.eos_token_id or 0
    padded = {}
    for key, rows in tokens.items():
        array = np.full((len(rows), max(lengths)), filler if key == "input_ids" else 0, np.int64)
        for row, values in enumerate(rows):
            array[row, : len(values)] = values
        padded[key] = torch.from_numpy(array)
    mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
    padded["attention_mask"] = torch.from_numpy(mask.astype(np.int64))
    return padded


# -- pooling ----------------------------------------------------------------------------------------------------------
def _pooling(text: str, tokenizer: Any) -> Pooling:
    if text == "cls":
        if tokenizer.cls_token_id is None:
            raise UserError("pooling='cls': the tokenizer adds no token that stands for the text; use 'mean' or 'last'")
        return Pooling("token", 0)
    if text == "flatten":
        raise UserError(
            "pooling='flatten' would give texts of different lengths different features; use 'mean' or 'last'"
        )
    try:
        return Pooling.parse(text)
    except UserError:
        raise unknown("pooling", text, POOLINGS) from None


def _counted(inputs: dict[str, Any], pooling: str, tokenizer: Any, first_row: int) -> Any:
    """The tokens that pooling counts: the real ones, or for "cls" the one that stands for the text."""
    real = inputs["attention_mask"].bool()
    if pooling != "cls":
        return real
    standing = real & (inputs["input_ids"] == tokenizer.cls_token_id)
    without = ~standing.any(1)
    if bool(without.any()):
        row = first_row + int(without.int().argmax())
        raise UserError(
            f"pooling='cls': the tokenizer added no {tokenizer.cls_token!r} to row {row}; use 'mean' or 'last'"
        )
    return standing
