"""embers: are trivial tasks answered wrongly where the task is rare, or the right answer improbable?

    recombine run embers                        laptop: shifts common by Zipf's law, and all alike
    expected: common shifts are decoded and rare ones are not; improbable sentences are decoded worse

Of McCoy, Yao, Friedman, Hardy & Griffiths 2024, Embers of autoregression (PNAS; arXiv 2309.13638), who ask language
models. Here nets are trained from nothing on a corpus in which it is known how common everything is: seven texts in ten
are plain sentences of a small language, written from nothing; the others are shift ciphers, as common as planted, and
smaller tasks in pairs of a common one and a rare one. Sentences that are asked about are in no training text. The
log-probabilities of the fit are those that the net itself gives to a text as a plain one.

`laptop` has frequencies by Zipf's law in an order drawn for each seed, so that no shift is common for what it is, and
the control in which all are alike; `night` has three sizes, and the frequencies that were counted in web text, too. The
thresholds were written before any run of the study; the size of the laptop net, its rate and its steps were set after
single nets at seed 0 had been timed.
"""

from __future__ import annotations

from ...charts import kinds
from ...lab.scales import Scale
from ...lab.study import Study, Texts
from . import embers_readings as read
from .embers_arms import VARY
from .embers_claims import CLAIMS, MEASUREMENTS
from .embers_measure import measure
from .embers_texts import texts

SHARED = {"weight_decay": 0.01, "b2": 0.98, "nesterov": False, "warmup": 0.1, "floor": 0.05, "history": "losses"}
CORPUS = {"items": Scale(2_000, 60_000, 200_000, 400_000), "each": Scale(4, 20, 200, 200), "longest": 27}

study = Study(
    id="embers",
    title="Are trivial tasks missed where they are rare?",
    question="Does a net miss a trivial task where the task is rare, or where the right answer is improbable?",
    source="McCoy et al. 2024 (arXiv 2309.13638)",
    minutes=Scale(0.4, 18, 450, "about 60 GPU-hours"),
    world={"name": "ciphers-v1", "plain": "written", "space": CORPUS | {"frequency": "zipf"}},
    support={"name": "ciphers"},
    net={
        "name": "decoder-transformer",
        "width": Scale(16, 64, 128, 128),
        "depth": Scale(1, 2, 6, 6),
        "heads": Scale(2, 4, 4, 4),
        "feedforward": Scale(16, 128, 384, 384),
        "longest": 28,
    },
    recipe=Scale(
        SHARED | {"steps": 30, "tasks": 32, "learning_rate": 1e-2, "evaluations": 0, "precision": "float32"},
        SHARED | {"steps": 4000, "tasks": 64, "learning_rate": 3e-3, "evaluations": 3},
        SHARED | {"steps": 6000, "tasks": 64, "learning_rate": 1e-3, "evaluations": 5},
        SHARED | {"steps": 50_000, "tasks": 64, "learning_rate": 1e-3, "evaluations": 10},
    ),
    asks=[],
    keep=["panel"],
    # at smoke scale all seeds share a corpus: another one has other sizes, and so other programs
    options={"corpus": Scale("shared", *["of each seed"] * 3), "law": "zipf"},
    vary=VARY,
    controls={"planted": {"frequency": ["zipf", "uniform"]}},
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=[
        kinds.scatter(
            "Exact match in decoding, by how common the shift is",
            "A point per shift and net, over three levels of probability. Where all shifts are equally common, each "
            "stands where Zipf's law would have had it.",
            read.shift_rows,
            x_title="log10 of the share among ciphers",
            low=-4.0,
            value="exact match",
        ),
        kinds.dots(
            "Exact match by the probability of the sentence",
            "At shifts of middle frequency. In decoding the sentence is the answer, in encoding it is the question.",
            read.level_rows,
            y="name",
            value="exact match",
        ),
        kinds.dots(
            "What makes an answer right: a joint logistic fit",
            "Standardized weights of the frequency of the shift and of the log-probabilities of answer and question, "
            "a point per net, with 95 % intervals over seeds.",
            read.weight_rows,
            y="name",
            value="weight",
            intervals=True,
        ),
    ],
    texts=Texts(
        "Beside the published numbers, and what is written",
        "Truth above answer, letter by letter; a mark stands where they differ. The published numbers are those of "
        "language models that are asked, on other tasks of the same kind.",
        texts,
    ),
    measure=measure,
    differs=(
        "Nets are trained from nothing on a small language, and not asked as they come.",
        "Texts have at most 27 letters and blanks; at laptop scale nets see 4,000 times 64 of them.",
        "The fit joins decoding and encoding, and has the frequency of the shift beside the two log-probabilities.",
    ),
    otherwise="Nothing about common and rare tasks is settled at this scale.",
)
