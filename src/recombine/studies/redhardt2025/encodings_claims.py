"""What is claimed of a table of encodings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...lab.study_table import RESOLUTION
from ...lab.verdicts import Claim, at_least
from .encodings_arms import is_linear
from .encodings_readings import (
    Published,
    composes,
    decoded_above_input,
    linear_above_nonlinear,
    nonlinear_lose_more,
    undone,
)

OURS = "ours: beside the score what is lost from trained to held-out combinations, and beside the code an untrained net"


def is_of_kind(at: Mapping[str, Any], linear: bool) -> bool:
    """Whether a trial shows tasks by an encoding of this kind."""
    return is_linear(at["encoding"]) == linear


def claims(published: Published, success: float) -> list[Claim]:
    """The claims on a table. success: the score that linear encodings are asked to reach."""
    return [*scored(success), *compared(), *decoded(published.by_kind)]


def scored(success: float) -> list[Claim]:
    """That encodings of both kinds reach a score."""
    nearly = round(0.9 * success, 3)
    return [
        Claim(
            "linear-composes",
            partial(composes, linear=True, success=success),
            at_least(success),
            f"Linear encodings reach {success:g} on held-out combinations",
            "lookup",
            "held-out score of each linear encoding",
            needs=partial(is_of_kind, linear=True),
            supported="linear encodings compose",
            refuted="some linear encoding does not compose",
        ),
        Claim(
            "nonlinear-composes",
            partial(composes, linear=False, success=nearly),
            at_least(nearly),
            f"Nonlinear encodings reach {nearly:.3g} on held-out combinations",
            "lookup-nonlinear",
            "held-out score of each nonlinear encoding",
            needs=partial(is_of_kind, linear=False),
            supported="nonlinear encodings compose",
            refuted="some nonlinear encoding does not compose",
        ),
    ]


def compared() -> list[Claim]:
    """That linear encodings do better: in score, as published, and in what is lost, which is ours."""
    return [
        Claim(
            "linear-above-nonlinear",
            linear_above_nonlinear,
            at_least(RESOLUTION),
            "Linear encodings score higher on held-out combinations than each nonlinear one",
            "indifferent",
            supported="linear encodings compose better than nonlinear ones",
            refuted="linear encodings do not compose better than every nonlinear one",
        ),
        Claim(
            "nonlinear-lose-more",
            nonlinear_lose_more,
            at_least(RESOLUTION),
            "From trained to held-out combinations each nonlinear encoding loses more than linear ones do",
            "indifferent",
            source=OURS,
            supported="nonlinear encodings lose more from trained to held-out combinations",
            refuted="some nonlinear encoding loses no more than linear ones do",
        ),
    ]


def decoded(by_kind: bool) -> list[Claim]:
    """That a nonlinear encoding is undone inside: above the encoding, as published, and above an untrained net."""
    return [
        Claim(
            "decoded-above-input",
            partial(decoded_above_input, by_kind=by_kind),
            at_least(0.1),
            "Of nonlinear encodings the net decodes the task by .1 better than a probe of the encoding",
            "already-linear",
            "task decoder minus input decoder, for each nonlinear encoding",
            needs=partial(is_of_kind, linear=False),
            supported="inside the net tasks are easier to decode than in a nonlinear encoding",
            refuted="of some nonlinear encoding tasks are no easier to decode inside the net",
        ),
        Claim(
            "encoding-is-undone",
            partial(undone, by_kind=by_kind),
            at_least(0.1),
            "The net decodes the task by .1 better than the encoding or an untrained net",
            "indifferent",
            "task decoder minus the better of input decoder and untrained net, for each nonlinear encoding",
            needs=partial(is_of_kind, linear=False),
            source=OURS,
            supported="the net undoes nonlinear encodings inside",
            refuted="some nonlinear encoding is not undone inside the net",
        ),
    ]
