"""scan-episodes-v1: meta-learning for compositionality on SCAN (Lake & Baroni 2023): words take other meanings.

    run twice | walk -> I_LOOK | run -> I_JUMP | look -> I_RUN ...      ->      I_JUMP I_JUMP

An item is an episode: a command that is asked, and study examples of what its words mean here. In 95 of 100 episodes of
trained commands the verbs play each other's parts, and so do their actions, and likewise left and right. A word that
plays another's part never has its own meaning, so that with its own meaning a word stands in trained commands only: on
the split add-jump, where jump means I_JUMP, it stands alone. Held-out commands are asked in the language as it is.

Study examples: for each verb and each side of the command the shortest trained command with it, and others by lot among
short trained ones. (Published: ten by lot, with jump forced in; ours are fewer and shorter, as the price of an episode
rises with them.) With `rule` above 1 every verb means so many actions, which no episode of rule=1 has: rules that are
longer than those of training.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require_int
from ...keys import generator, key_for
from ...spaces import Space
from ...supports import Support
from ..base import Batch, tasks
from .scan import Scan
from .scan_grammar import LINKS, VERBS, Actions, action
from .sequence_task import PADDING, in_small_type, texts_of
from .tokenizer import Tokenizer

BY_WORD = 4  # study examples that the words of a command bring: two verbs and two sides at most
STUDIED = 6  # examples in all
SHORT = 12  # words, actions and marks of an example that is drawn by lot, at most
PERMUTED = 0.95  # of episodes with trained commands
MARKS = ("|", "->")  # before an example, and between its command and its actions
MOST_STUDIED, LONGEST_RULE = 50, 4


@tasks.register("scan-episodes-v1")
class ScanEpisodes(Scan):
    """SCAN as episodes of meta-learning: a command, and study examples of what its words mean this time.

    Args:
        space: a list of commands of SCAN.
        seed: of nothing: the meanings are those of the language, before they are permuted.
        study: how many study examples there are.
        rule: actions that a verb means; 1 in SCAN.

    Example:
        >>> world = rc.tasks.ScanEpisodes(rc.tasks.scan_commands(sentences=1), study=5)
        >>> text, right = world.shown(jax.random.key(1), [64])
        >>> text.split(" | ")[0], len(right.split())
        ('jump twice', 2)
    """

    id = "scan-episodes-v1"
    controls = {"lookup": "scan-episodes-lookup-v1", "indifferent": "scan-episodes-indifferent-v1"}
    permutes: ClassVar[bool] = True
    by_word: jax.Array  # (size, BY_WORD, F) the example that each word of a command brings, as words of episodes
    by_lot: jax.Array  # (n, R) examples that are drawn
    as_it_is: jax.Array  # (size,) whether the language is never permuted: true of held-out commands
    study: int = eqx.field(static=True)
    rule: int = eqx.field(static=True)

    def __init__(self, space: Space, seed: int = 0, study: int = STUDIED, rule: int = 1):
        self.study = require_int("study", study, at_least=BY_WORD, at_most=MOST_STUDIED)
        self.rule = require_int("rule", rule, at_least=1, at_most=LONGEST_RULE)
        super().__init__(space, seed)

    def _fill(self, space: Space, reads: Tokenizer, writes: Sequence[str], meanings: Sequence[Sequence[str]]) -> None:
        super()._fill(space, reads, writes, meanings)
        self.reads = Tokenizer((*reads.vocabulary, *MARKS, *writes))
        trained = np.ones(space.size, bool)
        self.by_word, self.by_lot = self._examples(trained, texts_of(space), self._encoded(meanings))
        self.as_it_is = jnp.asarray(~trained)

    def given(self, support: Support) -> ScanEpisodes:
        """The world whose study examples are trained commands, and whose held-out commands mean what they mean."""
        trained = np.zeros(self.space.size, bool)
        trained[support.space.rank(support.train.combinations())] = True
        by_word, by_lot = self._examples(trained, np.asarray(self.texts), np.asarray(self.meanings))
        where = lambda task: (task.by_word, task.by_lot, task.as_it_is)  # noqa: E731
        return eqx.tree_at(where, self, (by_word, by_lot, jnp.asarray(~trained)))

    # -- study examples ---------------------------------------------------------------------------------------------
    def _examples(self, trained: np.ndarray, texts: np.ndarray, meanings: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """What words bring, and what is drawn: from trained commands only."""
        examples = self._as_examples(texts.astype(int), meanings.astype(int))
        size = (examples >= 0).sum(1)
        known = np.flatnonzero(trained)
        order = known[np.argsort(size[known], kind="stable")]  # shortest first
        first = {word: next((r for r in order if (texts[r] == word).any()), -1) for word in self._parts()}
        which = np.full((len(texts), BY_WORD), -1)
        for row, words in enumerate(texts):
            found = [first[word] for word in dict.fromkeys(words.tolist()) if first.get(word, -1) >= 0]
            which[row, : len(found)] = found[:BY_WORD]
        brought = np.where((which >= 0)[:, :, None], examples[which], PADDING)
        drawn = order[size[order] <= SHORT] if (size[order] <= SHORT).any() else order[:1]
        widths = [max(int((part >= 0).sum(-1).max()), 1) for part in (brought, examples[drawn])]
        kind = len(self.reads)
        return (
            jnp.asarray(in_small_type(brought[:, :, : widths[0]], kind)),
            jnp.asarray(in_small_type(examples[drawn][:, : widths[1]], kind)),
        )

    def _as_examples(self, texts: np.ndarray, meanings: np.ndarray) -> np.ndarray:
        """(size, L) each command as an example: a mark, its words, a mark, its actions."""
        start = len(self.reads) - len(self.writes) + 1  # of actions
        acts = np.where(meanings > 0, meanings - 1 + start, PADDING)
        marks = [np.full((len(texts), 1), start - len(MARKS) + place) for place in range(len(MARKS))]
        whole = np.concatenate([marks[0], texts, marks[1], acts], axis=1)
        return np.take_along_axis(whole, np.argsort(whole < 0, axis=1, kind="stable"), 1)

    def _parts(self) -> tuple[int, ...]:
        """Words that are permuted: the verbs, and left and right."""
        return (*range(self._verbs), self._verbs + 1, self._verbs + 2)

    @property
    def _verbs(self) -> int:
        return len(self.space.element_names) - len(LINKS)

    # -- episodes ---------------------------------------------------------------------------------------------------
    @property
    def repeats(self) -> bool:
        return False

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        row = combinations[:, 0]
        lots, parts = jax.random.split(key)
        lot = jax.random.randint(lots, (len(row), self.study - BY_WORD), 0, len(self.by_lot))
        asked, target = (array[row].astype(jnp.int32) for array in (self.texts, self.meanings))
        words, acts = jax.vmap(self._played)(jax.random.split(parts, len(row)), self.as_it_is[row])
        brought, drawn = (
            part.reshape(len(row), -1).astype(jnp.int32) for part in (self.by_word[row], self.by_lot[lot])
        )
        code = self._said(jnp.concatenate([asked, brought, drawn], axis=1), words, acts)
        answer = self._answer(target, acts)
        inside = (asked[:, :, None] == jnp.arange(len(self.space.element_names))).any(1)
        return Batch(combinations, code, None, answer, inside.astype(jnp.float32))

    def _played(self, key: jax.Array, as_it_is: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Of one episode: which word plays each word's part, and which action is done for each action."""
        keys = jax.random.split(key, 5)
        verbs, sides = self._verbs, np.arange(2)
        words, acts = jnp.arange(len(self.space.element_names)), jnp.arange(len(self.writes))
        if self.permutes:
            permuted = jax.random.bernoulli(keys[4], PERMUTED) & ~as_it_is
            for at, (number, word, act) in enumerate(((verbs, 0, 1), (len(sides), verbs + 1, verbs + 1))):
                role, done = _parts_played(keys[2 * at], keys[2 * at + 1], number)
                own = jnp.arange(number)
                words = words.at[word + own].set(word + jnp.where(permuted, role, own))
                acts = acts.at[act + own].set(act + jnp.where(permuted, done, own))
        return words, acts

    def _said(self, code: jax.Array, words: jax.Array, acts: jax.Array) -> jax.Array:
        """(T, L) what a net reads: words and actions as they are played, without gaps."""
        start = len(self.reads) - len(self.writes) + 1
        table = jnp.concatenate(
            [words, jnp.broadcast_to(jnp.arange(len(MARKS)), (len(code), len(MARKS))) + words.shape[1]], axis=1
        )
        act = jnp.take_along_axis(table, jnp.clip(code, 0, start - 1), axis=1)
        played = self._actions(jnp.where(code >= start, code - start + 1, PADDING), acts)  # (T, L, rule)
        plain = jnp.where(code < 0, PADDING, act)[:, :, None]
        said = jnp.where((code >= start)[:, :, None], jnp.where(played >= 0, played - 1 + start, PADDING), PADDING)
        first = jnp.where((code >= start)[:, :, None], said[:, :, :1], plain)
        return _without_gaps(jnp.concatenate([first, said[:, :, 1:]], axis=2).reshape(len(code), -1))

    def _actions(self, target: jax.Array, acts: jax.Array) -> jax.Array:
        """(T, M, rule) the actions that each action stands for; -1 where it is one, beyond it."""
        own = jnp.take_along_axis(acts, jnp.maximum(target, 0), axis=1)
        is_verb = (target >= 1) & (target <= self._verbs)
        found = [jnp.where(target >= 0, own, PADDING)]
        for more in range(1, self.rule):  # the action of the next verb, the one after it, ...
            place = 1 + (target - 1 + more) % self._verbs
            also = jnp.take_along_axis(acts, jnp.clip(place, 0, len(self.writes) - 1), axis=1)
            found.append(jnp.where(is_verb, also, PADDING))
        return jnp.stack(found, axis=2)

    def _answer(self, target: jax.Array, acts: jax.Array) -> jax.Array:
        """(T, M) what is right; nothing counts where that is longer than the longest answer of SCAN."""
        whole = self._actions(target, acts).reshape(len(target), -1)
        fits = (whole >= 0).sum(1, keepdims=True) <= target.shape[1]
        return jnp.where(fits, _without_gaps(whole)[:, : target.shape[1]], PADDING)

    # -- for people -------------------------------------------------------------------------------------------------
    def shown(self, key: jax.Array, combination: Any) -> tuple[str, str]:
        """An episode in words: what is read, and what is right."""
        batch = self.sample(key, jnp.asarray(combination)[None])
        return self.reads.decode(np.asarray(batch.code)[0]), self.said(np.asarray(batch.target)[0])


