"""How often each interval holds the truth, and how often the gate and the trust decision err.

Simulation only; seeded, so that two runs write the same table. `make coverage-study` writes
docs/coverage.md. Cells where a method is known to be off are named before anything runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from agenteval_kit.stats.agreement import agreement
from agenteval_kit.stats.alpha import alpha
from agenteval_kit.stats.corrected import Labels, corrected
from agenteval_kit.stats.estimate import Estimate
from agenteval_kit.stats.mean import anchored_mean
from agenteval_kit.stats.measures import kappa
from agenteval_kit.stats.paired import non_inferiority, paired_scores
from agenteval_kit.stats.pairwise import noise_margin, win_rate, win_rate_clustered
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.stats.score_interval import tango
from agenteval_kit.stats.trust import TrustRule, chance_trusted

# The page lies beside this file, however the study is started.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.coverage_page import page

FLOOR = 0.92
DRAWS = 1_000
LEVELS = (1, 2, 3, 4)
SIZES = (12, 20, 50, 200)
TRIALS = 5
SAME_SCENARIO = 0.5
SUITE = 300
SHAPES = {
    "balanced 15/25/35/25": (0.15, 0.25, 0.35, 0.25),
    "skewed 3/7/25/65": (0.03, 0.07, 0.25, 0.65),
    "very skewed 1/2/7/90": (0.01, 0.02, 0.07, 0.90),
}
OUTCOMES = {
    "win/tie/loss 45/35/20": (0.20, 0.35, 0.45),
    "win/tie/loss 80/15/5": (0.05, 0.15, 0.80),
    "win/tie/loss 15/70/15": (0.15, 0.70, 0.15),
    "win/tie/loss 3/94/3": (0.03, 0.94, 0.03),
}
Rng = np.random.Generator


@dataclass(frozen=True)
class Cell:
    """One simulated situation: its place in the tables, and one replicate of it."""

    table: str
    name: str
    n: int
    run: Callable[[Rng], tuple[float, ...]]
    exempt: str = ""
    replicates: int = 1_000


@dataclass(frozen=True)
class Row:
    """What came out of a cell: the columns of its table."""

    cell: Cell
    values: tuple[float, ...]
    seconds: float
    verdict: str = field(default="")


def scored(rng: Rng, shares: tuple[float, ...], n: int, *, clustered: bool) -> np.ndarray:
    """Level positions from 0; clustered ones have TRIALS a scenario that move together."""
    if not clustered:
        return rng.choice(len(shares), size=n, p=shares)
    from scipy.special import ndtr

    together = np.repeat(rng.standard_normal(n), TRIALS) * np.sqrt(SAME_SCENARIO)
    alone = rng.standard_normal(n * TRIALS) * np.sqrt(1 - SAME_SCENARIO)
    return np.searchsorted(np.cumsum(shares)[:-1], ndtr(together + alone), side="right")


def held(one: Estimate, truth: float) -> tuple[float, float, float, float]:
    """Truth below the interval, truth above it, width, whether there was an interval."""
    if one.low is None or one.high is None:
        return 0.0, 0.0, 0.0, 0.0
    return float(truth < one.low), float(truth > one.high), one.high - one.low, 1.0


def mean_cell(rng: Rng, shares: tuple[float, ...], n: int, clustered: bool) -> tuple[float, ...]:
    x = scored(rng, shares, n, clustered=clustered) + 1
    who = np.repeat(np.arange(n), TRIALS) if clustered else None
    found = anchored_mean(
        x, levels=LEVELS, clusters=who, draws=DRAWS, seed=int(rng.integers(2**31))
    )
    return held(found, float(np.dot(LEVELS, shares)))


def rate_cell(rng: Rng, rate: float, n: int, clustered: bool) -> tuple[float, ...]:
    x = scored(rng, (1 - rate, rate), n, clustered=clustered)
    if not clustered:
        return held(wilson(int(x.sum()), n), rate)
    who, seed = np.repeat(np.arange(n), TRIALS), int(rng.integers(2**31))
    return held(anchored_mean(x, levels=(0, 1), clusters=who, draws=DRAWS, seed=seed), rate)


def win_cell(rng: Rng, shares: tuple[float, ...], n: int, clustered: bool) -> tuple[float, ...]:
    x = scored(rng, shares, n, clustered=clustered)
    truth = shares[2] + shares[1] / 2
    if not clustered:
        losses, ties, wins = np.bincount(x, minlength=3).tolist()
        return held(win_rate(wins, ties, losses), truth)
    who, seed = np.repeat(np.arange(n), TRIALS), int(rng.integers(2**31))
    return held(win_rate_clustered(x / 2, clusters=who, draws=DRAWS, seed=seed), truth)


def confusion(accuracy: float, k: int = 4) -> np.ndarray:
    """Rows the true level: right with `accuracy`, else a neighbour."""
    table = np.eye(k) * accuracy
    for i in range(k):
        beside = [j for j in (i - 1, i + 1) if 0 <= j < k]
        table[i, beside] += (1 - accuracy) / len(beside)
    return table


def rate_by(rng: Rng, truth: np.ndarray, table: np.ndarray) -> np.ndarray:
    """A rater's level for each true level."""
    cut = np.cumsum(table, axis=1)[truth]
    return (rng.random(len(truth))[:, None] > cut[:, :-1]).sum(axis=1)


