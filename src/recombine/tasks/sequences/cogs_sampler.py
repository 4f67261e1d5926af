"""Sentences of COGS by chance: those that are trained on, and those of each generalization case.

A sentence is a frame whose capitals are filled in. Frames come as often as in the released training file; nouns and
names follow Zipf's law. A case is frames of its own, and a word or a structure that stands where it never does in
training.

    A  who acts       R  who receives     T  what it is done to, maybe with "in the box"    t  the same as a subject
    U  what rolls     V  verb, by class   was P  its passive     I  infinitive
"""

from __future__ import annotations

import functools
from collections.abc import Container, Mapping, Sequence

from ...keys import generator, key_for
from ...supports import cogs_words as lexicon
from ...supports.cogs_cases import EXPOSURE, case_of
from .chance import Chance, Weighted, distinct
from .cogs_meaning import logical_form

Sentence = tuple[str, ...]
DEEP = (3, 12)  # nested clauses, or chained prepositions, of the cases of recursion
PRIMITIVE_NOUNS, PRIMITIVE_NAMES = 40, 20  # words alone, beside the special ones; all verbs of one and of two places

#: frame -> how often it is in the released training file
FRAMES = {
    "A V:two T": 4701,
    "t was P:two by A": 3821,
    "t was P:two": 1709,
    "A V:sleep": 687,
    "A V:omit": 676,
    "U V:roll": 872,
    "A V:give R T": 1533,
    "A V:give T to R": 1532,
    "t was P:give to R by A": 1436,
    "t was P:give to R": 1262,
    "R was P:give T by A": 1172,
    "R was P:give T": 1119,
    "A V:want to I": 1206,
}
NESTED, NESTED_TWICE = 0.095, 0.07  # share of sentences with "that", and of those that have it twice
ATTACHED, ATTACHED_TWICE = 0.46, 0.09  # share of themes with a preposition, and of those with another behind it
ZIPF = 1.1  # exponent of the released frequencies


class Choices:
    """Words to choose from, by kind and by class of verb.

    Args:
        most: so many of each, the frequent ones; None: all.
    """

    def __init__(self, most: int | None = None):
        self.most = most
        self.classes = {
            "two": tuple(map(self._alike, (lexicon.TRANSITIVE, lexicon.OMISSIBLE, lexicon.UNACCUSATIVE))),
            "sleep": (self._alike(lexicon.UNERGATIVE),),
            "omit": (self._alike(lexicon.OMISSIBLE),),
            "roll": (self._alike(lexicon.UNACCUSATIVE),),
            "give": (self._frequent(lexicon.DATIVE),),
            "want": (self._frequent(lexicon.INFINITIVAL),),
        }
        self.nouns = {
            "name": self._frequent(lexicon.NAMES),
            "animate": self._frequent(lexicon.ANIMATE),
            "thing": self._frequent(lexicon.THINGS),
            "in": self._frequent(lexicon.INSIDE),
            "on": self._frequent(lexicon.UPON),
            "beside": self._frequent((*lexicon.UPON, *lexicon.NEAR)),
        }
        self.speaking, self.infinitives = self._frequent(lexicon.CLAUSAL), self._frequent(lexicon.INFINITIVES)

    def _frequent(self, words: Sequence[str]) -> Weighted:
        return Weighted.zipf(words[: self.most], ZIPF)

    def _alike(self, words: Sequence[str]) -> Weighted:
        return Weighted(words[: self.most])

    def alone(self) -> list[str]:
        """What is a word by itself in training, beside the special nouns and names."""
        verbs = (lexicon.TRANSITIVE, lexicon.OMISSIBLE, lexicon.UNACCUSATIVE, lexicon.UNERGATIVE)
        known = {word for kind in verbs for word in kind[: self.most]} | {lexicon.ONLY_INFINITIVE}
        nouns, names = slice(0, self.most or PRIMITIVE_NOUNS, 2), slice(self.most or PRIMITIVE_NAMES)
        found = lexicon.ANIMATE[nouns] + lexicon.THINGS[nouns] + lexicon.NAMES[names]
        return [*(word for word in lexicon.ALONE if word in known), *found]


