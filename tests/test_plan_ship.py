"""How often a bar lets a release through, if nothing changed and if something dropped."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from builders import Rows, make_run, passes
from hypothesis import given, settings
from hypothesis import strategies as st
from verdicts import judge, spread, trusted

from agenteval_kit.errors import ConfigError
from agenteval_kit.gate import decide
from agenteval_kit.plan import (
    assumed_behaviour,
    chance_to_ship,
    observed_behaviour,
    observed_judging,
)
from agenteval_kit.plan.judged import JudgedDraws
from agenteval_kit.plan.replay import Replay, summary_of
from agenteval_kit.plan.urn import Urn, concentration
from agenteval_kit.records import Bar
from agenteval_kit.runs import Run
from agenteval_kit.stats.power import chance_no_worse
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.summary import summarise


def bar_of(**clauses: object) -> Bar:
    return Bar.model_validate(clauses)


@pytest.fixture(scope="module")
def retail(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The recorded A/B of two retail agents on the same 60 tasks."""
    folder = tmp_path_factory.mktemp("retail")
    made = []
    for agent in ("retail_tool_calling", "retail_with_preconditions"):
        suite = load_suite(
            root / "data/suites/retail.yaml", agent=root / f"data/agents/{agent}.yaml"
        )
        made.append(run_suite(suite, root=folder, out=folder / agent).run)
    return made[0], made[1]


def test_twenty_critical_cases_three_times_pass_all_with_chance_055() -> None:
    agent = assumed_behaviour({"outcome": 0.99}, cases=20, critical=20)

    found = chance_to_ship(agent, bar_of(critical="all"), repeats=3, replicates=4000)

    # statistics.md 4b: 0.99^60 = 0.547
    assert found.ship.low is not None and found.ship.high is not None
    assert found.ship.low <= 0.99**60 <= found.ship.high
    assert found.ship.high - found.ship.low < 0.04
    assert [one.name for one in found.clauses] == ["critical all", "max_unscored"]


def test_a_pass_rate_is_a_binomial() -> None:
    agent = assumed_behaviour({"outcome": 0.9}, cases=40)

    found = chance_to_ship(agent, bar_of(pass_rate={"outcome": 0.9}), replicates=2000)

    # P(X >= 36), X ~ Bin(40, 0.9)
    exact = math.fsum(math.comb(40, k) * 0.9**k * 0.1 ** (40 - k) for k in range(36, 41))
    assert found.ship.low is not None and found.ship.high is not None
    assert found.ship.low <= exact <= found.ship.high
    assert found.hold.value == pytest.approx(1 - (found.ship.value or 0))


def test_hard_layers_and_critical_cases_move_together() -> None:
    agent = assumed_behaviour({"policy": 0.99}, cases=30, critical=30)
    bar = bar_of(hard_layers=["policy"], critical="all")

    found = chance_to_ship(agent, bar, replicates=1000)

    # One and the same failures: the whole is each of them, not their product.
    each = {one.name: one.passes.value for one in found.clauses}
    assert each["hard_layers policy"] == each["critical all"] == found.ship.value


def test_no_worse_is_near_normal_theory() -> None:
    agent = assumed_behaviour({"outcome": 0.8}, cases=100)
    bar = bar_of(no_worse={"outcome": {"margin": 0.16}})

    found = chance_to_ship(agent, bar, replicates=250)
    dropped = chance_to_ship(agent, bar, drop={"outcome": 0.08}, replicates=250)

    # every trial drawn anew: variance of a difference 2 * 0.8 * 0.2
    sd = math.sqrt(0.32)
    assert found.ship.value == pytest.approx(chance_no_worse(sd, 100, margin=0.16), abs=0.08)
    assert dropped.ship.value == pytest.approx(
        chance_no_worse(sd, 100, margin=0.16, drop=0.08), abs=0.08
    )
    assert dropped.given == "outcome fell by 8 points"


def test_the_recorded_a_b_would_seldom_ship_though_nothing_changed(
    retail: tuple[Run, Run],
) -> None:
    agent = observed_behaviour(*(summarise(run) for run in retail))
    bar = bar_of(no_worse={"outcome": {"margin": 0.05}})

    found = chance_to_ship(agent, bar, replicates=300)

    # normal theory with the sd of the A/B gives 0.20; few cases move, so Gaffke guards
    assert 0.08 < (found.ship.value or 0) < 0.25
    assert (found.review.value or 0) > 0.7
    assert "the runs are taken as trials of one agent" in found.assumption