def agreement_cell(
    rng: Rng, shares: tuple[float, ...], n: int, statistic: str
) -> tuple[float, ...]:
    raters = confusion(0.8)
    joint = raters.T @ np.diag(shares) @ raters
    truth = rng.choice(4, size=n, p=shares)
    one, two = rate_by(rng, truth, raters) + 1, rate_by(rng, truth, raters) + 1
    seed = int(rng.integers(2**31))
    if statistic == "alpha":
        # For two raters with equal margins the interval alpha's limit is quadratic kappa.
        pairs = np.column_stack([one, two])
        found = alpha(pairs, metric="interval", levels=LEVELS, draws=DRAWS, seed=seed)
        return held(found, float(kappa(joint, weighting="quadratic")))
    found = getattr(agreement(one, two, levels=LEVELS, draws=DRAWS, seed=seed), statistic)
    weighting = "quadratic" if statistic == "kappa_quadratic" else "none"
    return held(found, float(kappa(joint, weighting=weighting)))  # type: ignore[arg-type]


def corrected_cell(
    rng: Rng, shares: tuple[float, ...], n: int, design: str, wanted: str
) -> tuple[float, ...]:
    human = rng.choice(4, size=SUITE, p=shares)
    judge = rate_by(rng, human, confusion(0.75))
    chance = np.full(SUITE, n / SUITE)
    picked = rng.permutation(SUITE)[:n]
    if design == "by_judge":
        low = np.flatnonzero(judge <= 1)
        high = np.flatnonzero(judge > 1)
        from_low = min(len(low), n // 2)
        from_high = min(len(high), n - from_low)
        picked = np.concatenate(
            [rng.permutation(low)[:from_low], rng.permutation(high)[:from_high]]
        )
        chance = np.where(judge <= 1, from_low / max(len(low), 1), from_high / max(len(high), 1))
    labels = Labels(
        judge[picked] + 1, human[picked] + 1, design, inclusion=chance[picked]  # type: ignore[arg-type]
    )  # fmt: skip
    found = corrected(
        labels, judge + 1, levels=LEVELS, pass_at=3, draws=DRAWS, seed=int(rng.integers(2**31))
    )
    raters = confusion(0.75)
    truths = {
        "mean": float(np.dot(LEVELS, shares)),
        "pass_rate": shares[2] + shares[3],
        # Rows people, columns judge: quadratic kappa does not mind which is which.
        "kappa_quadratic": float(kappa(np.diag(shares) @ raters, weighting="quadratic")),
    }
    truth = truths[wanted]
    return held(getattr(found, wanted), truth)


def elsewhere_cell(rng: Rng, between: float, n: int) -> tuple[float, ...]:
    """Suite and labels are two draws of n scenarios whose rates vary between them."""
    rate, sensitivity, specificity = 0.75, 0.90, 0.80
    cases = np.repeat(np.arange(n), TRIALS)
    drawn = []
    for _ in range(2):
        good, seen, caught = (
            rng.beta(share / between, (1 - share) / between, size=n)[cases]
            for share in (rate, sensitivity, specificity)
        )
        human = rng.random(n * TRIALS) < good
        judge = np.where(human, rng.random(len(human)) < seen, rng.random(len(human)) >= caught)
        drawn.append((judge.astype(int), human.astype(int)))
    (suite, _), (judge, human) = drawn
    labels = Labels(judge, human, "external", clusters=cases)
    found = corrected(
        labels, suite, levels=(0, 1), pass_at=1, suite_clusters=cases, draws=DRAWS,
        seed=int(rng.integers(2**31)),
    )  # fmt: skip
    return held(found.pass_rate, rate)


# Shares of each difference after - before; "few fall far" is what hides from small samples.
CHANGES: dict[str, tuple[tuple[float, ...], tuple[float, ...], int]] = {
    "pass/fail, 5 % broken": ((-1, 0), (0.05, 0.95), 1),
    "pass/fail, 12 % broken, 7 % fixed": ((-1, 0, 1), (0.12, 0.81, 0.07), 1),
    "pass/fail, 20 % broken, 15 % fixed": ((-1, 0, 1), (0.20, 0.65, 0.15), 1),
    "scores, 28 % move": ((-2, -1, 0, 1, 2), (0.04, 0.14, 0.72, 0.09, 0.01), 3),
    "scores, 10 % fall by 1": ((-1, 0), (0.10, 0.90), 3),
    "scores, 50 % move": ((-2, -1, 0, 1, 2), (0.05, 0.25, 0.50, 0.15, 0.05), 3),
    "few fall far: 3 % fall by 3": ((-3, 0), (0.03, 0.97), 3),
    "few rise far: 3 % rise by 3": ((3, 0), (0.03, 0.97), 3),
    "few fall far: 5 % fall by 2": ((-2, 0), (0.05, 0.95), 3),
    "few fall far among 3 repeats: 3 % by 3": ((-3, -1 / 3, 0, 1 / 3), (0.03, 0.2, 0.57, 0.2), 3),
    "few fall far among 5 repeats: 2 % by 3": ((-3, -0.2, 0, 0.2), (0.02, 0.28, 0.42, 0.28), 3),
    "shares of 5 repeats, 5 % fall to none": ((-1, -0.2, 0, 0.2), (0.05, 0.24, 0.47, 0.24), 1),
    "many rise by 1, 8 % fall by 3": ((-3, 0, 1), (0.08, 0.78, 0.14), 3),
    "many fall by 1, 2 % rise by 3": ((-1, 0, 3), (0.16, 0.82, 0.02), 3),
}


def change_cell(rng: Rng, change: str, n: int) -> tuple[float, ...]:
    steps, shares, _ = CHANGES[change]
    reach = range(1, 2 + CHANGES[change][2])
    # Only the differences matter: both sides are placed so that they fit on the scale.
    d = rng.choice(steps, size=n, p=shares)
    if change.startswith("pass/fail"):
        return held(tango(int((d < 0).sum()), int((d > 0).sum()), n), float(np.dot(steps, shares)))
    before = np.where(d < 0, reach[-1], reach[0])
    found = paired_scores(
        before, before + d, levels=reach, draws=DRAWS, seed=int(rng.integers(2**31))
    )
    return held(found.difference, float(np.dot(steps, shares)))


def claim_cell(rng: Rng, change: str, n: int) -> tuple[float, ...]:
    """Passed and failed when the true drop is the margin; when it is a third of the margin."""
    steps, shares, reach = CHANGES[change]
    margin, seed = -float(np.dot(steps, shares)), int(rng.integers(2**31))
    d = rng.choice(steps, size=n, p=shares)
    answers = [
        non_inferiority(d, m, low=-reach, high=reach, draws=2 * DRAWS, seed=seed).answer
        for m in (margin, 3 * margin)
    ]
    return (
        float(answers[0] == "pass"), float(answers[0] == "fail"),
        float(answers[1] == "pass"), float(answers[1] == "fail"),
    )  # fmt: skip


def alarm_cell(rng: Rng, ties: float, n: int) -> tuple[float, ...]:
    """The win-rate clause: fails at no change, and misses true drops of 10 and 20 points."""
    blocked = []
    for drop in (0.0, 0.10, 0.20):
        decisive = 1 - ties
        loss = decisive / 2 + drop
        x = rng.choice((0.0, 0.5, 1.0), size=n, p=(loss, ties, 1 - ties - loss))
        margin = noise_margin(x, draws=DRAWS, seed=int(rng.integers(2**31))).margin
        blocked.append(float(margin is not None and x.mean() < 0.5 - margin))
    return blocked[0], 1 - blocked[1], 1 - blocked[2]


def trust_cell(rng: Rng, shares: tuple[float, ...], judge: float, n: int) -> tuple[float, ...]:
    found = chance_trusted(
        shares, 0.85, n, judge_accuracy=judge, rule=TrustRule(min_labels=50), replicates=1,
        draws=DRAWS, seed=int(rng.integers(2**31)),
    )  # fmt: skip
    return found["trusted"], found["not trusted"], found["provisional"]


def intervals() -> list[Cell]:
    """Every interval cell, the exempt ones with their reason."""
    cells = []
    for clustered in (False, True):
        tail = f", {TRIALS} trials a scenario" if clustered else ""
        for n in SIZES:
            for shape, shares in SHAPES.items():
                run = partial(mean_cell, shares=shares, n=n, clustered=clustered)
                cells.append(Cell("mean" + tail, shape, n, run))
            for rate in (0.6, 0.8, 0.95):
                run = partial(rate_cell, rate=rate, n=n, clustered=clustered)
                near_end = not clustered and rate == 0.95
                cells.append(
                    Cell("pass rate" + tail, f"rate {rate:g}", n, run,
                         "Wilson near the ends" if near_end else "")
                )  # fmt: skip
            for shape, shares in OUTCOMES.items():
                run = partial(win_cell, shares=shares, n=n, clustered=clustered)
                tied = shares[1] > 0.8 and not clustered
                cells.append(
                    Cell("win rate" + tail, shape, n, run,
                         "over 80 % tie: Tango is too wide" if tied else "")
                )  # fmt: skip
    for n in SIZES:
        for shape, shares in SHAPES.items():
            few = "kappa with fewer than 50" if n < 50 else ""
            for statistic in ("kappa", "kappa_quadratic", "alpha"):
                run = partial(agreement_cell, shares=shares, n=n, statistic=statistic)
                cells.append(Cell(statistic.replace("_", ", "), shape, n, run, few))
        for change in CHANGES:
            cells.append(Cell("paired change", change, n, partial(change_cell, change=change, n=n)))
    for design, sizes in (("uniform", SIZES), ("by_judge", (30, 60, 100, 200))):
        for n in sizes:
            few = "by_judge labels below 60" if design == "by_judge" and n < 60 else ""
            for shape, shares in SHAPES.items():
                for wanted in ("mean", "pass_rate", "kappa_quadratic"):
                    why = few or (
                        "kappa with fewer than 50" if "kappa" in wanted and n < 50 else ""
                    )
                    run = partial(corrected_cell, shares=shares, n=n, design=design, wanted=wanted)
                    name = f"suite {wanted.replace('_', ' ')} corrected, {design} labels"
                    cells.append(Cell(name, shape, n, run, why))
    for n in (30, 60):
        for name, between in (("scenarios unlike", 1.0), ("scenarios more alike", 0.25)):
            cells.append(
                Cell(f"suite pass rate corrected, external labels, {TRIALS} trials a scenario",
                     name, n, partial(elsewhere_cell, between=between, n=n))
            )  # fmt: skip
    return cells


def decisions() -> list[Cell]:
    """The gate's clauses and the trust decision."""
    cells = []
    for n in SIZES:
        for change, (steps, shares, _) in CHANGES.items():
            if np.dot(steps, shares) > 0:
                continue  # a gain has no margin to be at
            cells.append(Cell("claim", change, n, partial(claim_cell, change=change, n=n)))
        for ties in (0.1, 0.35, 0.5):
            run = partial(alarm_cell, ties=ties, n=n)
            cells.append(Cell("alarm", f"{ties:.0%} tie", n, run))
    for shape, shares in SHAPES.items():
        for judge in (0.85, 0.70, 0.55, 0.40):
            for n in (50, 100, 200):
                run = partial(trust_cell, shares=shares, judge=judge, n=n)
                cells.append(Cell("trust", f"{shape}, judge right {judge:.0%}", n, run,
                                  replicates=300))  # fmt: skip
    return cells


def work(cell: Cell) -> Row:
    """Run the replicates of a cell; its seed is its name, so cells do not depend on each other."""
    start = time.perf_counter()
    rng = np.random.default_rng(zlib.crc32(f"{cell.table}|{cell.name}|{cell.n}".encode()))
    found = np.array([cell.run(rng) for _ in range(cell.replicates)])
    return Row(cell, tuple(found.mean(axis=0).tolist()), time.perf_counter() - start)


def judged(row: Row) -> Row:
    """Add the verdict: the floor fails only beyond two Monte Carlo errors."""
    n, v = row.cell.replicates, row.values
    if row.cell.table == "claim":
        ceiling = 0.055 if row.cell.name.startswith("few fall far") else 0.07
        error = np.sqrt(max(v[0] * (1 - v[0]), 1e-4) / n)
        return Row(row.cell, v, row.seconds, "fault" if v[0] - 2 * error > ceiling else "")
    if row.cell.table in ("alarm", "trust"):
        return row
    covered = 1 - (v[0] + v[1]) / v[3] if v[3] else 0.0
    error = np.sqrt(max(covered * (1 - covered), 1e-4) / n)
    bad = covered + 2 * error < FLOOR
    verdict = ("exempt: " + row.cell.exempt) if row.cell.exempt else ("fault" if bad else "")
    return Row(row.cell, v, row.seconds, verdict)


def main() -> int:
    """Run the study and write the page; 1 if a cell that is not exempt misses the floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--out", type=Path, default=root / "docs" / "coverage.md")
    parser.add_argument("--only", default="", help="run the tables whose name begins so")
    asked = parser.parse_args()
    cells = [c for c in [*intervals(), *decisions()] if c.table.startswith(asked.only)]
    exempt = [cell for cell in cells if cell.exempt]
    print(f"{len(cells)} cells, {len(exempt)} of them exempt beforehand:")
    for cell in exempt:
        print(f"  {cell.table}, {cell.name}, n = {cell.n}: {cell.exempt}")
    start = time.perf_counter()
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        rows = [judged(row) for row in pool.map(work, cells, chunksize=1)]
    faults = [row for row in rows if row.verdict == "fault"]
    for row in faults:
        print(f"fault: {row.cell.table}, {row.cell.name}, n = {row.cell.n}: {row.values}")
    text = page(
        rows, exempt, replicates=1_000, draws=DRAWS, floor=FLOOR, trials=TRIALS, suite=SUITE
    )
    asked.out.write_text(text, encoding="utf-8")
    print(f"{len(faults)} faults; {time.perf_counter() - start:.0f} s; wrote {asked.out.name}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
