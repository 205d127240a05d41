"""A judge's pass rate corrected by how often it errs on known fails and known passes.

It may not be used on labels drawn by the judge's verdict: there it covers 0 to 34 %.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats, anchored_draws, check_draws, gamma_blocks, merge
from agenteval_kit.stats.arguments import finite, whole
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.proportion import normal_quantile

INFORMATIVE = 1.1


def rogan_gladen(
    judge_passed: float,
    judge_n: int,
    *,
    true_passes: float,
    false_fails: float,
    true_fails: float,
    false_passes: float,
    label_scenarios: Floats | None = None,
    suite_scenarios: Floats | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The true pass rate behind a judge's pass rate, with Jeffreys Monte Carlo.

    For labels whose classes were fixed by what people said, or that come from another set. All
    three noises are drawn: the suite's rate and both error rates.

    Parameters
    ----------
    judge_passed, judge_n
        What the judge passed over the whole suite.
    true_passes, false_fails
        Labels that people passed: judged pass, judged fail.
    true_fails, false_passes
        Labels that people failed: judged fail, judged pass.
    label_scenarios
        The four numbers in that order, a row a scenario, adding up to them: scenarios are drawn,
        since their repeats are not independent.
    suite_scenarios
        The judge's pass rate of each scenario of the suite: each then has the same say.
    level, draws, seed
        Nominal level, number of draws, seed.

    Returns
    -------
    Estimate
        In [0, 1]; n counts labels. Undefined without a suite, without labels of a class, or where
        the judge is not informative (sensitivity + specificity of 1.1 or less, or its lower bound
        of 1 or less), with one scenario, or where labels and suite contradict each other: value and
        interval both lie outside [0, 1]. A value outside alone is set to the end of the scale and
        the interval with it; `diag` says so.

    Raises
    ------
    ConfigError
        If a count is negative or more passed than were judged.

    References
    ----------
    Rogan and Gladen (1978), doi:10.1093/oxfordjournals.aje.a112510. Points checked against judgy
    and the reference code of Lee et al. (2025); the interval by simulation: with five repeats a
    scenario it covers 0.95 to 0.97 by scenario, and 0.70 to 0.87 where they count as independent;
    at true rates of 0 to 0.1 and 0.9 to 1, 30 or 50 labels a class, 0.94 to 1.00 where given (0.96
    of the time and more).
    """
    normal_quantile(level)
    true_passes, false_fails = float(true_passes), float(false_fails)
    true_fails, false_passes = float(true_fails), float(false_passes)
    cells = (true_passes, false_fails, true_fails, false_passes)
    judge_passed, judge_n = float(judge_passed), whole("rogan_gladen: judge_n", judge_n)
    check_draws(draws)
    if not all(0 <= cell < math.inf for cell in cells) or not 0 <= judge_passed <= judge_n:
        raise ConfigError(
            f"rogan_gladen: counts of 0 or more, got labels {cells} and {judge_passed:g} of "
            f"{judge_n} passed."
        )
    n = round(sum(cells))
    method = "Rogan-Gladen, Jeffreys Monte Carlo"
    lacking = _lacking(judge_n, true_passes + false_fails, true_fails + false_passes)
    if lacking:
        return Estimate.undefined(lacking, n=n, level=level, method=method)
    if any(one is not None and len(one) == 1 for one in (label_scenarios, suite_scenarios)):
        return Estimate.undefined("one scenario only", n=n, level=level, method=method)
    rate = judge_passed / judge_n if suite_scenarios is None else float(suite_scenarios.mean())
    sensitivity = true_passes / (true_passes + false_fails)
    specificity = true_fails / (true_fails + false_passes)
    rng = np.random.default_rng(seed)
    p = rng.beta(judge_passed + 0.5, judge_n - judge_passed + 0.5, size=draws)
    tpr = rng.beta(true_passes + 0.5, false_fails + 0.5, size=draws)
    tnr = rng.beta(true_fails + 0.5, false_passes + 0.5, size=draws)
    if suite_scenarios is not None:
        ends = np.array([0.0, 1.0])
        p = anchored_draws(merge(suite_scenarios), levels=ends, draws=draws, seed=seed + 1)
    if label_scenarios is not None:
        tpr, tnr = _rates_by_scenario(rng, label_scenarios, draws)
        method += ", by scenario"
    room = tpr + tnr - 1
    tail = (1 - level) / 2
    if sensitivity + specificity <= INFORMATIVE or np.quantile(room, tail) <= 0:
        return Estimate.undefined(
            "judge not informative: it passes bad and good about alike; use the people's labels",
            n=n,
            level=level,
            method=method,
        )
    plain = (rate + specificity - 1) / (sensitivity + specificity - 1)
    usable = room > 0
    theta = (p + tnr - 1) / np.where(usable, room, 1.0)
    # A draw of a judge that tells nothing allows any rate: it widens both ends, never dropped.
    low = float(np.quantile(np.where(usable, theta, min(0.0, theta.min())), tail))
    high = float(np.quantile(np.where(usable, theta, max(1.0, theta.max())), 1 - tail))
    # A judge without an error among its labels is drawn with some, and all draws may then lie past
    # the end: the suite's own noise still allows its share of cases.
    own = (p + specificity - 1) / (sensitivity + specificity - 1)
    low = min(low, float(np.quantile(own, tail)))
    high = max(high, float(np.quantile(own, 1 - tail)))
    found = _on_scale(plain, low, high, Estimate(None, None, None, n, level, method, seed, "", "-"))
    unusable = int((~usable).sum())
    return found.noted(f"{unusable:,} of {draws:,} draws uninformative" if unusable else "")