def test_what_was_never_seen_to_fail_may_still_fail(tmp_path: Path) -> None:
    seen = summarise(make_run(tmp_path, passes(35, 35), critical=["case-000"]))
    bar = bar_of(hard_layers=["outcome"])

    found = chance_to_ship(observed_behaviour(seen), bar, replicates=2000)

    # p ~ Beta(35.5, 0.5) by the anchors; E[p^35] = B(70.5, 0.5) / B(35.5, 0.5) = 0.708
    exact = math.exp(math.lgamma(70.5) - math.lgamma(71) - math.lgamma(35.5) + math.lgamma(36))
    assert exact == pytest.approx(0.708, abs=5e-4)
    assert found.ship.low is not None and found.ship.high is not None
    assert found.ship.low <= exact <= found.ship.high
    assert "the most noise there can be" in found.assumption


def test_cases_that_always_do_the_same_seldom_move(tmp_path: Path) -> None:
    yes, no = {"outcome": True}, {"outcome": False}
    steady = {f"c{at}": [yes] * 4 if at % 2 else [no] * 4 for at in range(40)}
    shaky = {f"c{at}": [yes, no, yes, no] for at in range(40)}
    bar = bar_of(no_worse={"outcome": {"margin": 0.08}})

    calm, loose = (
        chance_to_ship(
            observed_behaviour(summarise(make_run(tmp_path, each, name=name))), bar, replicates=40
        )
        for each, name in ((steady, "steady"), (shaky, "shaky"))
    )

    assert (calm.ship.value or 0) > (loose.ship.value or 0) + 0.3


def test_a_drop_lowers_the_share_by_as_much_as_it_says() -> None:
    agent = assumed_behaviour({"outcome": 0.8, "policy": 0.9}, cases=400)
    at_least = {"outcome": 0.7, "policy": 0.85}

    found = chance_to_ship(agent, bar_of(pass_rate=at_least), drop={"outcome": 0.1}, replicates=200)

    # 0.8 less 0.1 lies on the bar of 0.7: even chances; policy stays at 0.9
    each = {one.name: one.passes.value for one in found.clauses}
    assert each["pass_rate outcome"] == pytest.approx(0.5, abs=0.11)
    assert each["pass_rate policy"] == 1.0


def test_two_layers_can_drop_at_once() -> None:
    agent = assumed_behaviour({"outcome": 1.0, "policy": 1.0}, cases=300)
    bar = bar_of(pass_rate={"outcome": 0.85, "policy": 0.85})

    found = chance_to_ship(agent, bar, drop={"outcome": 0.3, "policy": 0.3}, replicates=50)

    assert {one.passes.value for one in found.clauses[:2]} == {0.0}


def test_other_numbers_of_cases_are_drawn_from_those_there_are(tmp_path: Path) -> None:
    agent = observed_behaviour(summarise(make_run(tmp_path, passes(40, 32))))
    bar = bar_of(pass_rate={"outcome": 0.75})

    few = chance_to_ship(agent, bar, cases=20, replicates=400)
    many = chance_to_ship(agent, bar, cases=300, replicates=200)

    assert (few.cases, many.cases) == (20, 300)
    # 80 % pass: with more cases the share strays less, and only the doubt of 40 cases is left
    assert (many.ship.value or 0) > (few.ship.value or 0)


def test_equal_seeds_give_equal_answers_and_others_differ() -> None:
    agent = assumed_behaviour({"outcome": 0.9}, cases=30)
    bar = bar_of(pass_rate={"outcome": 0.9})

    one, two, other = (chance_to_ship(agent, bar, replicates=300, seed=seed) for seed in (1, 1, 2))

    assert one == two
    assert one.ship != other.ship


@given(st.lists(st.floats(0.5, 1.0), min_size=2, max_size=2), st.integers(0, 3))
@settings(max_examples=25)
def test_a_stricter_bar_never_ships_more(rates: list[float], seed: int) -> None:
    agent = assumed_behaviour({"outcome": 0.8, "policy": 0.95}, cases=20, critical=3)
    low, high = sorted(rates)

    loose, strict = (
        chance_to_ship(
            agent, bar_of(pass_rate={"outcome": least}), replicates=60, seed=seed
        ).ship.value
        for least in (low, high)
    )
    more = chance_to_ship(
        agent,
        bar_of(pass_rate={"outcome": low}, hard_layers=["policy"], critical="all"),
        replicates=60,
        seed=seed,
    ).ship.value

    assert strict is not None and loose is not None and more is not None
    assert strict <= loose
    assert more <= loose


