"""What is claimed of a table of encodings."""

from __future__ import annotations

from functools import partial

from ...lab.study_table import RESOLUTION
from ...lab.verdicts import Claim, at_least
from .encodings_readings import Published, composes, linear_above_nonlinear, undone


def claims(published: Published, success: float) -> list[Claim]:
    """The claims on a table. success: the score that linear encodings are asked to reach."""
    nearly = round(0.9 * success, 3)
    return [
        Claim(
            "linear-composes",
            partial(composes, linear=True, success=success),
            at_least(success),
            f"Linear encodings reach {success:g} on held-out combinations",
            "lookup",
            "least held-out score of linear encodings",
            supported="linear encodings compose",
            refuted="some linear encoding does not compose",
        ),
        Claim(
            "nonlinear-composes",
            partial(composes, linear=False, success=nearly),
            at_least(nearly),
            f"Nonlinear encodings reach {nearly:.3g} on held-out combinations",
            "lookup-nonlinear",
            "least held-out score of nonlinear encodings",
            supported="nonlinear encodings compose",
            refuted="some nonlinear encoding does not compose",
        ),
        Claim(
            "linear-above-nonlinear",
            linear_above_nonlinear,
            at_least(RESOLUTION),
            "Linear encodings compose better than nonlinear ones",
            "indifferent",
            supported="linear encodings compose better than nonlinear ones",
            refuted="linear encodings do not compose better than nonlinear ones",
        ),
        Claim(
            "encoding-is-undone",
            partial(undone, by_kind=published.by_kind),
            at_least(0.1),
            "The net decodes the task by .1 better than the encoding or an untrained net",
            "indifferent",
            "task decoder minus the better of input decoder and untrained net, least over nonlinear encodings",
            supported="the net undoes nonlinear encodings inside",
            refuted="some nonlinear encoding is not undone inside the net",
        ),
    ]
