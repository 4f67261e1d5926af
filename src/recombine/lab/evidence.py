"""Evidence of seeds against a threshold: e-values, those of several cells together, and which of many claims survive.

An e-value has the mean 1, at most, where the truth lies exactly at the threshold, so a large one is rare by chance. The
e-value of one mean is a ratio of likelihoods: effects drawn from a normal law around the threshold, against none. Half
of that law lies on the claim's side and half on the other, so the ratio is a sum of two parts,

    E = E_on + E_off,        E_on = E * P(effect on the claim's side | seeds),

and twice each part is an e-value of its own: 2 E_on against every truth that is not on the claim's side, 2 E_off
against every truth that is not on the other (both rise with t, whose law rises with the effect).

A claim "for every X" is true as long as its worst cell is on its side. Chance decides where that cell lies exactly at
the threshold: all others on the claim's side, or also there. Then 2 E_on of the *worst* cell is an e-value, and so is
the least of 2 E_on over cells; each 2 E_off is one, and so is their mean, however the cells depend on each other. So

    E = min over cells of E_on + mean over cells of E_off

is one, for each number of seeds. It is one rule for support and for refutation, chosen before either; of one cell it is
E itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .boundaries import LEVEL

PRIOR = 16.0  # variance of effects under the alternative of the e-value, in units of that of readings
NONE = (0.5, 0.5)  # of too few seeds

Sides = tuple[float, float]  # the parts of an e-value: effects on the claim's side, and on the other


def e_value(mean: float, spread: float, n: int, theta: float) -> float:
    """Evidence against a true mean of exactly theta (a t-test e-value with a normal prior on the effect).

    Wang & Ramdas 2023 (arXiv 2310.03722); Perez-Ortiz et al. 2022 (arXiv 2208.07610).
    """
    if n < 2:
        return 1.0
    t2, v, grown = n * (mean - theta) ** 2 / spread**2, n - 1, 1 + n * PRIOR
    log_ratio = math.log1p(t2 / v) - math.log1p(t2 / (v * grown))
    return math.exp(min(-0.5 * math.log(grown) + (v + 1) / 2 * log_ratio, 700.0))


def sides_of_mean(mean: float, spread: float, n: int, theta: float, sign: float) -> Sides:
    """The two parts of the e-value of a mean; sign is 1 where the claim is "at least", else -1.

    Given the seeds the mean is Student's t of n degrees of freedom: readings normal, the effect normal with variance
    PRIOR in units of theirs, every order of size of the spread as likely.
    """
    if n < 2:
        return NONE
    from scipy.special import stdtr

    t, v, grown = math.sqrt(n) * (mean - theta) / spread, n - 1, 1 + n * PRIOR
    place = math.sqrt((grown - 1) / grown * n) * t / math.sqrt(v + t**2 / grown)
    whole = e_value(mean, spread, n, theta)
    return whole * float(stdtr(n, sign * place)), whole * float(stdtr(n, -sign * place))


def sides_of_share(k: int, n: int, share: float) -> Sides:
    """Evidence against a share of exactly this: the likelihood of k of n, all shares as likely, over that one."""
    if not n:
        return 1 - share, share
    from scipy.special import betainc, betaincc, betaln, xlog1py, xlogy

    whole = math.exp(min(float(betaln(k + 1, n - k + 1) - xlogy(k, share) - xlog1py(n - k, -share)), 700.0))
    return whole * float(betaincc(k + 1, n - k + 1, share)), whole * float(betainc(k + 1, n - k + 1, share))


def for_every(cells: Sequence[Sides]) -> float:
    """The e-value of a claim by the parts of its cells: one rule, whatever came out."""
    return min(on for on, _ in cells) + sum(off for _, off in cells) / len(cells)


def survivors(e_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of many claims survive e-BH: the share of false ones among them is at most `level` on average.

    Wang & Ramdas 2022: the largest k with E_(k) >= m / (level k), E sorted from the largest.
    """
    m = len(e_values)
    order = sorted(range(m), key=lambda i: -e_values[i])
    kept = 0
    for k, i in enumerate(order, start=1):
        if e_values[i] >= m / (level * k):
            kept = k
    chosen = set(order[:kept])
    return [i in chosen for i in range(m)]
