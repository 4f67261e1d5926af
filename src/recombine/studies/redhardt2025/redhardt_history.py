"""What the studies of this paper say of themselves: what was changed after a run, and what differs from the source."""

from __future__ import annotations

ROW = "decodability is read at the last row of a task, as published, and not at the first"
ONLY_THE_ROW = f"Since version 2 {ROW}; no claim reads it."
PROBE = (
    "The published probe is fitted on 512 tasks by ten steps of conjugate gradients, with a penalized intercept; "
    "ours on 2,048 tasks, exactly."
)

# -- supports ---------------------------------------------------------------------------------------------------------
COMPARED = (
    "The two comparisons asked for a difference above 0 at first, which a world without any effect can show by "
    "chance. They ask for .01 since a run of `supports` in which the differences were .125 and .241."
)
ROUNDED = f"popular and unpopular round the number of trained combinations down, as published, and {ROW}"
SAME_SIZE = (
    "compares two equal blocks, which train 138 combinations, with as many drawn at random and not with 522 (their "
    "gap was .142 [.077, .207]); what the paper says of its disconnected split is read of that split, 1 module against "
    "15 over all that is held out; `between` and `above` are asked of each support, and not of the least. No threshold "
    "was moved. Laptop scale trains 2,000 steps and not 3,000, and leaves the two other recipes to a night."
)
OF_WHAT_IS_LEARNED = (
    "scores are a share of what there is to learn above the wrong-code baseline (which gets .5 to .6 of these episodes "
    "right), and so is what counts as learned"
)
SUPPORTS = f"{COMPARED} Since version 3 {ROUNDED}. Version 4 {SAME_SIZE}"
SUPPORTS_PREFERENCE = (
    f"{COMPARED} Since version 2 {ROUNDED}. Version 3 {SAME_SIZE} Since then {OF_WHAT_IS_LEARNED}. Until then laptop "
    "scale had 6 preferences, two objects, 25 training tasks and 3,000 steps, and its nets had learned .74 to .83; now "
    "it has 10 preferences, one object, 122 tasks and 8,000 steps (one cell tried: .93, wrong-code baseline .54)."
)
SUPPORTS_GOAL = (
    f"{COMPARED} Version 1 ran in goal-v1, whose mazes had a wall all around and whose every step counted, and its "
    "nets had not learned what they were trained on (.77 to .84). Since version 2 the world is goal-v2, with mazes "
    f"and counted steps as published; {ROUNDED}. Version 3 compares two equal blocks with as many combinations drawn "
    "at random; laptop scale trains 10,000 steps, four times those of that run, and asks about fewer designs; "
    f"{OF_WHAT_IS_LEARNED}. No threshold was moved."
)
DESIGNS_DIFFER = (
    "Beside the disconnected split of the public code, which cuts 1 module from 15 (`one-apart`), there is one of two "
    "equal blocks (`disconnected`), whose combinations within a block are scored apart.",
    "Unpopular fills up at random, and the first rare module by itself may be among that; the public code takes the "
    "first combinations in order, without it, the same for every seed.",
)
SUPPORTS_DIFFER = (*DESIGNS_DIFFER, PROBE)
SUPPORTS_GOAL_DIFFER = (
    "The disconnected split of the public code is one of modules, and goals are made of levels: it is left out.",
    "Missing leaves out one kind of object; what is like it in the public code leaves out a quadrant.",
    "In the public code distractors are of other kinds than the object and stand anywhere, so that the object alone "
    "says where to go; here the same kind stands in another quadrant, and another kind in the same one.",
    "Goals are told in whole words and not in pieces of words, no two mazes are alike, and no two things share a cell.",
    "The public code names a transformer that reads the sentence, and cannot train it; here it is the MLP of the "
    "other studies.",
    *SUPPORTS_DIFFER,
)

# -- encodings --------------------------------------------------------------------------------------------------------
MENDED = (
    "After a first run two readings were mended, and no threshold: they now ask that every encoding was learned, and "
    "that the net beats an untrained one, too."
)
NARROWED = (
    "Later the net of laptop scale became narrower, to save time (256 units, not 384); until then the claim that "
    "linear encodings reach .95 was supported by a hair, with an interval of .951 to .985. The narrower net left it "
    "undecided at first (.950 to .986), and not on another machine."
)
BENT = (
    "Since version 2 claims on nonlinear encodings are about `invertible-bent`, and no more about `invertible`, and "
    f"{ROW}; no threshold was moved."
)
COMPARED_FAIRLY = (
    "Version 3 asks each claim of every encoding, and not of the least one. Nonlinear encodings were compared while "
    "few-shot had learned .80 of what it was trained on: now they train 8 times as many steps at laptop scale (one "
    "cell tried at 4 times: few-shot .88 on trained and .81 on held-out combinations, interval-shuffle .95 and .94, "
    "invertible-bent .99 and .96), and beside the published comparison of scores stands one of what is lost, which is "
    "ours; so stand `decoded-above-input`, the published reading of the probe, and `encoding-is-undone`, which takes "
    "an untrained net into account. No threshold was moved."
)
ENCODINGS = f"{MENDED} {NARROWED} {BENT} {COMPARED_FAIRLY}"
ENCODINGS_PREFERENCE = (
    f"{MENDED} {BENT} Version 3 asks each claim of every encoding, and not of the least one, and {OF_WHAT_IS_LEARNED}. "
    "Until then laptop scale had 6 preferences, two objects and 3,000 steps, and its nets had not learned (language "
    ".88, interval-shuffle .45 to .63); now it has 8 preferences, one object and 8,000 steps, 16,000 for "
    "invertible-bent. "
    "Interval-shuffle is asked about at night only: one cell tried was near chance after 8,000 steps (.60, wrong-code "
    "baseline .53). No threshold was moved."
)
INVERTIBLE = (
    "With its own probe the public code's invertible encoding (weights of deviation .1) has a decodability of .998, "
    "not Table 1's .56: it is almost affine, and here of neither kind. Claims on nonlinear encodings are about "
    "`invertible-bent`, three layers of deviation 1, which that probe reads with .41 to .65 (12 seeds, mean .54)."
)
NAMES = "`language` is called `tokens` in the public code; `tokens`, with a learned table, is ours."
LAYERS = "`invertible` has five layers, as the paper says; in the public code it always has three."
ENCODINGS_DIFFER = (INVERTIBLE, LAYERS, PROBE, NAMES)
ENCODINGS_PREFERENCE_DIFFER = (
    INVERTIBLE,
    "`invertible` has three layers for preferences; the caption of Table 2 says two, and its decodability is .74.",
    PROBE,
    NAMES,
)

