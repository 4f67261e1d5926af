"""Settings by name: `--set steps=500`, `--set net.width=64`, `--set depth=2,4`.

A setting is an axis of the study, a path into its trial, a path into one arm ("mlp:net.width"), or the last name of a
path where only one path ends with it.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import UserError, unknown
from ..files.foreign_json import parsed_json
from ..labels import quoted, visible

#: parts whose fields may be set although the study does not mention them; what they do not have, they refuse
OPEN = ("world", "support", "net", "recipe", "options")
RESERVED = ("scale", "control")
#: what no study can be run beyond: a layer more is traced for some milliseconds, an element takes memory in every map
MOST = {"depth": 500, "layers": 500, "blocks": 500, "heads": 1_000, "modules": 100_000, "at_most": 1_000}
MOST |= dict.fromkeys(("width", "hidden", "inputs", "outputs", "features", "size", "length"), 1_000_000)
LARGEST = 10**9
#: settings in words, by the last name of their path
WORDS = {
    "steps": "training steps",
    "tasks": "combinations per step",
    "samples": "inputs per combination",
    "examples": "of each combination that are stored; none: every step has new ones",
    "learning_rate": "peak learning rate",
    "schedule": "constant, cosine or linear",
    "warmup": "share of steps with a rising rate",
    "weight_decay": "on matrices only",
    "norm": "to which gradients are clipped",
    "b1": "momentum of Adam",
    "b2": "second-moment decay of Adam",
    "nesterov": "look-ahead momentum",
    "precision": "auto, float32 or bfloat16",
    "evaluations": "times the scores are taken on the way",
    "modules": "M, elements that can be combined",
    "at_most": "K, most of them active at once",
    "held_out": "share of the combinations that is held out",
    "within": "share held out within blocks",
    "encoding": "how a combination is shown",
    "width": "hidden units per layer",
    "depth": "hidden layers",
    "size": "levels along a factor",
    "features": "features that objects can have",
    "objects": "objects on the map",
    "length": "steps of an episode",
    "heads": "heads of attention",
    "threshold": "score that is asked for",
    "support": "how training combinations are chosen",
    "net": "which network",
    "variant": "what is changed",
    "recipe": "how it is trained",
    "family": "which kind of world",
    "model": "which planted model",
    "method": "how combinations are chosen",
    "inputs": "numbers that the teacher gets",
    "hidden": "hidden units of the teacher",
    "outputs": "numbers that the teacher gives",
    "stripes": "stripes that are trained",
    "bumps": "bumps that are trained",
    "sigma": "of the bumps, in pixels",
    "penalty": "weight of the penalty",
    "target": "what is drawn",
}


def words_for(name: str) -> str:
    """What a setting means, in a few words; nothing where there are none."""
    path = name.rpartition(":")[2]
    last = path.rpartition(".")[2]
    if last == "name":
        return WORDS.get(path.split(".")[-2], "which one, by name") if "." in path else "which one, by name"
    return WORDS.get(last, "")


def key_of(name: str, known: Iterable[str]) -> str:
    """The full name of a setting; an unknown or ambiguous one is refused with the names that would do."""
    known = list(known)
    if name in known:
        return name
    if f"{name}.name" in known:  # world=lookup-v1
        return f"{name}.name"
    ends = [key for key in known if key.endswith((f".{name}", f":{name}"))]
    plain = [key for key in ends if ":" not in key]
    if not plain and any(key.startswith("recipe.") for key in known) and default_of(f"recipe.{name}") is not None:
        return f"recipe.{name}"  # of all cells, and not of the one arm that happens to mention it
    plain = plain or ends
    if len(plain) == 1:
        return plain[0]
    if plain:
        raise UserError(f"{name!r} is ambiguous; it could be {' or '.join(map(repr, plain))}")
    part, dot, _ = name.partition(".")
    if dot and any(key.startswith(f"{part}.") for key in known if part in OPEN):
        return name
    last = [key.rpartition(".")[2] for key in known if ":" not in key]
    raise unknown("setting", name, {*known, *last} - {"name"})


def require_option(path: str, tree: Mapping[str, Any]) -> None:
    """Refuses an option that the study does not have. Other parts refuse what they cannot take; its `measure` reads
    options by name, and would go on as before."""
    part, _, rest = path.partition(".")
    if part == "options" and rest.partition(".")[0] not in tree[part]:
        raise unknown("setting", path, [f"options.{name}" for name in tree[part]])


def default_of(key: str) -> Any:
    """The default of a field of a recipe, which may be set although a study does not mention it; else None."""
    part, _, name = key.partition(".")
    if part != "recipe":
        return None
    from ..training import Recipe

    return getattr(Recipe(), name, None)


def parsed(name: str, text: Any, usual: Any = None) -> Any:
    """A value given on the command line, in the type of the usual one; what is no text stays as it is."""
    try:
        value = _like(text, usual) if isinstance(text, str) else _checked(text, usual)
    except (ValueError, KeyError):
        example = ",".join(map(str, usual)) if isinstance(usual, (list, tuple)) else usual
        shown = f"{visible(name, 80)}={quoted(text, 80)}"
        raise UserError(f"{shown} is not {_kind(usual)}; an example is {visible(name, 80)}={example}") from None
    require_modest(name, value)
    return value


def _checked(value: Any, usual: Any) -> Any:
    """A value that is no text, from Python or from a store: of the type of the usual one, or a ValueError."""
    if isinstance(usual, (list, tuple)):
        fits = isinstance(value, (list, tuple))
    elif isinstance(usual, bool) or isinstance(value, bool):
        fits = isinstance(value, bool) and (usual is None or isinstance(usual, bool))
    elif isinstance(usual, int):
        fits = isinstance(value, numbers.Integral)
    elif isinstance(usual, float):
        fits = isinstance(value, numbers.Real)
    elif isinstance(usual, str):
        fits = False
    else:
        fits = True
    if not fits and value is not None:
        raise ValueError("of another type")
    return value


def require_modest(name: str, value: Any) -> None:
    """Refuses numbers that are none, and sizes by which a study would be prepared for hours or fill the memory."""
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(one, bool) or not isinstance(one, numbers.Real):
            continue
        last = name.rpartition(":")[2].rpartition(".")[2]
        most = MOST.get(last, LARGEST)
        number = int(one) if isinstance(one, numbers.Integral) else float(one)  # a float holds no large int
        if not -most <= number <= most:
            raise UserError(f"{visible(name, 80)}={quoted(one, 40)} is too large to run; at most {most:,} would do")


def _like(text: str, usual: Any) -> Any:
    if isinstance(usual, bool):
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
    if isinstance(usual, int):
        return int(text)
    if isinstance(usual, float):
        return float(text)
    if isinstance(usual, str):
        return text
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(usual, (list, tuple)):
        kinds = {type(item) for item in usual}
        kind = float if kinds == {int, float} else next(iter(kinds)) if len(kinds) == 1 else None
        return [_like(part, kind()) if kind in (int, float, str, bool) else _guessed(part) for part in parts]
    return _guessed(text) if len(parts) < 2 else [_guessed(part) for part in parts]


def _guessed(text: str) -> Any:
    """A number, true, false, null, or else a word."""
    try:
        found = parsed_json(text, once=False, nan=True)
    except ValueError:
        return text
    return text if isinstance(found, (dict, list)) else found


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)) and value:
        return f"a list of {_kind(value[0]).removeprefix('a ')}s"
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(type(value), "a word")


def differing(settings: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that are not the usual ones."""
    return {name: value for name, value in settings.items() if name not in usual or usual[name] != value}
