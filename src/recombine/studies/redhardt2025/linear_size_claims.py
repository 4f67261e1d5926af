"""What is claimed and measured of sizes: of nets that are written, of nets that are trained, and of both."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from .linear_size_readings import (
    below_lookup,
    composes_from_random,
    decoded_after,
    decoded_where_written,
    error_exponent,
    error_of_bound,
    learned_exponent,
    parameter_exponent,
    stays,
    twins_across,
    twins_deviations,
    twins_inside,
    unit_exponent,
)

WRITTEN = [
    Claim(
        "error-below-bound",
        error_of_bound,
        at_most(1.0),
        "The error of an explicit net is never above its bound",
        "another-teacher",
        by_construction="Theorem 3.1: the weights are written so that it holds; a test of what is written",
        needs={"part": "written"},
    ),
    Claim(
        "error-falls-with-pieces-squared",
        error_exponent,
        at_most(-1.8),
        "The error of explicit nets falls with the square of the number of pieces (exponent at most -1.8)",
        "another-teacher",
        by_construction="the error of a piecewise-linear interpolation of a square",
        needs={"part": "written"},
    ),
    Claim(
        "units-at-most-linear",
        unit_exponent,
        at_most(1.0),
        "Hidden units of explicit nets grow at most linearly in the number of modules (they do not grow at all)",
        "lookup",
        by_construction="Theorem 3.1; in these weights M is a fan-in, and the exponent is 0",
        needs={"part": "written"},
    ),
]
TWINS = [
    Claim(
        "twins-agree-inside-blocks",
        twins_inside,
        at_most(0.01),
        "Two teachers agree on every task inside two blocks of modules",
        "other-blocks",
        by_construction="relu(A) + relu(B) is relu(A + B) where A or B is zero",
        needs={"part": "twins"},
    ),
    Claim(
        "twins-differ-across-blocks",
        twins_across,
        at_least(0.5),
        "And differ by at least .5 somewhere across them, so that no learner can know which of the two it is",
        "one-block",
        supported="where training never connects two blocks, two very different teachers explain it equally well",
        refuted="teachers that training cannot tell apart differ little",
        needs={"part": "twins"},
    ),
]
LEARNED = [
    Claim(
        "learned-width-at-most-linear",
        learned_exponent,
        at_most(1.0),
        "The least width that learns its family grows at most linearly in the number of modules, for every K",
        "lookup",
        supported="learned widths grow at most linearly, too",
        refuted="learned widths grow faster than the theorem allows for the best ones",
        needs={"part": "learned"},
    ),
    Claim(
        "learned-width-below-lookup",
        below_lookup,
        at_least(0.25),
        "And slower than where every combination has a teacher of its own, by an exponent of .25, for every K",
        "same-arms",
        supported="a family that composes takes less width than one that has to be known by heart",
        refuted="a family that composes takes as much width as one that has to be known by heart",
        needs={"part": "learned"},
    ),
]
STARTED = [
    Claim(
        "training-stays",
        stays,
        at_least(-0.05),
        "Training from the written weights loses at most .05 of the held-out R2",
        "elsewhere",
        supported="training stays at the written solution",
        refuted="training leaves the written solution",
        needs={"part": "start", "start": "written"},
    ),
    Claim(
        "decodable-where-written",
        decoded_where_written,
        at_least(0.9),
        "The constituents can be decoded from the last hidden layer of a written net, which composes",
        "shuffled",
        supported="decodability agrees that the written net composes",
        refuted="a net can compose without its last hidden layer giving the constituents away",
        needs={"part": "start", "start": "written"},
    ),
]
CLAIMS = [*WRITTEN, *TWINS, *LEARNED, *STARTED]

MEASUREMENTS = [
    Measurement("twins-in-deviations", twins_deviations, "How far twins lie apart across blocks, on average"),
    Measurement("parameter-exponent", parameter_exponent, "How the parameters of explicit nets grow with M"),
    Measurement("decodable-after", decoded_after, "Decodability of the last hidden layer after training from there"),
    Measurement("from-random", composes_from_random, "What training makes of random weights in the same layers"),
]