@tasks.register("scan-episodes-lookup-v1")
class ScanEpisodesLookup(ScanEpisodes):
    """Episodes in which each command means one action by lot: study examples say nothing about what is asked.

    Args:
        space: a list of commands.
        seed: of the lots.
        study: how many study examples there are.
        rule: actions that a verb means.

    Example:
        >>> world = rc.tasks.ScanEpisodesLookup(rc.tasks.scan_commands(sentences=1))
        >>> len({world.meaning([row]) for row in range(world.space.size)})
        6
    """

    id = "scan-episodes-lookup-v1"
    controls = {}

    def _meanings(self, true: Any, seed: int) -> Any:

        known = sorted({act for meaning in true for act in meaning})
        return [(known[n],) for n in generator(key_for("teacher", seed)).integers(0, len(known), len(true))]


@tasks.register("scan-episodes-indifferent-v1")
class ScanEpisodesIndifferent(ScanEpisodes):
    """Episodes in which all commands mean the same, always: whoever answers one answers all, however long.

    Args:
        space: a list of commands.
        seed: of nothing.
        study: how many study examples there are.
        rule: actions that a verb means.

    Example:
        >>> world = rc.tasks.ScanEpisodesIndifferent(rc.tasks.scan_commands(sentences=1))
        >>> {world.meaning([row]) for row in range(world.space.size)}
        {'I_WALK'}
    """

    id = "scan-episodes-indifferent-v1"
    controls = {}
    permutes = False

    def _meanings(self, true: Any, seed: int) -> list[Actions]:
        return [(action(VERBS[0]),)] * len(true)


def _parts_played(words: jax.Array, acts: jax.Array, number: int) -> tuple[jax.Array, jax.Array]:
    """Permutations of words and of actions in which no word that plays another's part has its own meaning."""
    own = jnp.arange(number)
    role, done = jax.random.permutation(words, number), jax.random.permutation(acts, number)
    unchanged = ((role != own) & (done == role)).any()
    return role, jnp.where(unchanged, own, done)


def _without_gaps(rows: jax.Array) -> jax.Array:
    """Rows with padding at their end only."""
    return jnp.take_along_axis(rows, jnp.argsort(rows < 0, axis=1, stable=True), axis=1)