# -- the others -------------------------------------------------------------------------------------------------------
SCALING_MODEL = (
    "After a first run one reading was mended, and no threshold: a wider net that is worse on the way now decides. "
    "Since version 2 `invertible` has three layers of deviation 1 and not five of .1, with which it is almost "
    f"affine, and {ROW}. Version 3 asks of every encoding and depth by itself whether wider is better, if its widest "
    "net has learned it. The least of them decided until then: supported by none, .229 [.009, .450]."
)
SCALING_MODEL_PREFERENCE = (
    f"{SCALING_MODEL} Here it refuted the claim, .018 [.006, .029], by interval-shuffle, which was not learned (.03 to "
    ".05 above the wrong-code baseline), and no net could reach .6 above that. Since version 3 "
    f"{OF_WHAT_IS_LEARNED}; laptop scale has 8 preferences, one object and 8,000 steps, and leaves interval-shuffle to "
    "a night. No threshold was moved."
)
SCALING_DATA = (
    f"Since version 2 {ROW}; no claim reads it. Version 3 runs the transformer of Figure 10 and the deep teacher of "
    "Figure 11, which were cited and not run; it reads the rise with coverage off a line through all shares, of each M "
    "and K by itself, where it was the mean difference of the end points (.265 [.195, .334]); and it asks that every "
    "net has learned what it was trained on. No threshold was moved."
)
SCALING_DATA_PREFERENCE = (
    f"{SCALING_DATA} In this world {OF_WHAT_IS_LEARNED}. Whether the score rises with K is asked at paper scale only: "
    "of K = 2 and 3 the difference was .008 [-.100, .117], below what a score can tell. Laptop scale has up to 10 "
    "preferences, one object, K = 3 and 8,000 steps; before it had 6, two, 2 and 3, and 3,000."
)
SCALING_DATA_DIFFER = (
    "The public code has no sweep for the transformer of Figure 10 (top) and none for the deep teacher of Figure 11: "
    "both have the grid and the recipe of the MLP.",
)
REQUIRED_TASKS_PREFERENCE_DIFFER = ("The sweep of the public code runs a transformer, too; here it is the MLP alone.",)
SCALING_MODEL_DIFFER = (
    "`invertible` has weights of deviation 1: with those of the public code (.1) its own probe reads the task off it "
    "with .998, where Table 1 has .56, and it is nonlinear by name only.",
)
BEYOND = (
    f"Since version 2 kernels that the hypernetwork makes are larger by 1.137, as in the public code, and {ROW}, "
    "which no claim reads. Version 3 trains deep-teacher and hypernetwork ten times as long at laptop scale: in a run "
    "before, the first had learned .27 of what it was trained on and the second gave -.017 [-.178, .145]. No threshold "
    "was moved."
)
BEYOND_DIFFER = (
    "The hypernetwork's second scale has a 2, since relu halves the second moment, and the biases that it makes "
    "begin at zero; in the public code neither is so.",
)
DECODABILITY = (
    f"Since version 2 {ROW}, and the studies that it reads have changed where they say so. Version 3 reads preferences "
    "too (Figure 9). The published claim was a mean over four studies (.754 [.707, .801]) and is now asked of each "
    "panel of the figures. Ours was about the score (.755 [.454, 1.057]), which falls with decodability where "
    "training is "
    "short; it is now about what is kept of the score. That the first layer stays decodable (1 for every seed) is said "
    "to hold by construction, and whether it is lost in deeper layers is asked instead. No threshold was moved."
)
DECODABILITY_DIFFER = (PROBE,)
REQUIRED_TASKS = (
    "After first cells K = 2 was left out at laptop scale, which cannot reach .9 there, and the claim of "
    "sub-exponential growth, which a net that needs a fixed share would have met, became one on the exponent against "
    "the size of the "
    "space. Version 2 reads it of several M, each by itself (of M = 10 it was -.342 [-.419, -.266]), carries a number "
    "that was never enough as an interval, and compares growth laws by their likelihood, one rate for all M (squared "
    "residuals of a power and of an exponential differed by .004). No threshold was moved."
)
