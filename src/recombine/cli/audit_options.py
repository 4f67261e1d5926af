"""Options of `recombine audit`, by what they are about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro


@dataclass(frozen=True)
class AnswerOptions:
    """What was right, and what else is known of the answers.

    Args:
        outcome: column that says whether the model was right, as 1 or 0, true or false, or a score between them; or an
            expression such as "abs_error < 2": = != < <= > >= & | ! ( ) + - * / abs() min() max(), and in {'a', 'b'}
        label: column that says what is right; with --prediction, in the place of --outcome
        prediction: column of the answers: right where it says what the label says
        factor_outcomes: outcomes of single factors, as color=color_right "shape=shape_error < 2"
        weight: column that says how many rows a row counts as
        confidence: column that says how sure the model was, from 0 to 1
        members: columns with the predictions of several seeds or checkpoints of the model
        activations: .npy, .npz or .safetensors files with a layer's vector for each row
        id: column that names rows: that of the "ids" of activation files (default: rows in the same order), of the
            examples of findings, and of rows that --before has, too
    """

    outcome: str | None = None
    label: str | None = None
    prediction: str | None = None
    factor_outcomes: tuple[str, ...] = ()
    weight: str | None = None
    confidence: str | None = None
    members: tuple[str, ...] = ()
    activations: tuple[Path, ...] = ()
    id: str | None = None

    def options(self) -> dict[str, Any]:
        """As the function of Python takes them."""
        return {
            "outcome": self.outcome,
            "label": self.label,
            "prediction": self.prediction,
            "factor_outcomes": self.factor_outcomes or None,
            "weight": self.weight,
            "confidence": self.confidence,
            "members": self.members,
            "activations": self.activations or None,
            "id": self.id,
        }


@dataclass(frozen=True)
class RiskOptions:
    """How risk is said, and what is compared.

    Args:
        prior: orders unseen combinations where there are too few outcomes, without a probability: a file made by
            `recombine risk fit`, or the word shipped
        tolerance: by how much a combination may fail more often than seen ones and is still said to hold
        most: the riskiest unseen combinations to list
        forbid: what cannot be had, such as "weather=snow & time=noon"; also | ! ( ) != < <= > >= and in {a, b}
        before: an earlier table, of other data or of another version of the model: says which findings are cured,
            which remain and which are new; with --id rows that both have are compared one by one
        fail_if: conditions such as "accuracy(weather=snow) < .9": the command exits with 1 where the whole 90 %
            interval is on that side; accuracy() is that of all answers
    """

    prior: Path | None = None
    tolerance: float = 0.05
    most: int = 100_000
    forbid: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    fail_if: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """As the function of Python takes them."""
        return {
            "prior": True if self.prior == Path("shipped") else self.prior,
            "tolerance": self.tolerance,
            "most": self.most,
            "forbid": self.forbid,
            "before": list(self.before) or None,
            "fail_if": self.fail_if,
        }


@dataclass(frozen=True)
class OutputOptions:
    """What is written, and where.

    Args:
        out: folder for the page, the JSON and the table of combinations (default: runs/audit-DATA)
        format: html is the page; md a text for a wiki or a pull request; pdf the page on paper (needs Chromium)
        open: show the page in a browser
        force: replace files there that recombine did not write, or that were changed since
    """

    out: Path | None = None
    format: tuple[Literal["html", "md", "pdf"], ...] = ("html",)
    open: bool = False
    force: bool = False

    @property
    def formats(self) -> tuple[str, ...]:
        """Each format once; what is opened is written, too."""
        return tuple(dict.fromkeys((*self.format, "html") if self.open else self.format))


Answers = Annotated[AnswerOptions, tyro.conf.arg(name="")]
Risk = Annotated[RiskOptions, tyro.conf.arg(name="")]
Output = Annotated[OutputOptions, tyro.conf.arg(name="")]
NO_ANSWERS, PLAIN_RISK, PAGE_ONLY = AnswerOptions(), RiskOptions(), OutputOptions()