@given(st.floats(0.0, 0.79), st.floats(0.0, 0.79))
@settings(max_examples=15)
def test_a_larger_drop_never_ships_more(one: float, other: float) -> None:
    agent = assumed_behaviour({"outcome": 0.8}, cases=20)
    bar = bar_of(pass_rate={"outcome": 0.6})

    less, more = (
        chance_to_ship(agent, bar, drop={"outcome": fall}, replicates=60).ship.value or 0
        for fall in sorted([one + 1e-6, other + 1e-6])
    )

    assert more <= less


OUTCOMES = st.lists(
    st.lists(st.sampled_from([True, False, None]), min_size=2, max_size=2), min_size=1, max_size=8
)


@given(OUTCOMES, st.booleans())
@settings(max_examples=25)
def test_drawn_trials_are_counted_and_decided_as_a_run_is(
    outcomes: list[list[bool | None]], critical: bool
) -> None:
    cases: dict[str, list[Rows]] = {
        f"c{at}": [{"outcome": one, "policy/kept": True, "policy/told": one} for one in each]
        for at, each in enumerate(outcomes)
    }
    bar = bar_of(
        hard_layers=["policy"], critical="all", max_unscored=0.3,
        pass_rate={"outcome": {"at_least": 0.5, "unit": "assertions"}, "policy": 0.5},
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        run = make_run(Path(folder), cases, critical=["c0"] if critical else [])
        whole = summarise(run)
        wanted = decide(run, bar)
    agent = observed_behaviour(whole)
    replay = Replay(agent.groups)

    again = summary_of(
        [
            replay.case(group, case, own.astype(np.int64))
            for group, each in enumerate(agent.groups)
            for case, own in enumerate(each.urn.own)
        ],
        agent.layers,
        repeats=2,
        intervals=True,
    )

    for layer in agent.layers:
        one, two = whole.layer(layer), again.layer(layer)
        assert one is not None and two is not None
        assert (one.passed, one.n, one.unscored) == (two.passed, two.n, two.unscored)
        assert one.estimate.value == pytest.approx(two.estimate.value)
        assert (one.worst, one.cases) == (two.worst, two.cases)
    known = {"outcome", "policy"}
    found = decide(run, bar, summary=again)
    assert [(row.name, row.status) for row in found.rows if row.target in known] == [
        (row.name, row.status) for row in wanted.rows if row.target in known
    ]
    assert found.verdict == wanted.verdict


def test_a_crash_holds_no_hard_layer_and_keeps_it_from_passing(tmp_path: Path) -> None:
    run = make_run(
        tmp_path,
        {f"c{at}": {"outcome": True, "policy": True} for at in range(6)},
        failures={(f"c{at}", 0): "agent" for at in range(6)},
        no_rows=[(f"c{at}", 0) for at in range(6)],
    )

    found = chance_to_ship(
        observed_behaviour(summarise(run)), bar_of(hard_layers=["policy"]), replicates=50
    )

    (clause,) = [one for one in found.clauses if one.name == "hard_layers policy"]
    assert clause.cannot_tell > 0.5
    assert (found.review.value or 0) > 0.5


def test_missing_trials_are_no_trials(tmp_path: Path) -> None:
    seen = summarise(make_run(tmp_path, passes(10, 10), missing=[("case-003", 0)]))

    agent = observed_behaviour(seen)

    assert agent.cases == 9
    assert agent.source.startswith("9 trials of 9 cases")


def test_a_run_for_the_judge_alone_has_nothing_to_draw_from(tmp_path: Path) -> None:
    seen = summarise(make_run(tmp_path, {"a": {}}, judge_only=["a"]))

    with pytest.raises(ConfigError, match="no case of these runs was checked by code"):
        observed_behaviour(seen)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            {"drop": {"outcom": 0.1}},
            'drop: no layer or dimension "outcom". Did you mean "outcome"?',
        ),
        ({"drop": {"outcome": 0.95}}, 'drop: "outcome" cannot fall by 0.95; wanted 0 to 0.9.'),
        ({"drop": {"outcome": -0.1}}, 'drop: "outcome" cannot fall by -0.1; wanted 0 to 0.9.'),
        (
            {"repeats": 0},
            "cases 10, repeats 0, replicates 2000: wanted 1 or more of each.",
        ),
        ({"ties": 1.5}, "ties: got 1.5, wanted a share from 0 to 1."),
    ],
)
def test_what_cannot_be_simulated_is_refused(wrong: dict[str, object], told: str) -> None:
    agent = assumed_behaviour({"outcome": 0.9}, cases=10)

    with pytest.raises(ConfigError) as refused:
        chance_to_ship(agent, bar_of(pass_rate={"outcome": 0.9}), **wrong)  # type: ignore[arg-type]

    assert str(refused.value) == told


