"""Worlds in which each claim of four studies of decoders holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Rows = list[dict[str, Any]]
Number = Callable[[At], float]


def read(reading: str, stream: str, layer: str = "", **values: float) -> Rows:
    shared = {"reading": reading, "stream": stream, "group": "", "layer": layer, "step": 1}
    return [shared | {"metric": metric, "value": value} for metric, value in values.items()]


def errors(held_out: Number, trained: Number = lambda at: 0.01) -> Callable[[At], Rows]:
    """Errors of both sides by cell."""
    return lambda at: [
        *read("score", "test", error=trained(at)),
        *read("score", "held_out", error=held_out(at)),
    ]


def among(column: str, names: tuple[str, ...], those: float, others: float) -> Number:
    return lambda at: those if at[column] in names else others


def of_net(*names: str, those: float, others: float) -> Number:
    return among("net", names, those, others)


# -- factorized-fails -------------------------------------------------------------------------------------------------
def one_code_composes(net: str) -> Callable[[At], Rows]:
    """A net that draws what it never saw as well as what it saw, with one code."""
    return errors(lambda at: 0.02 if (at["net"], at["encoding"]) == (net, "bump") else 1.0)


def only_fails(net: str) -> tuple:
    """The one net fails while all others compose; and composes in one cell while all others fail."""
    return errors(of_net(net, those=1.0, others=0.01)), one_code_composes(net)


FACTORIZED_FAILS = {
    "mlp-fails": only_fails("mlp"),
    "cnn-decoder-fails": only_fails("cnn-decoder"),
    "pixel-transformer-fails": only_fails("pixel-transformer"),
    "fails-as-if-blank": (
        errors(of_net("mlp", "cnn-decoder", those=0.8, others=0.01)),
        # five times as wrong as what was trained, and far from blank
        errors(of_net("mlp", "cnn-decoder", those=0.3, others=1.0)),
    ),
    "coordinates-compose": (
        errors(of_net("coordinate-mlp", those=0.02, others=1.0)),
        errors(of_net("coordinate-mlp", those=0.3, others=0.02)),
    ),
}


# -- superposition ----------------------------------------------------------------------------------------------------
def blended(failing: float, cured: float, cnn: float | None = None) -> Callable[[At], Rows]:
    """By how much trained pictures explain more than the truth, of nets that fail and of nets that compose."""

    def rows(at: At) -> Rows:
        fails = at["net"] in ("mlp", "cnn-decoder")
        more = cnn if cnn is not None and at["net"] == "cnn-decoder" else failing if fails else cured
        return [
            *errors(lambda _: 1.0 if fails else 0.01)(at),
            *read("superposition", "grid", "output", by_shared=0.5 + more, by_truth=0.5, by_filled=0.5),
        ]

    return rows


SUPERPOSITION = {
    # one net that does not blend is enough
    "failing-nets-superpose": (blended(failing=0.4, cured=0.4), blended(failing=0.4, cured=0.4, cnn=0.1)),
    "cured-nets-do-not": (blended(failing=-0.4, cured=-0.4), blended(failing=-0.4, cured=-0.1)),
}


# -- render -----------------------------------------------------------------------------------------------------------
def rendered(**by_variant: float) -> Callable[[At], Rows]:
    """Held-out errors on bumps by variant; 0.01 where none is given."""
    named = {name.replace("_", "-"): value for name, value in by_variant.items()}
    return errors(lambda at: named.get(at["variant"], 0.01) if at["target"] == "bumps-v1" else 0.5)


RENDER = {
    "rendering-composes": (rendered(as_published=0.02, normalized=0.5, neither=1.0), rendered(as_published=0.4)),
    "rendering-composes-normalized": (rendered(as_published=0.5, normalized=0.02), rendered(normalized=0.4)),
    "rendering-alone-memorizes": (rendered(neither=2.0), rendered(neither=0.2, as_published=2.0)),
    "both-are-needed": (
        rendered(as_published=0.05, entropy=0.3, variance=0.2),
        rendered(as_published=0.05, entropy=0.06, variance=2.0),  # one of them alone does it
    ),
    "other-shapes": (
        errors(among("target", ("ellipse-v1", "ring-v1"), 0.03, 1.0)),
        errors(among("target", ("ellipse-v1",), 0.4, 0.03)),  # one shape is enough to fail
    ),
}


# -- tuning-curves ----------------------------------------------------------------------------------------------------
def tuned(**risen: float) -> Callable[[At], Rows]:
    """By how much training raised the index at the last hidden layer, by net; it begins elsewhere for each."""

    def rows(at: At) -> Rows:
        began = {"mlp": 0.3, "cnn": 0.5}.get(at["who"], 0.4)
        value = began + risen.get(at["who"].replace("-", "_"), 0.1)
        return [
            *errors(lambda _: 1.0)(at),
            *read("tuning", "grid", "layer1/post", index=0.9, index_untrained=0.9),
            *read("tuning", "grid", "layer3/post", index=value, index_untrained=began),
        ]

    return rows


TUNING_CURVES = {
    "stripes-tune": (
        tuned(mlp_with_stripes=0.2, cnn_with_stripes=0.3),
        tuned(mlp_with_stripes=0.3, cnn_with_stripes=0.1),  # of one net only
    ),
    "composing-nets-are-tuned": (tuned(coordinate_mlp=0.3), tuned(coordinate_mlp=0.3, cnn=0.4)),
}

PLANTED = {
    "factorized-fails": FACTORIZED_FAILS,
    "superposition": SUPERPOSITION,
    "render": RENDER,
    "tuning-curves": TUNING_CURVES,
}
