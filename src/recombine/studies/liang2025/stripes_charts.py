"""What the report says and draws of `stripes`."""

from __future__ import annotations

from ...charts import kinds
from ...charts.words import title
from ...lab.headlines import headline_from
from ...lab.study_table import StudyTable
from ...statistics.intervals import over_seeds
from .stripes_readings import nets_of

WORDS = {
    "mixed": "stripes and bumps mixed",
    "masked": "stripes masked in the hole",
    "absent-mean": "mean code if missing",
    "off-frame": "off-frame code if missing",
    "off-frame-zeros": "the same code, zeros if missing",
    "stripes-then-bumps": "stripes, then bumps",
    "stripes-then-both": "stripes, then both",
    "bumps-then-both": "bumps, then both",
}
SCORES = {"error": "held-out error", "localized": "share of held-out bumps in place"}


def heat(metric: str) -> kinds.Chart:
    def rows(t: StudyTable) -> kinds.Rows:
        found = []
        for net in nets_of(t):
            part = t.where(net=net, variant="mixed").scores("held_out", "", metric)
            for (bumps, stripes), cell in sorted(part.groupby(["bumps", "stripes"]), key=lambda item: item[0]):
                over = over_seeds(list(cell.value.dropna()))
                place = {"net": net, "bumps": int(bumps), "stripes": int(stripes)}
                found.append(place | {"value": over.mean, "low": over.low, "high": over.high, "seeds": over.seeds})
        return found

    name = SCORES[metric]
    return kinds.heat(
        f"{title(name)}, {{split}}",
        f"{title(name)} (mean over seeds) by how many bumps and stripes were trained.",
        rows,
        x="bumps",
        y="stripes",
        x_title="bumps trained",
        y_title="stripes trained",
        value=name,
        fitted=True,
        split="net",
    )


def variant_rows(t: StudyTable) -> kinds.Rows:
    part = t.scores("held_out", "", "localized")
    part = part[(part.stripes == part.stripes.max()) & (part.bumps == part.bumps.max())]
    if part.variant.nunique() < 2:
        return []
    return [
        {"variant": WORDS[row.variant], "series": row.net, "seed": int(row.seed), "value": row.value}
        for row in part.itertuples()
    ]


def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
    sentences = {
        "stripes-cure-cnn-decoder": (
            "with stripes a CNN draws unseen bumps",
            "even with stripes a CNN does not draw unseen bumps",
        ),
        "stripes-cure-mlp": (
            "with stripes an MLP draws unseen bumps",
            "even with stripes an MLP does not draw unseen bumps",
        ),
        "stripes-lower-the-error-of-mlp": ("they halve the MLP's error", "they do not halve the MLP's error"),
        "stripes-teach-where": (
            "stripes teach every net where a bump goes",
            "stripes do not teach every net where a bump goes",
        ),
        "ink-is-needed": ("it takes their ink in the hole", "it does not take their ink in the hole"),
    }
    return headline_from(sentences, outcomes, "What stripes teach is not settled at this scale.")


variants = kinds.dots(
    "Other ways to show stripes",
    "Share of held-out bumps in place, with all stripes and bumps; one point per seed.",
    variant_rows,
    y="variant",
    value="share in place",
    order=list(WORDS.values()),
)