@pytest.mark.parametrize(
    ("rates", "how", "told"),
    [
        ({}, {"cases": 3}, "rates: {}; wanted a share from 0 to 1 for each layer."),
        ({"outcome": 1.1}, {"cases": 3}, "rates: {'outcome': 1.1}; wanted a share"),
        ({"outcome": 0.9}, {"cases": 0}, "cases: 0 with 0 critical; wanted 1 case or more."),
        ({"outcome": 0.9}, {"cases": 2, "critical": 3}, "cases: 2 with 3 critical"),
        ({"outcome": 0.9}, {"cases": 2, "alike": 1.0}, "alike: got 1, wanted a correlation"),
    ],
)
def test_rates_that_are_none_are_refused(
    rates: dict[str, float], how: dict[str, object], told: str
) -> None:
    with pytest.raises(ConfigError, match=told.replace("{", r"\{").replace("}", r"\}")):
        assumed_behaviour(rates, **how)  # type: ignore[arg-type]


def test_an_empty_bar_is_refused() -> None:
    with pytest.raises(ConfigError, match="names no clause"):
        chance_to_ship(assumed_behaviour({"outcome": 0.9}, cases=3), Bar())


# judged clauses


def test_clauses_without_verdicts_are_named_and_the_chance_is_at_most(tmp_path: Path) -> None:
    seen = summarise(make_run(tmp_path, passes(20, 20)))
    bar = bar_of(pass_rate={"outcome": 0.9}, mean={"default": 3.3}, never={"tone": 1})

    found = chance_to_ship(observed_behaviour(seen), bar, replicates=50)

    assert found.not_simulated == ("mean default", "never tone")
    assert found.lines()[0].startswith("P(SHIP | nothing changed) = at most ")
    assert found.lines()[-1] == "not simulated, no verdicts: mean default, never tone"


def test_clauses_that_are_only_reported_keep_nothing_back(tmp_path: Path) -> None:
    seen = summarise(make_run(tmp_path, passes(20, 20)))
    bar = bar_of(pass_rate={"outcome": 0.9}, mean={"tone": 3.3}, untrusted="report")

    found = chance_to_ship(observed_behaviour(seen), bar, replicates=50)

    assert found.not_simulated == ()


def test_the_chance_of_a_mean_is_near_normal_theory(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(40, 40))
    judge(run, spread({4: 18, 3: 18, 2: 4}))
    judged = observed_judging(run)

    on, over = (
        chance_to_ship(
            observed_behaviour(summarise(run)), bar_of(mean={"tone": least}), judged=judged,
            replicates=400,
        )
        for least in (3.35, 3.0)
    )  # fmt: skip

    # the mean is 3.35; sd 0.66, and both the pool and the draw stray by 0.66 / sqrt(40)
    assert on.ship.value == pytest.approx(0.47, abs=0.12)
    assert (over.ship.value or 0) > 0.95
    assert "judges stay trusted" in on.assumption


def test_a_level_that_may_not_be_given_is_drawn_though_nobody_got_it(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(20, 20))
    judge(run, spread({4: 12, 3: 8}))

    found = chance_to_ship(
        observed_behaviour(summarise(run)), bar_of(never={"tone": 1}),
        judged=observed_judging(run), replicates=1000,
    )  # fmt: skip

    # share of 1s ~ Beta(1/4, 20.75); E[(1-p)^20] = B(1/4, 40.75) / B(1/4, 20.75)
    exact = math.exp(math.lgamma(40.75) - math.lgamma(41) - math.lgamma(20.75) + math.lgamma(21))
    assert found.ship.value == pytest.approx(exact, abs=0.04)


