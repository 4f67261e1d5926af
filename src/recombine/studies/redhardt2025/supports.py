"""supports: does a plain MLP compose, by what it was trained on?

    recombine run supports                      laptop: about 4 minutes on two cores
    recombine run supports-preference           the same in a grid world: preferences that add up; about 12 minutes
    recombine run supports-goal                 the same in a grid world: goals told in a sentence; about 20 minutes
    expected: random, balanced and popular compose; missing and disconnected fail; unpopular lies between

The claims are those of Figure 4 of Redhardt, Akram, Schug 2025; the paper shows curves, so thresholds on the gap
(in-distribution minus held-out R^2, mean of per-task R^2) are ours. Its disconnected split (`one-apart`) trains as many
combinations as random. Two equal blocks are ours: they train fewer, and are compared with as many drawn at random.
In grid worlds scores are shares of what there is to learn: the wrong-code baseline has 0.
"""

from __future__ import annotations

from dataclasses import replace

from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study, Texts
from . import redhardt_history as history
from . import supports_designs as designs
from . import supports_readings as read
from .redhardt_setting import DECODABILITY, GOAL_RECIPE, PREFERENCE_RECIPE, hyperteacher, mlp, preference
from .redhardt_setting import source as in_paper
from .supports_charts import charts, label
from .supports_claims import claims_about, recipe_measurements
from .supports_readings import COMPOSING

PAPER = in_paper("Fig. 4, Fig. 8 and App. C.3")
OURS = "ours: the compositional goals are in the public code of Redhardt, Akram, Schug 2025, without results"
study = Study(
    id="supports",
    version=4,
    title="What must be trained so that the rest follows?",
    question="Does a plain network handle combinations it never saw, and how does that depend on the ones it did see?",
    source=PAPER,
    minutes=Scale(0.3, 4, 220, "about 2 GPU-hours"),
    world=hyperteacher(modules=Scale(12, 16, 16, 16), at_most=3),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=Scale(64, 384, 768, 1024), depth=Scale(2, 3, 4, 4)),
    recipe=designs.SUPPORTS_RECIPE,
    probes=DECODABILITY,
    # every combination by itself, once for each support: what the map of the report shows
    first_seed={"keep": ["panel", "scores", "episode"]},
    vary=[
        designs.EVERY_DESIGN,
        {
            "support": Arms({"disconnected": designs.DESIGNS["disconnected"]}),
            "recipe": Arms(designs.RECIPES, chosen=Scale([], [], list(designs.RECIPES), [])),
        },
    ],
    # few enough to be learned by heart; only what is claimed to compose
    controls={
        "lookup": {"modules": 4, "at_most": 2, "support": list(COMPOSING), "tasks": 48, "width": 128, "steps": 1000},
        "indifferent": {"steps": 200, "support": designs.FAILING},
        "indifferent-apart": {"world.name": "indifferent-v1", "steps": 200, "support": designs.APART},
    },
    claims=claims_about("module"),
    measurements=[one for recipe in ("default", *designs.RECIPES) for one in recipe_measurements(recipe)],
    charts=charts,
    texts=Texts("Certificates", "What each net was trained on, checked and not assumed.", read.certificates),
    maps="support",
    headline=read.headline_about("module"),
    history=history.SUPPORTS,
    differs=history.SUPPORTS_DIFFER,
    splits_must_exist=True,
    label_of=label,
)

preferences = replace(
    study,
    id="supports-preference",
    version=3,
    title="What must be trained so that the rest follows? Preferences in a grid world",
    minutes=Scale(0.7, 12, 150, "about 30 GPU-hours"),
    world=preference(
        modules=Scale(6, 10, 12, 16),
        at_most=Scale(2, 3, 3, 3),
        features=Scale(6, 10, 12, 16),
        objects=Scale(1, 1, 2, 4),
    ),
    # of 10 modules the published disconnected split needs .26 at least
    support={"name": "random", "held_out": Scale(0.3, 0.3, 0.25, 0.25)},
    net=mlp(width=Scale(64, 256, 512, 1024), depth=2),
    recipe=PREFERENCE_RECIPE,
    vary=designs.EVERY_DESIGN,
    controls=designs.CONTROLS_OF_PREFERENCES,
    claims=claims_about("preference"),
    measurements=[],
    headline=read.headline_about("preference"),
    history=history.SUPPORTS_PREFERENCE,
)

goals = replace(
    preferences,
    id="supports-goal",
    title="What must be trained so that the rest follows? Goals in a grid world",
    source=OURS,
    minutes=Scale(0.7, 20, 240, "about 2 GPU-hours"),
    world={"name": "goal-v2", "encoding": "sentence", "length": Scale(8, 20, 28, 48)},  # 20 do for 94 % of episodes
    support={"name": "random", "held_out": 0.25},
    recipe=GOAL_RECIPE,
    vary={
        "support": Arms(designs.OF_FACTORS, designs.ARMS_OF_GOALS),
        "recipe": Arms({"default": {}}),
    },
    controls=designs.CONTROLS_OF_GOALS,
    claims=claims_about("level", published=False, at_laptop=designs.OF_GOALS),
    headline=read.headline_about("level"),
    history=history.SUPPORTS_GOAL,
    differs=history.SUPPORTS_GOAL_DIFFER,
)