KINDS = {  # of who or what: name, animate noun, thing
    "A": Weighted(("name", "animate"), (1, 1)),
    "R": Weighted(("name", "animate"), (1, 1)),
    "T": Weighted(("name", "animate", "thing"), (5, 9, 86)),
    "t": Weighted(("name", "animate", "thing"), (5, 9, 86)),
    "U": Weighted(("name", "animate", "thing"), (22, 28, 50)),
}
WHERE = Weighted(lexicon.PREPOSITIONS)
ALL = Weighted(tuple(FRAMES), tuple(FRAMES.values()))


def _only(*frames: str) -> Weighted:
    return Weighted(frames, [FRAMES.get(frame, 1) for frame in frames])


AS_SUBJECT = _only("A V:two T", "A V:give R T", "A V:give T to R", "A V:want to I", "A V:sleep", "A V:omit")
AS_OBJECT = _only("A V:two T", "A V:give R T", "A V:give T to R")
#: case -> its frames, and what stands in place of a capital; a class is replaced by a verb
PLANS: Mapping[str, tuple[Weighted, Mapping[str, str]]] = {
    **{
        f"{trained}_to_{now}_{kind}": (
            AS_SUBJECT if now == "subj" else AS_OBJECT,
            {"A" if now == "subj" else "T": word},
        )
        for trained, now, words in (
            ("subj", "obj", lexicon.ONLY_SUBJECT),
            ("obj", "subj", lexicon.ONLY_OBJECT),
            ("prim", "subj", lexicon.ONLY_WORD),
            ("prim", "obj", lexicon.ONLY_WORD),
        )
        for kind, word in zip(("common", "proper"), words, strict=True)
    },
    "prim_to_inf_arg": (_only("A V:want to I"), {"I": lexicon.ONLY_INFINITIVE}),
    "active_to_passive": (_only("t was P:two by A", "t was P:two"), {"two": "bless"}),
    "passive_to_active": (_only("A V:two T"), {"two": "squeeze"}),
    "obj_omitted_transitive_to_transitive": (_only("A V:two T"), {"two": "bake"}),
    "unacc_to_transitive": (_only("A V:two T"), {"two": "shatter"}),
    "do_dative_to_pp_dative": (_only("A V:give T to R"), {"give": "teleport"}),
    "pp_dative_to_do_dative": (_only("A V:give R T"), {"give": "ship"}),
    "only_seen_as_transitive_subj_as_unacc_subj": (_only("U V:roll"), {"U": lexicon.ONLY_AGENT}),
    "only_seen_as_unacc_subj_as_obj_omitted_transitive_subj": (_only("A V:omit"), {"A": lexicon.ONLY_THEME}),
    "only_seen_as_unacc_subj_as_unerg_subj": (_only("A V:sleep"), {"A": lexicon.ONLY_THEME}),
    "obj_pp_to_subj_pp": (ALL, {"subject": "attached"}),
    "cp_recursion": (ALL, {}),
    "pp_recursion": (_only("A V:two T", "A V:give R T", "A V:give T to R"), {}),
}
#: what each of the special words is trained in, once
EXPOSURES: tuple[tuple[str, Mapping[str, str]], ...] = (
    *(("A V:two T", {"A": word}) for word in lexicon.ONLY_SUBJECT),
    *(("A V:two T", {"T": word}) for word in lexicon.ONLY_OBJECT),
    ("A V:two T", {"two": "bless"}),
    ("t was P:two", {"two": "squeeze"}),
    ("A V:omit", {"omit": "bake"}),
    ("U V:roll", {"roll": "shatter"}),
    ("A V:give R T", {"give": "teleport"}),
    ("A V:give T to R", {"give": "ship"}),
    ("A V:two T", {"A": lexicon.ONLY_AGENT}),
    ("U V:roll", {"U": lexicon.ONLY_THEME}),
)


