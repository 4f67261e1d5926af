"""What a sentence of COGS means: its logical form, token for token as released.

    A girl gave the cake to Emma .   * cake ( x _ 4 ) ; girl ( x _ 1 ) AND give . agent ( x _ 2 , x _ 1 ) AND
                                     give . theme ( x _ 2 , x _ 4 ) AND give . recipient ( x _ 2 , Emma )

A thing is called by the place of its noun and an event by that of its verb. What has "the" stands in front; everything
else is in order of the place that it is about. A word by itself means a function of what it lacks.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ...errors import UserError
from ...labels import quoted
from ...supports import cogs_words as lexicon

Tokens = tuple[str, ...]
MOST_WORDS = 64  # of a sentence; places above have no number
_ARTICLES = {"A": False, "a": False, "The": True, "the": True}  # whether it is the one
_NAMES = frozenset(lexicon.ALL_NAMES)
_NOUNS = frozenset(lexicon.NOUNS)
_PREPOSITIONS = frozenset(lexicon.PREPOSITIONS)
_ALONE = frozenset(lexicon.ALONE)
_DATIVE = frozenset((*lexicon.DATIVE, "teleport", "ship"))
_CLAUSAL, _INFINITIVAL = frozenset(lexicon.CLAUSAL), frozenset(lexicon.INFINITIVAL)
_SLEEPING = frozenset((*lexicon.UNERGATIVE, lexicon.ONLY_INFINITIVE))
_TWO_PLACED = frozenset((*lexicon.TRANSITIVE, *lexicon.OMISSIBLE, *lexicon.UNACCUSATIVE, *lexicon.ONE_FRAME)) - _DATIVE
#: all tokens of logical forms
TOKENS = (
    *("*", "(", ")", ",", ".", ";", "AND", "x", "_", "LAMBDA", "a", "b", "e"),
    *("agent", "theme", "recipient", "ccomp", "xcomp", "nmod"),
    *lexicon.PREPOSITIONS,
    *map(str, range(MOST_WORDS)),
    *lexicon.ALL_NAMES,
    *dict.fromkeys(map(str.lower, (*lexicon.NOUNS, *lexicon.VERBS))),
)


def logical_form(words: Sequence[str]) -> Tokens:
    """The logical form of a sentence, or of a word alone; what COGS does not make is refused.

    Args:
        words: as the sentence is written, with its full stop.

    Example:
        >>> from recombine.tasks.sequences.cogs_meaning import logical_form
        >>> " ".join(logical_form("Emma slept .".split()))
        'sleep . agent ( x _ 1 , Emma )'
    """
    words = tuple(words)
    if len(words) == 1:
        return _of_word(words[0])
    if len(words) > MOST_WORDS:
        raise UserError(f"{quoted(' '.join(words))} has {len(words)} words; a sentence has at most {MOST_WORDS}")
    reading = _Reading(words)
    reading.sentence()
    return reading.form()


def _of_word(word: str) -> Tokens:
    if word in _NAMES:
        return (word,)
    if word in _ALONE:
        if word in _SLEEPING or word in lexicon.THEMATIC:
            role = "agent" if word in _SLEEPING else "theme"
            return tuple(f"LAMBDA a . LAMBDA e . {word} . {role} ( e , a )".split())
        form = f"LAMBDA a . LAMBDA b . LAMBDA e . {word} . agent ( e , b ) AND {word} . theme ( e , a )"
        return tuple(form.split())
    if word in _NOUNS:
        return tuple(f"LAMBDA a . {word.lower()} ( a )".split())
    raise UserError(f"{quoted(word)} means nothing by itself in COGS; 'hedgehog' does")


@functools.cache
def _x(place: int) -> Tokens:
    return ("x", "_", str(place))


class _Reading:
    """One pass over the words of a sentence from left to right, with one word to look ahead."""

    def __init__(self, words: Tokens):
        self.words, self.at = words, 0
        self.definite: list[Tokens] = []
        self.said: list[tuple[int, Tokens]] = []  # the place that it is about, what is said

    def form(self) -> Tokens:
        self.said.sort(key=lambda one: one[0])  # stable: in order of mention within a place
        tokens: list[str] = []
        for one in self.definite:
            tokens += ("*", *one, ";")
        for number, (_, one) in enumerate(self.said):
            tokens += ("AND", *one) if number else one
        return tuple(tokens)

    # -- the words ------------------------------------------------------------------------------------------------
    def here(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def skip(self, word: str) -> bool:
        """Whether this word stands here; if so, goes on."""
        there = self.here() == word
        self.at += there
        return there

    def fail(self) -> UserError:
        what = f"{quoted(self.here())}, word {self.at + 1}" if self.here() else "the end"
        return UserError(
            f"{quoted(' '.join(self.words))} is no sentence of COGS: it breaks off at {what}; 'Emma slept .' is one"
        )

    # -- the grammar ----------------------------------------------------------------------------------------------
    def sentence(self) -> None:
        self.clause()
        if not (self.skip(".") and self.at == len(self.words)):
            raise self.fail()

    def clause(self) -> int:
        """Subject, verb and what belongs to it; the place of the verb."""
        subject = self.thing()
        passive = self.skip("was")
        event, base = self.at, lexicon.BASE.get(self.here())
        if base is None or self.here() != (lexicon.participle(base) if passive else lexicon.past(base)):
            raise self.fail()
        self.at += 1
        (self.passive if passive else self.active)(event, base, subject)
        return event

    def active(self, event: int, base: str, subject: Tokens) -> None:
        if base in _CLAUSAL and self.here() == "that":
            self.at += 1
            self.role(event, base, "agent", subject)
            slot = len(self.said)
            inner = self.clause()
            self.said.insert(slot, (event, (base, ".", "ccomp", "(", *_x(event), ",", *_x(inner), ")")))
        elif base in _INFINITIVAL and self.here() == "to":
            self.infinitive(event, base, subject)
        elif base in _DATIVE:
            self.role(event, base, "agent", subject)
            first = self.thing()
            second = ("theme", "recipient") if self.skip("to") else ("recipient", "theme")
            self.role(event, base, second[0], first)
            self.role(event, base, second[1], self.thing())
        elif self.here() != "." and base in _TWO_PLACED:
            self.role(event, base, "agent", subject)
            self.role(event, base, "theme", self.thing())
        elif base in lexicon.THEMATIC or base in _SLEEPING or base in lexicon.OMISSIBLE or base == "bake":
            self.role(event, base, "theme" if base in lexicon.THEMATIC else "agent", subject)
        else:
            raise self.fail()

    def infinitive(self, event: int, base: str, subject: Tokens) -> None:
        self.at += 1
        inner, verb = self.at, self.here()
        if lexicon.BASE.get(verb) != verb:
            raise self.fail()
        self.at += 1
        self.role(event, base, "agent", subject)
        self.said.append((event, (base, ".", "xcomp", "(", *_x(event), ",", *_x(inner), ")")))
        self.role(inner, verb, "agent", subject)

    def passive(self, event: int, base: str, subject: Tokens) -> None:
        if base in _DATIVE:
            to = self.skip("to")
            self.role(event, base, "theme" if to else "recipient", subject)
            self.role(event, base, "recipient" if to else "theme", self.thing())
        elif base in _TWO_PLACED:
            self.role(event, base, "theme", subject)
        else:
            raise self.fail()
        if self.skip("by"):
            self.role(event, base, "agent", self.thing())

    def thing(self) -> Tokens:
        """A name, or a noun with its article and what it is in, on or beside; what it is called."""
        if self.here() in _NAMES:
            self.at += 1
            return (self.words[self.at - 1],)
        the, place = _ARTICLES.get(self.here()), self.at + 1
        if the is None or place >= len(self.words) or (noun := self.words[place]) not in _NOUNS:
            raise self.fail()
        self.at += 2
        noun = noun.lower()  # "TV"
        called = (noun, "(", *_x(place), ")")
        if the:
            self.definite.append(called)
        else:
            self.said.append((place, called))
        if (where := self.here()) in _PREPOSITIONS:
            self.at += 1
            slot = len(self.said)
            inner = self.thing()
            self.said.insert(slot, (place, (noun, ".", "nmod", ".", where, "(", *_x(place), ",", *inner, ")")))
        return _x(place)

    def role(self, event: int, base: str, role: str, who: Tokens) -> None:
        self.said.append((event, (base, ".", role, "(", *_x(event), ",", *who, ")")))
