"""The 21 generalization cases of COGS by name, and of which of them a sentence is, told by its words alone.

A word is trained in one construction only and asked about in another ("hedgehog" is a subject in training), or a
structure is deeper than any trained one. The names are those of the released files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import cogs_words as lexicon

Words = Sequence[str]
ORDINARY, PRIMITIVE, EXPOSURE = "in_distribution", "primitive", "exposure"
LEXICAL = (
    "subj_to_obj_common",
    "subj_to_obj_proper",
    "obj_to_subj_common",
    "obj_to_subj_proper",
    "prim_to_subj_common",
    "prim_to_subj_proper",
    "prim_to_obj_common",
    "prim_to_obj_proper",
    "prim_to_inf_arg",
    "active_to_passive",
    "passive_to_active",
    "obj_omitted_transitive_to_transitive",
    "unacc_to_transitive",
    "do_dative_to_pp_dative",
    "pp_dative_to_do_dative",
    "only_seen_as_transitive_subj_as_unacc_subj",
    "only_seen_as_unacc_subj_as_obj_omitted_transitive_subj",
    "only_seen_as_unacc_subj_as_unerg_subj",
)
STRUCTURAL = ("obj_pp_to_subj_pp", "cp_recursion", "pp_recursion")
CASES = (*LEXICAL, *STRUCTURAL)
DEEPEST = 2  # nested clauses, and chained prepositions, in training

_THEMATIC = frozenset(lexicon.past(base) for base in lexicon.THEMATIC)
_SLEEPING = frozenset(map(lexicon.past, lexicon.UNERGATIVE))
_PREPOSITIONS = frozenset(lexicon.PREPOSITIONS)
_NAMES = frozenset(lexicon.ALL_NAMES)
_ARTICLES = frozenset(("A", "The", "a", "the"))
#: a name or a noun that is trained as a word alone, as a subject, or as an object, and where it is asked about
_MOVED = {
    word: (trained, kind)
    for trained, pair in (
        ("subj", lexicon.ONLY_SUBJECT),
        ("obj", lexicon.ONLY_OBJECT),
        ("prim", lexicon.ONLY_WORD),
    )
    for word, kind in zip(pair, ("common", "proper"), strict=True)
}


def case_of(words: Words) -> str:
    """The generalization case of a sentence, or "in_distribution", "primitive", "exposure": those are trained on.

    Args:
        words: of the sentence, as it is written.

    Example:
        >>> from recombine.supports.cogs_cases import case_of
        >>> case_of("A hedgehog slept .".split()), case_of("Emma saw the hedgehog .".split())
        ('exposure', 'subj_to_obj_common')
    """
    if len(words) == 1:
        return PRIMITIVE
    for place, word in enumerate(words):
        if word in _BY_WORD:
            return _BY_WORD[word](words, place)
    return _structure(words)


def _structure(words: Words) -> str:
    longest = run = 0
    for place, word in enumerate(words):
        if word in _PREPOSITIONS:
            run += 1
            longest = max(longest, run)
            if _is_subject(words, place - 1):
                return "obj_pp_to_subj_pp"
        elif word not in _ARTICLES and words[place - 1] not in _ARTICLES:
            run = 0
    nested = words.count("that")
    if max(longest, nested) <= DEEPEST:
        return ORDINARY
    return "pp_recursion" if longest > nested else "cp_recursion"  # a few are both


def _is_subject(words: Words, place: int) -> bool:
    """Whether the noun or name there is the head of a subject: a sentence, or "that", begins before it."""
    start = place if words[place] in _NAMES else place - 1
    return start == 0 or words[start - 1] == "that"


def _verb_after(words: Words, place: int) -> int:
    """Where the verb of a subject stands: behind what is attached to it."""
    at = place + 1
    while words[at] in _PREPOSITIONS:
        at += 3
    return at + (words[at] == "was")


def _moved(words: Words, place: int) -> str:
    trained, kind = _MOVED[words[place]]
    now = "subj" if _is_subject(words, place) else "obj"
    return EXPOSURE if now == trained else f"{trained}_to_{now}_{kind}"


def _agent_only(words: Words, place: int) -> str:
    intransitive = _no_object(words, verb := _verb_after(words, place)) and words[verb] in _THEMATIC
    return "only_seen_as_transitive_subj_as_unacc_subj" if intransitive else EXPOSURE


def _theme_only(words: Words, place: int) -> str:
    verb = words[_verb_after(words, place)]
    if verb in _THEMATIC:
        return EXPOSURE
    kind = "unerg" if verb in _SLEEPING else "obj_omitted_transitive"
    return f"only_seen_as_unacc_subj_as_{kind}_subj"


def _no_object(words: Words, verb: int) -> bool:
    return words[verb + 1] == "."


def _verb_case(exposed: Callable[[Words, int], bool], case: str) -> Callable[[Words, int], str]:
    return lambda words, place: EXPOSURE if exposed(words, place) else case


def _passive(words: Words, verb: int) -> bool:
    return words[verb - 1] == "was"


_BY_WORD: dict[str, Callable[[Words, int], str]] = {
    **dict.fromkeys(_MOVED, _moved),
    lexicon.ONLY_AGENT: _agent_only,
    lexicon.ONLY_THEME: _theme_only,
    lexicon.ONLY_INFINITIVE: lambda words, place: "prim_to_inf_arg",
    "blessed": _verb_case(lambda words, verb: not _passive(words, verb), "active_to_passive"),
    "squeezed": _verb_case(_passive, "passive_to_active"),
    "baked": _verb_case(_no_object, "obj_omitted_transitive_to_transitive"),
    "shattered": _verb_case(_no_object, "unacc_to_transitive"),
    "teleported": _verb_case(lambda words, verb: "to" not in words[verb:], "do_dative_to_pp_dative"),
    "shipped": _verb_case(lambda words, verb: "to" in words[verb:], "pp_dative_to_do_dative"),
}