class Sampler:
    """Draws sentences.

    Args:
        seed: of what is drawn.
        words: of each kind so many, the frequent ones; None: all.
        deepest: clauses, or prepositions, in one another at most.
        longest: the most words of a logical form; None: any number.

    Example:
        >>> from recombine.tasks.sequences.cogs_sampler import Sampler
        >>> len(Sampler(seed=0).ordinary(100))
        100
    """

    def __init__(self, seed: int, words: int | None = None, deepest: int = DEEP[1], longest: int | None = None):
        self.chance = Chance(generator(key_for("corpus-cogs", seed)))
        self.choices, self.depths, self.longest = Choices(words), range(DEEP[0], deepest + 1), longest
        self.seen: set[Sentence] = set()

    def ordinary(self, number: int) -> list[Sentence]:
        """Sentences as in training."""
        draw = functools.partial(self._sentence, ALL, {})
        return distinct(draw, number, "ordinary sentences of COGS", self._fits, self.seen)

    def exposures(self) -> list[Sentence]:
        """One sentence for each special word that is trained in one construction."""
        found = []
        for frame, replaced in EXPOSURES:
            one = Weighted((frame,))
            found += distinct(
                lambda one=one, replaced=replaced: self._sentence(one, replaced, nested=0),
                1,
                "sentences with a special word",
                lambda sentence: case_of(sentence) == EXPOSURE and self._fits(sentence),
                self.seen,
            )
        return found

    def of_case(self, case: str, number: int, known: Container[str] | None = None) -> list[Sentence]:
        """Sentences of one generalization case, of known words; those of a recursion are as many of each depth."""
        frames, replaced = PLANS[case]

        def draw(**depths: int) -> list[Sentence]:
            count = depths.pop("count")
            return distinct(
                lambda: self._sentence(frames, replaced, **depths),
                count,
                f"sentences of {case}",
                lambda sentence: (
                    case_of(sentence) == case
                    and (known is None or all(word in known for word in sentence))
                    and self._fits(sentence)
                ),
                self.seen,
            )

        if not case.endswith("recursion"):
            return draw(count=number)
        depths = self.depths
        which = "nested" if case == "cp_recursion" else "attached"
        shares = [number // len(depths) + (place < number % len(depths)) for place in range(len(depths))]
        return [one for depth, share in zip(depths, shares, strict=True) for one in draw(count=share, **{which: depth})]

    def primitives(self) -> list[Sentence]:
        """Words alone."""
        return [(word,) for word in (*self.choices.alone(), *lexicon.ONLY_WORD)]

    def _fits(self, sentence: Sentence) -> bool:
        return self.longest is None or len(logical_form(sentence)) <= self.longest

    # -- one sentence ---------------------------------------------------------------------------------------------
    def _sentence(
        self, frames: Weighted, replaced: Mapping[str, str], nested: int | None = None, attached: int | None = None
    ) -> Sentence:
        chance = self.chance
        if nested is None:
            nested = int(chance.happens(NESTED)) and 1 + chance.happens(NESTED_TWICE)
        subject_attached = "subject" in replaced
        words: list[str] = []
        for _ in range(nested):
            words += self._thing("A", replaced if subject_attached else {}, 1 if subject_attached else 0)
            words += (lexicon.past(chance.one_of(self.choices.speaking)), "that")
        for place, part in enumerate(chance.one_of(frames).split()):
            symbol, _, kind = part.partition(":")
            if symbol in KINDS:
                if place == 0 and subject_attached:
                    deep: int | None = 1
                else:
                    deep = attached if symbol == "T" else 0
                words += self._thing(symbol, replaced, deep)
            elif symbol in ("V", "P"):
                verb = replaced.get(kind) or self._verb(kind)
                words.append(lexicon.past(verb) if symbol == "V" else lexicon.participle(verb))
            elif symbol == "I":
                words.append(replaced.get("I") or chance.one_of(self.choices.infinitives))
            else:
                words.append(part)
        words[0] = words[0].capitalize() if words[0] in ("a", "the") else words[0]
        return (*words, ".")

    def _thing(self, symbol: str, replaced: Mapping[str, str], attached: int | None) -> list[str]:
        """Who or what, with `attached` prepositions behind it; None: as often as in training."""
        chance = self.chance
        kind = chance.one_of(KINDS[symbol])
        while attached and kind == "name":
            kind = chance.one_of(KINDS[symbol])
        word = replaced.get(symbol) or chance.one_of(self.choices.nouns[kind])
        if word in lexicon.ALL_NAMES:
            return [word]
        found = [self._article(), word]
        if attached is None:
            attached = int(chance.happens(ATTACHED)) and 1 + chance.happens(ATTACHED_TWICE)
        for _ in range(attached):
            where = chance.one_of(WHERE)
            found += (where, self._article(), chance.one_of(self.choices.nouns[where]))
        return found

    def _verb(self, kind: str) -> str:
        classes = self.choices.classes[kind]
        return self.chance.one_of(classes[self.chance.below(len(classes))])

    def _article(self) -> str:
        return "the" if self.chance.happens(0.5) else "a"
