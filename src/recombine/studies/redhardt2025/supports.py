"""supports: does a plain MLP compose, by what it was trained on?

    recombine run supports                      laptop: about 4 minutes on two cores
    recombine run supports-preference           the same in a grid world: preferences that add up; about 5 minutes
    recombine run supports-goal                 the same in a grid world: goals told in a sentence; about 9 minutes
    expected: random, balanced and popular compose; missing and disconnected fail; unpopular lies between

The claims are those of Figure 4 of Redhardt, Akram, Schug 2025; the paper shows curves, so the thresholds on the
gap (in-distribution minus held-out R^2, mean of per-task R^2) are ours. Equal blocks for
`disconnected` (the public code cuts 1 from 15) and its within-block group are ours, too.
"""

from __future__ import annotations

from dataclasses import replace

from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study, Texts
from . import supports_readings as read
from .paper import DECODABILITY, PREFERENCE_RECIPE, PUBLISHED, PUBLISHED_PREFERENCE, hyperteacher, mlp, preference
from .paper import source as in_paper
from .supports_charts import charts, label
from .supports_claims import claims_about, recipe_measurements
from .supports_designs import DESIGNS, EVERY_DESIGN, RECIPES
from .supports_readings import COMPOSING

PAPER = in_paper("Fig. 4, Fig. 8 and App. C.3")
OURS = "ours: the compositional goals are in the public code of Redhardt, Akram, Schug 2025, without results"

study = Study(
    id="supports",
    version=2,
    title="What must be trained so that the rest follows?",
    question="Does a plain network handle combinations it never saw, and how does that depend on the ones it did see?",
    source=PAPER,
    minutes=Scale(0.3, 4, 220, "about 2 GPU-hours"),
    world=hyperteacher(modules=Scale(12, 16, 16, 16), at_most=3),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=Scale(64, 384, 768, 1024), depth=Scale(2, 3, 4, 4)),
    recipe=Scale({"steps": 1000, "tasks": 128, "evaluations": 0}, {"steps": 3000}, {"steps": 20_000}, PUBLISHED),
    probes=DECODABILITY,
    # every combination by itself, once for each support: what the map of the report shows
    first_seed={"keep": ["panel", "scores", "episode"]},
    vary=[
        EVERY_DESIGN,
        {
            "support": Arms({"disconnected": DESIGNS["disconnected"]}),
            "recipe": Arms(RECIPES, chosen=Scale([], list(RECIPES), list(RECIPES), [])),
        },
    ],
    # few enough to be learned by heart; only what is claimed to compose
    controls={
        "lookup": {"modules": 4, "at_most": 2, "support": list(COMPOSING), "tasks": 48, "width": 128},
        "indifferent": {"steps": 200},
    },
    claims=claims_about("module"),
    measurements=[one for recipe in ("default", *RECIPES) for one in recipe_measurements(recipe)],
    charts=[charts],
    texts=Texts("Certificates", "What each net was trained on, checked and not assumed.", read.certificates),
    maps="support",
    headline=read.headline_about("module"),
    history=(
        "The two comparisons asked for a difference above 0 at first, which a world without any effect can show "
        "by chance. They ask for .01 since a run of `supports` in which the differences were .125 and .241."
    ),
    splits_must_exist=True,
    label_of=label,
)

preferences = replace(
    study,
    id="supports-preference",
    version=1,
    title="What must be trained so that the rest follows? Preferences in a grid world",
    minutes=Scale(0.7, 5, 150, "about 30 GPU-hours"),
    world=preference(
        modules=Scale(6, 6, 8, 16),
        at_most=Scale(2, 3, 3, 3),
        features=Scale(6, 6, 8, 16),
        objects=Scale(1, 2, 2, 4),
    ),
    support={"name": "random", "held_out": Scale(0.3, 0.4, 0.25, 0.25)},
    net=mlp(width=Scale(64, 256, 512, 1024), depth=2),
    recipe=PREFERENCE_RECIPE,
    vary=EVERY_DESIGN,
    controls={"lookup": {"support": list(COMPOSING)}, "indifferent": {"steps": 150}},
    claims=claims_about("preference"),
    measurements=[],
    headline=read.headline_about("preference"),
)

goals = replace(
    preferences,
    id="supports-goal",
    title="What must be trained so that the rest follows? Goals in a grid world",
    source=OURS,
    minutes=Scale(0.7, 9, 200, "about 30 GPU-hours"),
    world={"name": "goal-v1", "encoding": "sentence", "length": Scale(8, 16, 16, 48)},
    support={"name": "random", "held_out": 0.25},
    recipe=Scale(
        {"steps": 40, "tasks": 16, "learning_rate": 3e-3, "weight_decay": 0.1, "evaluations": 0},
        {"steps": 2500, "tasks": 48, "learning_rate": 3e-3, "weight_decay": 0.1, "evaluations": 2},
        {"steps": 20_000, "tasks": 48, "learning_rate": 3e-3, "weight_decay": 0.1, "evaluations": 4},
        PUBLISHED_PREFERENCE,
    ),
    vary={
        "support": Arms(DESIGNS, chosen=Scale(["random", "disconnected"], *[list(DESIGNS)] * 3)),
        "recipe": Arms({"default": {}}),
    },
    controls={"lookup": {"support": ["random"]}},
    claims=claims_about("level"),
    headline=read.headline_about("level"),
)