def lee_interval(
    judge_rate: float,
    judge_n: int,
    *,
    sensitivity: float,
    specificity: float,
    passes: int,
    fails: int,
    level: float = 0.95,
) -> Estimate:
    """The same with the closed interval of Lee et al.: a conservative cross-check.

    On uniform labels it is 1.9 to 2.5 times wider than post-stratification.

    Parameters
    ----------
    judge_rate, judge_n
        The judge's pass rate over the suite, and its size.
    sensitivity, specificity
        Shares judged right among labels that people passed, and failed.
    passes, fails
        Numbers of those labels.
    level
        Nominal level.

    Returns
    -------
    Estimate
        In [0, 1]. Undefined as in `rogan_gladen`.

    Raises
    ------
    ConfigError
        If a rate lies outside [0, 1], or a number is negative or not whole.

    References
    ----------
    Lee et al. (2025), arXiv:2511.21140; Lang and Reiczigel (2014),
    doi:10.1016/j.prevetmed.2013.09.015. Checked against the authors' reference code.
    """
    z = normal_quantile(level)
    judge_n, passes, fails = (
        whole(f"lee_interval: {name}", value)
        for name, value in (("judge_n", judge_n), ("passes", passes), ("fails", fails))
    )
    judge_rate, sensitivity, specificity = (
        finite(f"lee_interval: {name}", value, low=0, high=1)
        for name, value in (
            ("judge_rate", judge_rate), ("sensitivity", sensitivity), ("specificity", specificity)
        )
    )  # fmt: skip
    n = passes + fails
    method = "Rogan-Gladen, Lee et al."
    lacking = _lacking(judge_n, passes, fails)
    if lacking:
        return Estimate.undefined(lacking, n=n, level=level, method=method)
    # Pseudo-observations: z^2 / 2 of each kind in the suite, one of each kind in both classes.
    p = (judge_n * judge_rate + z * z / 2) / (judge_n + z * z)
    q0, q1 = (fails * specificity + 1) / (fails + 2), (passes * sensitivity + 1) / (passes + 2)
    room = q0 + q1 - 1
    if sensitivity + specificity <= INFORMATIVE or room <= 0:
        return Estimate.undefined("judge not informative", n=n, level=level, method=method)
    theta = (p + q0 - 1) / room
    v0, v1 = q0 * (1 - q0) / (fails + 2), q1 * (1 - q1) / (passes + 2)
    shift = 2 * z * z * (theta * v1 - (1 - theta) * v0)
    spread = p * (1 - p) / (judge_n + z * z) + (1 - theta) ** 2 * v0 + theta**2 * v1
    half = z * math.sqrt(spread) / room
    plain = (judge_rate + specificity - 1) / (sensitivity + specificity - 1)
    low, high = theta + shift - half, theta + shift + half
    return _on_scale(plain, low, high, Estimate(None, None, None, n, level, method, reason="-"))


def _rates_by_scenario(
    rng: np.random.Generator, cells: Floats, draws: int
) -> tuple[Floats, Floats]:
    # Jeffreys' half counts weigh as much as an average scenario that has labels of the class.
    alike, count = np.unique(cells, axis=0, return_counts=True)
    half = np.empty(4)
    for own in (slice(0, 2), slice(2, 4)):
        held = cells[:, own].sum(axis=1)
        half[own] = held.sum() / (held > 0).sum()
    drawn = np.empty((draws, 4))
    for rows, gammas in gamma_blocks(rng, count.astype(float), draws=draws):
        drawn[rows] = gammas @ alike + half * rng.standard_gamma(0.5, size=(len(gammas), 4))
    return drawn[:, 0] / drawn[:, :2].sum(axis=1), drawn[:, 2] / drawn[:, 2:].sum(axis=1)


def _lacking(judge_n: int, passes: float, fails: float) -> str:
    if judge_n == 0:
        return "no scored transcripts"
    if fails == 0:
        return "no labels that people failed"
    if passes == 0:
        return "no labels that people passed"
    return ""


def _on_scale(plain: float, low: float, high: float, of: Estimate) -> Estimate:
    # Cutting a value and an interval past the end to that end would leave an interval of no width,
    # surest where labels and suite fit least. So the interval moves with the value; where both lie
    # outside there is nothing to move.
    value = _clip(plain)
    if value != plain and (low > 1 or high < 0):
        return replace(
            of,
            seed=None,
            reason="labels and suite contradict each other: by its errors on the labels the judge "
            f"passes {'more' if plain > 1 else 'less'} of the suite than any true rate explains",
        )
    low, high = (_clip(min(low, low + value - plain)), _clip(max(high, high + value - plain)))
    found = replace(of, value=value, low=min(low, value), high=max(high, value), reason="")
    return found.noted(
        f"corrected to {plain:.1%}: set to {value:.0%}, and the interval with it"
        if value != plain
        else ""
    )


def _clip(x: float) -> float:
    return min(1.0, max(0.0, x))
