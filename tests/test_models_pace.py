"""The pace by itself: places are neither lost nor given out twice, whatever ends a request."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenteval_kit.models.pace import START, Pace

ENDS = st.sampled_from(["answered", "refused", "refused and told", "left", "cancelled"])


@settings(max_examples=60)
@given(
    most=st.integers(1, 40),
    fates=st.lists(st.tuples(ENDS, st.integers(0, 3)), min_size=1, max_size=60),
)
def test_places_are_neither_lost_nor_given_out_twice(
    most: int, fates: list[tuple[str, int]]
) -> None:
    async def run() -> Pace:
        pace = Pace(most)

        async def one(end: str, turns: int) -> None:
            await pace.enter()
            assert pace.in_flight <= most
            try:
                for _ in range(turns):
                    await asyncio.sleep(0)
                if end == "cancelled":
                    raise asyncio.CancelledError
            except asyncio.CancelledError:
                pace.left()
                raise
            if end == "answered":
                pace.answered()
            elif end == "left":
                pace.left()
            else:
                pace.refused(0.001 if end == "refused and told" else None)

        tasks = [asyncio.ensure_future(one(*fate)) for fate in fates]
        await asyncio.sleep(0)
        # Some are cancelled where they wait, wherever that is.
        for task, (end, turns) in zip(tasks, fates, strict=True):
            if end == "cancelled" and turns == 0:
                task.cancel()
        await asyncio.wait(tasks, timeout=30)
        assert all(task.done() for task in tasks)
        return pace

    # Pauses double from a tenth of a second; what is tested here is the counting.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agenteval_kit.models.pace.FIRST_PAUSE", 0.001)
        patch.setattr("agenteval_kit.models.pace.LONGEST_PAUSE", 0.002)
        pace = asyncio.run(run())

    assert pace.in_flight == 0
    assert 1 <= pace.size <= most


def test_it_starts_small_and_climbs_to_the_most_while_nobody_refuses() -> None:
    async def run() -> tuple[int, int]:
        pace = Pace(100)
        tasks = [asyncio.ensure_future(pace.enter()) for _ in range(100)]
        await asyncio.sleep(0)
        at_once = pace.in_flight
        await asyncio.wait(tasks, timeout=10)
        return at_once, pace.in_flight

    assert asyncio.run(run()) == (START, 100)


def test_a_refusal_ends_the_climb_and_leaves_nine_tenths_of_what_was_borne() -> None:
    async def run() -> tuple[float, float]:
        pace = Pace(100)
        for _ in range(START):
            await pace.enter()
        pace.refused(None)
        after = pace.size
        await asyncio.sleep(0.2)
        return after, pace.size

    # Fifteen were borne beside the one that was refused: 0.9 * 15 = 13.5.
    assert asyncio.run(run()) == (13.5, 13.5)


def test_it_grows_by_one_for_a_full_round_of_answers() -> None:
    async def run() -> float:
        pace = Pace(100)
        for _ in range(11):
            await pace.enter()
        pace.refused(None)
        pace.left()
        assert (pace.size, pace.in_flight) == (9.0, 9)
        for _ in range(9):
            pace.answered()
            await pace.enter()
        return pace.size

    # Nine answers at about one ninth each.
    assert 9.9 <= asyncio.run(run()) <= 10.0


def test_a_request_that_comes_again_goes_to_the_front() -> None:
    async def run() -> list[str]:
        pace = Pace(1)
        order: list[str] = []
        await pace.enter()

        async def one(name: str, again: bool) -> None:
            await pace.enter(again=again)
            order.append(name)
            pace.answered()

        tasks = [asyncio.ensure_future(one("new", False))]
        await asyncio.sleep(0)
        tasks.append(asyncio.ensure_future(one("again", True)))
        await asyncio.sleep(0)
        pace.answered()
        await asyncio.wait(tasks, timeout=10)
        return order

    assert asyncio.run(run()) == ["again", "new"]
