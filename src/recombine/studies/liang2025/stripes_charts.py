"""What the report says and draws of `stripes`."""

from __future__ import annotations

import numpy as np

from ...charts import kinds
from ...charts.vega import title
from ...intervals import over_seeds
from ...lab.headlines import headline_from
from ...lab.study_table import StudyTable
from .stripes_readings import error_ratio, nets_of

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
    by_net = ""
    if outcomes.get("stripes-lower-the-error") in ("supported", "refuted"):  # one mean hides that nets differ
        by_net = "; ".join(
            f"{net}: {np.mean([error_ratio(part, net) for _, part in t.seeds()]):.2g} times" for net in nets_of(t)
        )
    sentences = {
        "stripes-cure": (
            "with stripes the best plain decoder draws unseen bumps",
            "even with stripes no plain decoder draws unseen bumps",
        ),
        "stripes-lower-the-error": (
            f"over nets stripes halve the error of pixels ({by_net})",
            f"over nets stripes do not halve the error of pixels ({by_net})",
        ),
        "stripes-teach-where": ("they teach where a bump goes", "they do not teach where a bump goes"),
        "ink-is-needed": ("they do so by their ink in the hole", "they do so without ink in the hole, too"),
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
