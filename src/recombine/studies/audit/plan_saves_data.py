"""plan-saves-data: do planned combinations save data?

    recombine run plan-saves-data               laptop: about 18 minutes on two cores
    expected: plan needs at most .7 of what random needs for the same mean, at most .6 for the same worst 5 %

A fifth of the combinations is set aside, drawn anew for each seed. A net is trained on n of the others that were
chosen in one of five ways (choosing.py), and scored on those set aside, which are the same for all ways: `plan`
(recombine.planning: levels, then connection, then pairs, then evenly), `stair` (one factor after the other; of
modules, windows that move on by one; filled up at random), `random` (drawn again until every element is trained and
all hang together, if that can be had) and `risk` (one by one the combination that lacks most by what the audit looks
at: our fixed weights, no outcomes). The thresholds are those of the plan's design, after a prototype (35 planned
served the worst 5 % as well as 70 random ones), and were written before any run.

Scores are taken combination by combination (families.py). How many one way needs for a score that another has
reached is read off its curve, by straight lines over the logarithm of n; scores within .01 are the same. A way that
never gets there counts as needing twice the largest number tried.
"""

from __future__ import annotations

from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from .choosing import METHODS
from .combinations_needed import MEASUREMENTS
from .families import FAMILIES, NET, RECIPE, WORLD, families
from .plan_saves_data_charts import chart
from .plan_saves_data_claims import claims_about
from .planned_trials import cells_of, measure, refuse, summary

HISTORY = (
    "Four laptop runs came before, each of which showed a fault (values for the mean and for the worst 5 %). "
    "The first (.783 [.615, .951] and 1.033 [.496, 1.570]): once all pairs are seen the plan asked for the "
    "largest sets only, and the single modules that it never showed were what failed; since then it follows "
    "the sizes of the space. The second (.886 [.303, 1.468] and .779 [.542, 1.015]): each combination was "
    "scored on 8 tasks, which is chance more than anything where the worst 5 % of preferences are concerned; "
    "now it is 128. The third (.797 [.586, 1.007] and .935 [.554, 1.315]): each way was scored on what it had "
    "not trained itself, so ways were compared on different combinations; since then some are set aside for "
    "all. The fourth (1.211 [-.067, 2.490] and 1.198 [.092, 2.304]): a plan trained levels least of which "
    "much is forbidden, and preferred the first modules where combinations buy the same; since then it evens "
    "out how often each is trained. A fifth run (.887 [.163, 1.611] and .887 [.343, 1.432]) pooled families, two of "
    "which a plan cannot help: of bumps with two factors every unseen combination is an unseen pair, and 41 "
    "preferences are too few. Version 6 judges each family by itself, by the logarithm of the ratio, on bumps of "
    "three factors and "
    "129 preferences, with eight numbers and three nets each, and asks about a rival, choice by variance. Preferences "
    "take more training than minutes, and are asked about at night. Thresholds were not changed; that of the rival "
    "was written before its first run."
)


JUDGED = ["plan", "random", "variance"]

study = Study(
    id="plan-saves-data",
    version=6,
    title="Do planned combinations save data?",
    question="How many combinations are needed for the same held-out score if they are planned, and not drawn?",
    source="ours: the design of the plan, after a prototype",
    history=HISTORY,
    minutes=Scale(1 / 2, 18, 600, "a day on two cores"),
    world=WORLD,
    support={"name": "listed"},  # of what ranks, `measure` finds out
    net=NET,
    recipe=RECIPE,
    asks=[],
    options={"points": Scale(2, 8, 8, 8), "inits": Scale(1, 3, 2, 3)},
    vary={
        "family": families(
            Scale(["hyperteacher"], ["hyperteacher", "bumps"], list(FAMILIES), list(FAMILIES)),
            modules=Scale(4, 9, 9, 10),
            features=Scale(4, 9, 9, 16),
            bumps="sized-bumps-v1",  # of two factors every unseen combination is an unseen pair: nothing to plan
        ),
        "method": Arms(
            {name: {"options.method": name} for name in METHODS},
            Scale(JUDGED, JUDGED, JUDGED, list(METHODS)),
        ),
    },
    controls={
        # bumps with a size have no control of their own: every way is planned
        "same-ways-bumps": {"control": "same-arms", "family": ["bumps"], "bumps:recipe.steps": 600},
        "indifferent-preference": {"world.name": "indifferent-v1", "family": ["preference"]},
    },
    claims=[claim for family in FAMILIES for claim in claims_about(family)],
    measurements=MEASUREMENTS,
    charts=[chart("mean", "mean"), chart("worst", "5 % quantile")],
    otherwise="How much data a plan saves is not settled at this scale.",
    measure=measure,
    cells_of=cells_of,
    refuse=refuse,
    summary_of=summary,
)
