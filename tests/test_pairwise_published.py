"""Published verdicts through our own arithmetic, beside pandas that knows nothing of it.

MT-Bench (CC-BY-4.0, lmsys/mt_bench_human_judgments): GPT-4 in both orders and many people,
questions 81 to 120. LLMBar (MIT, princeton-nlp/LLMBar): subset Natural, 65 judges and prompts.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.pairwise import (
    GOLD,
    flips_of,
    import_preferences,
    measure,
    preference_agreement,
    rank_rows,
)
from agenteval_kit.records import PreferenceRow

PUBLISHED = Path(__file__).resolve().parent.parent / "data" / "published"
GPT4 = PUBLISHED / "mt_bench" / "gpt4_pair.jsonl"
HUMAN = PUBLISHED / "mt_bench" / "human.jsonl"
LLMBAR = PUBLISHED / "llmbar" / "verdicts_Natural.csv"


def read(path: Path) -> pd.DataFrame:
    """The file as it stands."""
    return pd.read_json(path, lines=True)


@pytest.fixture(scope="module")
def llmbar() -> dict[str, list[PreferenceRow]]:
    """Rows by judge."""
    found: dict[str, list[PreferenceRow]] = {}
    for row in import_preferences(LLMBAR):
        found.setdefault(row.judge, []).append(row)
    return found


@pytest.fixture(scope="module")
def llmbar_frame() -> pd.DataFrame:
    """The file as it stands, empty cells as missing."""
    return pd.read_csv(LLMBAR)


# MT-Bench.


def test_gpt4_flips_on_mt_bench_as_often_as_pandas_counts() -> None:
    rows = import_preferences(GPT4)
    winners = read(GPT4)["winner"]

    found = flips_of(rows)

    # 193 of 1,200: counted by hand in the file.
    assert (found.n, found.flips) == (1200, 193)
    assert found.rate.value == pytest.approx((winners == "tie (inconsistent)").mean())
    # Forty questions, not 1,200 pairs, are independent.
    assert found.rate.n == 40
    assert found.toward_first.value is None


def test_each_pair_of_models_has_the_counts_that_pandas_counts() -> None:
    rows = import_preferences(GPT4)
    frame = read(GPT4)
    groups = frame.groupby(["model_a", "model_b"])

    assert len(groups) == 15
    for (first, second), group in groups:
        one = measure(row for row in rows if (row.old, row.new) == (first, second))
        counts = group["winner"].value_counts()
        ties = counts.get("tie", 0) + counts.get("tie (inconsistent)", 0)
        assert (one.wins, one.ties, one.losses) == (
            counts.get("model_b", 0), ties, counts.get("model_a", 0),
        )  # fmt: skip
        # Every question has two turns, so the mean over questions is the mean over pairs.
        assert one.win_rate.value == pytest.approx((counts.get("model_b", 0) + ties / 2) / 80)
        assert (one.cases, one.repeated) == (40, True)
        assert one.flips.flips == counts.get("tie (inconsistent)", 0)


def merged() -> pd.DataFrame:
    """Every vote of a person beside GPT-4's verdict on the same pair, as a number for model x."""

    def oriented(frame: pd.DataFrame) -> pd.DataFrame:
        swap = frame["model_a"] > frame["model_b"]
        value = frame["winner"].map(
            {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (inconsistent)": 0.5}
        )
        return pd.DataFrame(
            {
                "question": frame["question_id"],
                "turn": frame["turn"],
                "x": frame["model_a"].where(~swap, frame["model_b"]),
                "y": frame["model_b"].where(~swap, frame["model_a"]),
                "value": value.where(~swap, 1 - value),
            }
        )

    keys = ["question", "turn", "x", "y"]
    return oriented(read(HUMAN)).merge(
        oriented(read(GPT4)), on=keys, suffixes=("_human", "_gpt4"), validate="many_to_one"
    )


def test_gpt4_agrees_with_people_on_mt_bench_as_pandas_counts() -> None:
    both = merged()
    firm = both[(both["value_human"] != 0.5) & (both["value_gpt4"] != 0.5)]

    found = preference_agreement(import_preferences(GPT4), import_preferences(HUMAN))

    assert (found.votes, found.dropped, found.cases) == (len(both), 0, 40)
    same = both["value_human"] == both["value_gpt4"]
    assert found.exact.value == pytest.approx(same.mean())
    assert found.decisive.value == pytest.approx((firm["value_human"] == firm["value_gpt4"]).mean())
    half = 1 - (both["value_human"] - both["value_gpt4"]).abs()
    assert found.ties_half.value == pytest.approx(half.mean())
    # On all 80 questions the paper has 0.85 among votes without a tie (as quoted); these are 40.
    assert found.decisive.value == pytest.approx(0.83, abs=0.005)
    assert found.decisive.low is not None and found.decisive.low < 0.85 < (found.decisive.high or 0)


def test_agreement_is_not_absence_of_bias_gpt4_likes_its_own_answers_more_than_people_do() -> None:
    both = merged()
    own = both[(both["x"] == "gpt-4") | (both["y"] == "gpt-4")]
    sign = own["x"] == "gpt-4"

    judge = {
        (row.case_id, row.repeat, frozenset((row.old, row.new))): row
        for row in import_preferences(GPT4)
    }
    rates: dict[str, list[float]] = {"people": [], "gpt-4": []}
    for vote in import_preferences(HUMAN):
        mine = judge[vote.case_id, vote.repeat, frozenset((vote.old, vote.new))]
        for name, row in (("people", vote), ("gpt-4", mine)):
            if "gpt-4" in (row.old, row.new):
                assert row.score is not None
                rates[name].append(row.score if row.new == "gpt-4" else 1 - row.score)

    for name, column in (("people", "value_human"), ("gpt-4", "value_gpt4")):
        value = own[column].where(sign, 1 - own[column])
        assert len(rates[name]) == len(value) == 499
        assert sum(rates[name]) / 499 == pytest.approx(value.mean())
    # On all questions the published gap is 12.7 points (0.852 against 0.725).
    assert sum(rates["people"]) / 499 == pytest.approx(0.697, abs=0.001)
    assert sum(rates["gpt-4"]) / 499 == pytest.approx(0.833, abs=0.001)


def test_agreement_is_the_same_whichever_side_is_called_old() -> None:
    judge, people = import_preferences(GPT4), import_preferences(HUMAN)
    other = {"old": "new", "new": "old", "tie": "tie"}
    turned = [
        row.model_copy(update={"old": row.new, "new": row.old, "outcome": other[str(row.outcome)]})
        for row in people
    ]

    assert preference_agreement(judge, people) == preference_agreement(judge, turned)


def test_people_have_no_flip_rate_since_they_saw_each_pair_once() -> None:
    rows = import_preferences(HUMAN)

    found = flips_of(rows)

    assert (found.n, found.dropped) == (0, 1688)
    assert found.rate.reason == ("position bias not measurable: no pair was judged in both orders")


def test_six_models_of_mt_bench_are_ranked_with_gpt4_first_and_llama_last() -> None:
    ranking = rank_rows(import_preferences(GPT4), reference="gpt-3.5-turbo", draws=100)

    order = sorted(ranking.strength, key=ranking.strength.__getitem__, reverse=True)
    assert order == [
        "gpt-4", "claude-v1", "gpt-3.5-turbo", "vicuna-13b-v1.2", "alpaca-13b", "llama-13b",
    ]  # fmt: skip
    assert ranking.n == 1200


# LLMBar.


def test_every_judge_of_llmbar_flips_as_often_and_as_far_as_pandas_counts(
    llmbar: dict[str, list[PreferenceRow]], llmbar_frame: pd.DataFrame
) -> None:
    groups = llmbar_frame.groupby(["judge", "prompt"])

    assert len(groups) == 65
    for (judge, prompt), group in groups:
        found = flips_of(llmbar[f"{judge} {prompt}"])
        both = group.dropna(subset=["winner_original", "winner_swapped"])
        flipped = both[both["winner_original"] != both["winner_swapped"]]
        assert (found.n, found.flips, found.dropped) == (
            len(both), len(flipped), 100 - len(both),
        )  # fmt: skip
        # Output 1 was shown first in the original order, output 2 in the swapped one.
        first = flipped["winner_original"] == 1
        if len(flipped):
            assert found.toward_first.value == pytest.approx(first.mean())
        else:
            assert found.toward_first.value is None


def test_every_judge_of_llmbar_agrees_with_the_label_as_pandas_counts(
    llmbar: dict[str, list[PreferenceRow]], llmbar_frame: pd.DataFrame
) -> None:
    for (judge, prompt), group in llmbar_frame.groupby(["judge", "prompt"]):
        found = preference_agreement(llmbar[f"{judge} {prompt}"], llmbar[GOLD], draws=50)
        both = group.dropna(subset=["winner_original", "winner_swapped"])
        right = pd.concat(
            [both["winner_original"] == both["label"], both["winner_swapped"] == both["label"]],
            axis=1,
        )
        firm = both["winner_original"] == both["winner_swapped"]
        assert (found.votes, found.dropped) == (len(both), 100 - len(both))
        # LLMBar's accuracy: the mean over both orders is ours with ties as half.
        assert found.ties_half.value == pytest.approx(right.mean(axis=None))
        assert found.exact.value == pytest.approx(right.all(axis=1).mean())
        assert found.decisive.value == pytest.approx(right.iloc[:, 0][firm].mean())


def test_a_judge_that_names_what_it_is_shown_first_is_seen_for_what_it_is(
    llmbar: dict[str, list[PreferenceRow]],
) -> None:
    one = measure(llmbar["Falcon CoT"])

    # 86 of 100 went to whatever stood first, in both orders; counted in the file.
    assert (one.flips.flips, one.flips.toward_first.value) == (86, 1.0)
    assert one.flips.p_first is not None and one.flips.p_first < 1e-20
    assert (one.wins, one.ties, one.losses) == (7, 86, 7)
    assert one.shown is False


def test_a_verdict_that_was_not_parsed_is_unscored_and_never_a_tie(
    llmbar: dict[str, list[PreferenceRow]],
) -> None:
    one = measure(llmbar["PaLM2 Vanilla_NoRules"])

    assert (one.n, one.unscored) == (97, 3)
    assert one.reasons == {"not parsed in the source": 3}
    half = next(row for row in llmbar["ChatGPT CoT"] if row.outcome is None)
    assert half.reason == "old first: not parsed in the source"
    assert half.flipped is None


# What is refused.


def test_what_a_source_cannot_mean_is_refused_with_its_lines(tmp_path: Path) -> None:
    good = json.loads(GPT4.read_text(encoding="utf-8").splitlines()[0])
    file = tmp_path / "pairs.jsonl"
    lines = [good, {**good, "winner": "model_c"}, {**good, "turn": "1"}]
    lines.append({key: value for key, value in good.items() if key != "winner"})
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    with pytest.raises(ConfigError) as raised:
        import_preferences(file)

    assert str(raised.value).splitlines() == [
        f'{file}:2: "model_c" is no winner of MT-Bench. Did you mean "model_b"?',
        f"{file}:3: turn is '1'; it wants 1 or more",
        f"{file}:4: has no winner",
    ]


def test_a_table_with_a_third_output_or_two_labels_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.csv"
    file.write_text(
        "subset,i,judge,prompt,label,winner_original,winner_swapped\n"
        "N,0,j,p,1,3,1\nN,0,k,p,2,1,1\nN,1,j,p,,1,1\n",
        encoding="utf-8",
    )

    with pytest.raises(ConfigError) as raised:
        import_preferences(file)

    assert str(raised.value).splitlines() == [
        f'{file}:2: winner_original holds "3"; it wants 1 or 2',
        f'{file}:3: label of N-0 is "2", on line 2 another',
        f'{file}:4: label holds ""; it wants 1 or 2',
    ]


@pytest.mark.parametrize("text", ["", "case,score\n1,2\n", '{"winner": "model_a"}\n'])
def test_a_file_in_no_known_format_says_what_is_known(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.csv"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match="is in no format of preferences that is known"):
        import_preferences(file)
    with pytest.raises(ConfigError, match='"llmbra" is no format .* Did you mean "llmbar"'):
        import_preferences(file, format="llmbra")  # type: ignore[arg-type]
