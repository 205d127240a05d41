"""Real runs of tau-bench (MIT), shipped under data/recorded: what the statistics say of them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from agenteval_kit.stats.paired import non_inferiority, paired_binary
from agenteval_kit.stats.power import cases_needed, spread_of_differences
from agenteval_kit.stats.repeats import flip_rate, pass_at_k, pass_hat_k, variance_components

RECORDED = Path(__file__).resolve().parent.parent / "data" / "recorded"


def rewards(path: str) -> list[tuple[int, int]]:
    lines = (RECORDED / path).read_text(encoding="utf-8").splitlines()
    return [(row["task_id"], int(row["reward"])) for row in map(json.loads, lines)]


def retail() -> tuple[list[int], list[int]]:
    before = dict(rewards("tau_bench_retail/tool_calling.jsonl"))
    after = dict(rewards("tau_bench_retail/tool_calling_with_preconditions.jsonl"))
    return [before[i] for i in sorted(before)], [after[i] for i in sorted(before)]


def test_retail_variants_show_no_difference_and_say_how_many_tasks_it_takes() -> None:
    before, after = retail()

    change = paired_binary(before, after)
    claim = non_inferiority(
        [b - a for a, b in zip(before, after, strict=True)], 0.05, low=-1, high=1
    )

    # Counted by hand: 44 of 60 pass in both files, 7 broken and 7 fixed.
    assert (change.n, change.both_passed, change.broken, change.fixed) == (60, 37, 7, 7)
    assert change.difference.text() == "0.00 (-0.13 to 0.13)"
    assert (change.p_mcnemar, change.p_exact) == (1.0, 1.0)
    assert claim.answer == "undecided"
    assert claim.n_needed == 587
    spread = spread_of_differences(before, after)
    assert spread == pytest.approx((14 / 59) ** 0.5)
    assert spread is not None
    # (1.96 + 0.8416)^2 x 0.2373 / 0.1^2 = 186.2
    assert cases_needed(spread, 0.10) == 187


@pytest.mark.parametrize(("broken", "answer"), [(9, "fail"), (2, "undecided")])
def test_a_copy_with_tasks_broken_is_called_when_it_is_enough(broken: int, answer: str) -> None:
    before, _ = retail()
    passing = [i for i, passed in enumerate(before) if passed]
    after = [0 if i in passing[:broken] else passed for i, passed in enumerate(before)]

    change = paired_binary(before, after)
    claim = non_inferiority(
        [b - a for a, b in zip(before, after, strict=True)], 0.05, low=-1, high=1
    )

    assert change.broken_at == tuple(passing[:broken])
    assert claim.answer == answer
    assert change.difference.high is not None
    assert (change.difference.high < 0) == (broken == 9)


def test_airline_pass_hat_k_falls_with_k_over_tasks() -> None:
    trials: dict[int, list[int]] = defaultdict(list)
    for task, reward in rewards("tau_bench_airline/gpt-4o.jsonl"):
        trials[task].append(reward)
    passed, tried = [sum(t) for t in trials.values()], [len(t) for t in trials.values()]

    hats = [pass_hat_k(passed, tried, k) for k in (1, 2, 3, 4)]
    at_least_once = pass_at_k(passed, tried, 4)

    # pass^1 and pass^4 by counting: mean of c/4, and the share of tasks with c = 4.
    assert hats[0].value == pytest.approx(sum(passed) / 120)
    assert hats[3].value == pytest.approx(sum(c == 4 for c in passed) / 30)
    assert at_least_once.value == pytest.approx(sum(c > 0 for c in passed) / 30)
    assert all(one.n == 30 for one in hats)
    values = [one.value for one in hats]
    assert values == sorted(values, reverse=True)  # type: ignore[type-var]


def test_airline_repeats_flip_and_the_spread_is_split() -> None:
    runs = rewards("tau_bench_airline/gpt-4o.jsonl")
    tasks, outcomes = [t for t, _ in runs], [r for _, r in runs]

    flips = flip_rate(outcomes, cases=tasks)
    parts = variance_components(outcomes, cases=tasks)

    # For pass and fail two repeats differ with twice the within-case variance.
    assert flips.value is not None
    assert parts.within == pytest.approx(flips.value / 2)
    assert parts.exact_repeat.value == pytest.approx(1 - flips.value)
    assert parts.cases == 30
