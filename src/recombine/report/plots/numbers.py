"""Numbers as an axis writes them, by the formats of d3 that our charts use."""

from __future__ import annotations

import re

from ...errors import UserError

MINUS = "−"


def written(value: float, form: str) -> str:
    """The number in the format, such as .2f, d, .0%, .3~p, .2~g or ~e."""
    found = re.fullmatch(r"(?:\.(?P<digits>\d+))?(?P<trim>~?)(?P<kind>[dfgep%]?)", form)
    if found is None:
        raise UserError(f"figures cannot write numbers as {form!r}; they can as .2f, d, .0%, .3~p, .2~g or ~e")
    digits, kind = found["digits"], found["kind"] or "g"
    if kind == "p":  # digits that count, of a percentage
        return written(100 * value, form.replace("p", "g")) + "%"
    places = f".{digits}" if digits else {"f": ".6", "%": ".6", "g": ".6"}.get(kind, "")
    text = f"{value:.0f}" if kind == "d" else f"{value:{places}{kind}}"
    if kind == "%" and not digits and not found["trim"]:
        text = f"{value:.0%}"
    if found["trim"] or kind == "g":
        text = re.sub(r"(\.\d*?)0+(?=\D*$|e)", r"\1", text)
        text = re.sub(r"\.(?=\D*$|e)", "", text)
    text = re.sub(r"e([+-])0*(\d+)", lambda e: f"e{e[1] if e[1] == '-' else '+'}{e[2]}", text)
    return text.replace("-", MINUS)
