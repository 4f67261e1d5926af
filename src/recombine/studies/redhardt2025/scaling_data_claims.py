"""What is claimed of data, of each setting."""

from __future__ import annotations

from functools import partial

from ...lab.scales import SCALES
from ...lab.study_table import RESOLUTION
from ...lab.verdicts import Claim, at_least
from .redhardt_setting import source
from .scaling_data_readings import coverage_rise, rise_with_active, rise_with_modules
from .scaling_data_settings import FIGURES, WORDS


def claims_of(
    setting: str, active_at: tuple[str, ...] = SCALES, false_in: tuple[str, str, str] | None = None
) -> list[Claim]:
    """The claims on one setting.

    active_at: the scales at which K rises far enough to be asked about. false_in: the controls of the claims on
    coverage, M and K, where they are others than those of the MLP and the hyperteacher.
    """
    own, words = ("" if setting == "mlp" else f"-{setting}"), WORDS[setting]
    same_shares, same_modules, same_active = false_in or (
        f"same-shares{own}" if own else "lookup",
        *[f"same-arms{own}"] * 2,
    )
    shared = {"source": source(FIGURES[setting]), "needs": {"setting": [setting]}}
    return [
        Claim(
            f"rises-with-coverage{own}",
            partial(coverage_rise, setting=setting),
            at_least(0.05),
            f"The held-out score{words} rises with coverage, by at least .05 over the shares tried",
            same_shares,
            description="rise of a line through the scores at all shares, from the least to the most, for each M and K",
            supported=f"the score on unseen combinations rises with coverage{words}",
            refuted=f"the score on unseen combinations does not rise with coverage{words}",
            **shared,
        ),
        Claim(
            f"rises-with-modules{own}",
            partial(rise_with_modules, setting=setting),
            at_least(RESOLUTION),
            f"At a fixed share the held-out score{words} rises with M",
            same_modules,
            description="score at the largest M minus at the smallest, mean over K and shares",
            supported=f"a larger M raises it{words}",
            refuted=f"a larger M does not raise it{words}",
            **shared,
        ),
        Claim(
            f"rises-with-active{own}",
            partial(rise_with_active, setting=setting),
            at_least(RESOLUTION),
            f"At a fixed share the held-out score{words} rises with K",
            same_active,
            description="score at the largest K minus at the smallest, mean over M and shares",
            supported=f"a larger K raises it{words}",
            refuted=f"a larger K does not raise it{words}",
            scales=active_at,
            **shared,
        ),
    ]
