"""What a bar says: the loss by its parts, and the held-out score."""

from __future__ import annotations

from recombine.machine.progress import in_words


def test_a_loss_of_one_part_is_the_loss():
    facts = {
        "step": 3,
        "loss": 0.25,
        "train/loss": 0.25,
        "held_out/loss": 0.5,
        "held_out/total": 0.5,
        "held_out/r2": 0.1,
    }
    assert in_words(facts) == "loss 0.25, held out 0.100"


def test_parts_and_notes_are_named_and_losses_are_not_taken_for_scores():
    facts = {
        "loss": 1.5,
        "train/nll": 1.0,
        "train/kl": 0.5,
        "train/reward": 0.125,
        "held_out/nll": 2.0,
        "held_out/kl": 1,
    }
    assert in_words(facts) == "nll 1, kl 0.5, reward 0.125"
    assert in_words(facts | {"held_out/cross-block/r2": 0.5}).endswith(", held out 0.500")


def test_without_facts_nothing_is_said():
    assert in_words({}) == ""