def test_panels_that_split_over_the_bar_are_waited_for(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(20, 20))
    judge(run, {f"case-{at:03d}": [4, 4, 3] if at < 5 else [4, 4, 4] for at in range(20)})

    found = chance_to_ship(
        observed_behaviour(summarise(run)), bar_of(mean={"tone": 3.3}),
        judged=observed_judging(run), replicates=200,
    )  # fmt: skip

    (flags,) = [one for one in found.clauses if one.name == "open_flags"]
    # a quarter of the verdicts has a seat under 3.3: nearly every run of 20 has one
    assert flags.cannot_tell > 0.9
    assert (found.review.value or 0) > 0.9


def test_scores_that_fall_are_caught_by_no_worse(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(60, 60))
    judge(run, spread({4: 50, 3: 10}))
    bar = bar_of(no_worse={"tone": {"margin": 0.3, "unit": "score"}})

    same, fell = (
        chance_to_ship(
            observed_behaviour(summarise(run)), bar, judged=observed_judging(run),
            drop={"tone": share}, replicates=60,
        )
        for share in (0.0, 0.6)
    )  # fmt: skip

    assert (same.ship.value or 0) > 0.6
    assert (fell.ship.value or 0) < 0.1
    assert (fell.hold.value or 0) > 0.7


def test_drawn_verdicts_are_decided_as_a_judged_run_is(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(12, 12))
    judge(run, spread({4: 6, 3: 4, None: 1, 1: 1}))
    bar = bar_of(mean={"tone": 3.3}, never={"tone": 1}, max_unscored=0.05)
    (one,) = observed_judging(run)

    drawn = JudgedDraws(one, intervals=True).scores(one.urn.own.astype(np.int64), [False] * 12)

    wanted = decide(run, bar, trust=trusted("tone"))
    assert drawn.judged.estimate.value == pytest.approx(37 / 11)
    assert (drawn.judged.n, drawn.judged.unscored) == (11, 1)
    assert {row.name: row.status for row in wanted.rows}["mean tone"] == "cannot tell"
    assert [score.score for score in drawn.verdicts].count(1) == 1


def test_a_win_rate_clause_needs_enough_pairs_to_be_told() -> None:
    agent = assumed_behaviour({"outcome": 0.9}, cases=30)
    bar = bar_of(win_rate={"outcome": {"margin": "measured", "max_margin": 0.10}})

    few = chance_to_ship(agent, bar, cases=30, replicates=100)
    many = chance_to_ship(agent, bar, cases=200, replicates=200)

    # noise margin 1.96 * 0.40 / sqrt(n): 0.144 at 30 pairs, 0.056 at 200; 97.5 % are
    # inside it, and a wide margin keeps the rest from being told
    assert few.clauses[-1].cannot_tell > 0.9
    assert few.ship.value == 0
    assert many.ship.value == pytest.approx(0.975, abs=0.03)
    assert "preferences are drawn even, 35 % of them ties" in many.assumption


# the urn


def test_concentration_is_the_correlation_of_repeats() -> None:
    # means 1, 0, 1/2: within ss .5 on 3 spare trials; one half flip on half a trial more
    trials = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    cases = ["a", "a", "b", "b", "c", "c"]

    found = concentration([(trials, cases)])

    # between: mean square 2 * .25 = .5 less within 1/6, over 2 repeats = 1/6
    assert found == pytest.approx(((0.5 + 0.25) / 3.5) / (1 / 6))


@pytest.mark.parametrize(
    "trials", [[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]], ids=["one trial a case", "no variation"]
)
def test_cases_are_not_told_apart_without_repeats(trials: list[float]) -> None:
    assert concentration([(trials, ["a", "b", "c"])]) == math.inf


@given(st.integers(0, 10_000), st.floats(1e-6, 50))
def test_the_chances_of_a_world_add_up(seed: int, alpha: float) -> None:
    own = np.array([[3.0, 0.0], [0.0, 3.0], [0.0, 0.0]])

    chances = Urn(own, alpha, np.array([0.5, 0.5])).world(np.random.default_rng(seed))

    assert chances.shape == (3, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


def test_at_no_concentration_a_case_repeats_itself_for_ever() -> None:
    own = np.array([[3.0, 0.0], [0.0, 3.0]])

    chances = Urn(own, 1e-12, np.array([0.5, 0.5])).world(np.random.default_rng(0))

    np.testing.assert_allclose(chances, [[1, 0], [0, 1]], atol=1e-6)
