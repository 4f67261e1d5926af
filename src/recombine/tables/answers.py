"""Columns that look like answers, ids or marks of a split: no factors are proposed among them, and it is said why."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection

import numpy as np

from ..labels import quoted
from .coded import Coded
from .roles import RIGHT, WRONG

SPLIT_WORDS = {
    "train",
    "training",
    "trained",
    "test",
    "testing",
    "val",
    "valid",
    "validation",
    "dev",
    "eval",
    "held_out",
}
_SPLITS = {"split", "fold", "subset", "partition", "is_train", "is_training", "is_test", "is_val", "train", "trained"}
_RIGHT = {
    "right",
    "correct",
    "is_correct",
    "is_right",
    "success",
    "passed",
    "outcome",
    "ok",
    "wrong",
    "incorrect",
    "failed",
    "failure",
    "error",
    "hit",
    "accuracy",
    "acc",
}
_LABELS = {
    "label",
    "labels",
    "target",
    "y",
    "y_true",
    "ytrue",
    "truth",
    "ground_truth",
    "gold",
    "gt",
    "expected",
    "class_label",
}
_PREDICTIONS = {
    "prediction",
    "predictions",
    "predicted",
    "pred",
    "preds",
    "y_pred",
    "ypred",
    "y_hat",
    "yhat",
    "answer",
    "output",
}
_SCORES = {
    "score",
    "scores",
    "confidence",
    "prob",
    "probability",
    "proba",
    "logit",
    "logits",
    "loss",
    "abs_error",
    "residual",
    "y_score",
    "y_prob",
    "y_proba",
    "perplexity",
    "margin",
    "entropy",
}
_IDS = {
    "id",
    "ids",
    "uuid",
    "guid",
    "index",
    "idx",
    "row",
    "row_id",
    "rowid",
    "example_id",
    "sample_id",
    "item_id",
    "key",
}
_PREDICTED = re.compile(r"(pred|prediction|predicted|y_hat|yhat)_.+|.+_(pred|preds|prediction|predicted|hat)")
_KAPPA = 0.5  # of a label and its prediction
_LEAST_ROWS = 20


def looks_by_name(name: str, kind: str) -> str | None:
    """Why a column is no proposed factor, by what it is called: "a label; ..."; None for any other."""
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).casefold()
    plain = re.sub(r"[\s.\-]+", "_", plain).strip("_")
    last = plain.rpartition("_")[2]
    if plain in _SPLITS:
        return "looks like a split; name it with --split"
    if plain in _LABELS or (last == "label" and plain != "label"):
        return "looks like a label; name it with --label"
    if plain in _PREDICTIONS or _PREDICTED.fullmatch(plain):
        return "looks like a prediction; name it with --prediction"
    if plain in _SCORES or (kind == "decimal" and last in _SCORES):
        return "looks like a score of the model; name it in --outcome"
    if plain in _IDS or plain.startswith("unnamed:"):
        return "looks like an id; name it with --id"
    return None


def looks_like_right(name: str, levels: Collection[str]) -> bool:
    """Whether a column is called as an outcome and holds what an outcome has: right and wrong, or 0 and 1."""
    plain = re.sub(r"[\s.\-]+", "_", name.strip()).casefold()
    found = {level.strip().casefold() for level in levels}
    called = plain in _RIGHT or any(plain.endswith(f"_{word}") for word in ("right", "correct", "wrong"))
    return called and found <= {*RIGHT, *WRONG, "0", "1", "0.0", "1.0"}


def is_split(levels: Collection[str]) -> bool:
    """Whether all levels are names of sets such as train and test."""
    return {level.strip().casefold() for level in levels} <= SPLIT_WORDS


def predictions_by_content(coded: Coded, kept: Collection[int]) -> dict[int, str]:
    """Columns that say what an earlier one says, mostly: what was predicted of it, by content.

    Cohen's kappa tells agreement from chance, and three levels a label from two properties that go together.
    """
    found: dict[int, str] = {}
    for a, b in itertools.combinations(kept, 2):
        own, other = coded.levels[a], coded.levels[b]
        if a in found or b in found or len(own) < 3 or not set(other) <= set(own):
            continue
        place = np.array([*(own.index(level) for level in other), -1])
        codes = np.stack([coded.codes[:, a], place[coded.codes[:, b]]])
        there = (codes >= 0).all(0)
        rows = coded.rows[there]
        if rows.sum() < _LEAST_ROWS:
            continue
        shares = [np.bincount(one, weights=rows, minlength=len(own)) / rows.sum() for one in codes[:, there]]
        agree = float(rows[codes[0, there] == codes[1, there]].sum() / rows.sum())
        chance = float(shares[0] @ shares[1])
        if agree < 1 and chance < 1 and (agree - chance) / (1 - chance) >= _KAPPA:
            found[b] = (
                f"agrees with {quoted(coded.names[a])} in {agree:.0%} of the rows: looks like its prediction; name "
                "both with --label and --prediction"
            )
    return found
