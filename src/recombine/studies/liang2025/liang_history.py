"""What the studies of this paper say of themselves: what was changed after a run, and what differs from the source."""

from __future__ import annotations

FACTORIZED_FAILS = (
    "After a first run, in which transformers composed and the coordinate net had not finished, one claim on "
    "all plain nets became one for each net, with the same threshold, and laptop scale trains longer. Since "
    "version 2 transformers begin and are normed as torch does it, and paper scale has the published "
    "pictures, initialization, depths, steps, feed-forward units and dropout. The run of version 1 gave, at "
    "12 pixels: MLPs 42 times [36, 47], CNNs 20 [10, 30], transformers 2.3 [-1.4, 6.1]; least held-out error "
    "of MLPs and CNNs .39 [.19, .59]; worst of coordinate nets over three codes and two depths at 3,000 steps "
    ".30 [-.03, .63]. Since version 3 laptop scale has 16 pixels (12 were too easy for CNNs), raw ramps as "
    "published, one depth per net, and coordinate nets have the published one-hot code and ten times the "
    "steps; every code and depth is judged by itself instead of the least or the worst of them. How MLPs learn "
    "raw ramps was found in single runs: 3 layers and 15,000 steps were not enough, at the rate of the other "
    "nets units died; laptop scale has 4 layers, the published rate and 40,000 steps for all three codes. No "
    "threshold was moved."
)
DRAWN = (
    "Batches are drawn afresh, and weight decay spares biases; the public code repeats the pictures that it drew, the "
    "last batch of an epoch is smaller, and torch's decay does not spare biases."
)
FACTORIZED_FAILS_DIFFER = (
    "Each net is trained on all three codes; published are bump and ramp for MLPs and CNNs, bump for "
    "transformers, and one-hot for coordinate nets.",
    "Coordinate nets draw what the others draw and have the same hole; in the public code they draw bright "
    "pictures, and a corner is held out.",
    "CNNs have the depths of the poster, 2 to 6; the released script runs 2 to 10.",
    DRAWN,
)
RE_ENTANGLEMENT_DIFFER = (
    "At paper scale MLPs train for 50 epochs as CNNs do; the public code trains them for 20, on depths 3 to 7.",
    DRAWN,
)
SUPERPOSITION_DIFFER = (
    "At paper scale nets have the sizes and the 3,125 steps of the depth sweep; public scripts on superposition train "
    "for 12,500 steps on bump codes, and on ramps CNNs of 128 channels and 10 layers for 18,750.",
    DRAWN,
)
RENDER = (
    "After a first run of 3,000 steps, in which the seeds disagreed, laptop scale trains for 12,000. Version "
    "1 gave both regularizers the published weights at N = 12, where they count a thirteenth and an eighth of "
    "what they do at N = 32, under the paper's name: held out .06, 3.01 and .14 with our variance, .10 on "
    "average with the published one. Since version 2 the claim is on the published regularizers with weights "
    "scaled to N, ours stands beside it, each regularizer alone and each other shape is judged by itself, and "
    "what may fail in training is asked as how often; no threshold was moved."
)
RE_ENTANGLEMENT = (
    "Version 1 read how F falls from the first hidden layer to the last, less that before training, with "
    "normalized ramps, under the paper's name: -.009 [-.019, .002], refuted. Since version 2 that claim is "
    "read as published (F of the input minus that of the last layer, raw ramps, CNNs), and ours, against the "
    "same nets before training, stands beside it under a name of its own. The penalty had one weight, .1, and "
    "F was judged at the last layer on the whole frame: two of three seeds did not raise it there. Now "
    "weights go from .1 to 10, F is read where it is penalized, and of nets that learned the one with the "
    "highest F counts. Laptop scale has 3 and 4 layers, since MLPs of 2 did not learn raw ramps (error .68), "
    "and trains twice as long; no threshold was moved. The least spread (.002) and the margin of a tie (.005) "
    "of the two claims on the fall of F were set after single runs of version 2 had been seen."
)
SUPERPOSITION = (
    "After a first run with 12 pixels, in which a CNN did not fail, laptop scale has 16 pixels and the "
    "rendering net as published. Version 1 set some 22 trained pictures, freely blended, against the truth "
    "alone, and took the least over nets: .35 [.21, .49]. Since version 2 the truth is given as many "
    "unrelated pictures as there are that share a factor, each net is judged by itself, and kernels are "
    "fitted for every seed. Nets that compose were not all cured (held out .19, where .1 is asked): the "
    "coordinate net has three times the steps, the rendering net its own 12,000 and weights scaled to N, and "
    "the claim says how often. No threshold was moved."
)
RENDER_DIFFER = (DRAWN,)
STRIPES_DIFFER = (
    "The public scripts that are named after stripes contain none: CNNs of 8 layers draw bumps on a canvas with a "
    "margin, for 20 epochs. Here there are stripes, MLPs too, and the 3,125 steps of the depth sweep.",
    DRAWN,
)
TUNING_DIFFER = (
    "The poster does not say which nets its units are from: nets, pictures and steps are those of the depth sweep.",
    DRAWN,
)
DATA_EFFICIENCY_DIFFER = (
    "Pictures are bright; those of the public scripts on scaling, which search for no number, are dark on white.",
    DRAWN,
)
HOLE_SIZE_DIFFER = (
    "The public script draws 1000 (1 - p)^2 pictures once and trains on them for 20 epochs, 100 to 400 steps in all; "
    "here each net trains for the 3,125 steps of the depth sweep.",
    DRAWN,
)
STRIPES = (
    "Version 1 averaged a CNN that gains by stripes and an MLP that loses (error with all stripes by that "
    "with none .079 and 2.04; geometric mean .40 [.23, .57]), took the best net for the cure (.061 [.037, "
    ".085]) and the least gain of place (.50 [.26, .74]); that ten bumps put 60 % in place came out as 1.00 "
    "of 1.00, which stripes alone do by construction. Since version 2 each net has claims of its own, a net "
    "must have learned what it was trained on, few bumps are asked about pixels, and the claim on places is "
    "marked as by construction. Laptop scale has the cells that decide and twice the steps; no threshold was "
    "moved."
)
TUNING = (
    "Version 1 took the least over pairs of nets (stripes -.016 [-.10, .07], coordinate net -.14 [-.20, "
    "-.08]) and did not ask whether nets had learned. Since version 2 each pair is judged by itself and nets "
    "must have learned; laptop scale trains twice as long, and ten times the coordinate net, which before did "
    "not compose; the control has the same arms instead of untrained nets, which cannot have learned. No "
    "threshold was moved."
)
DATA_EFFICIENCY = (
    "Version 1 read the linear law off places, where it holds by construction (exponent 1.00 for every seed: "
    "the 2N stripes alone), and the cubic one off an MLP that never got there (undecided for every seed); "
    "saved places were averaged over nets, 1.03 [.98, 1.08], and pixels an MLP never learned to draw. Since "
    "version 2 both laws are read off the error of pixels of a CNN, the cubic one with real-valued centers "
    "and counted samples; what is never reached is an interval, and the claim on places is marked as by "
    "construction. No threshold was moved."
)
REVERSE_TASK = (
    "Version 1 had an MLP alone: it read .05 [.049, .051] of unseen pictures right, and 1.00 of those that it was "
    "trained on. Version 2 adds the convolutional encoder of the public code, and judges each net by itself; the "
    "threshold was not moved."
)
