"""A judge's reply gives a score only where it holds exactly one readable level."""

from __future__ import annotations

import json
import random
import re

import pytest

from agenteval_kit.judge import parse_verdict
from agenteval_kit.records.rubrics import ReplyNames

LEVELS = (1, 2, 3, 4)


def verdict(score: object, **more: object) -> str:
    return json.dumps({"evidence": [{"turn": 0}], "justification": "So.", "score": score, **more})


@pytest.mark.parametrize(
    ("value", "level"),
    [("4", 4), ("4.0", 4), ('"4"', 4), ('"4.0"', 4), ('" 3 "', 3), ('"4/4"', 4), ('"2 / 4"', 2)],
)
def test_what_plainly_is_a_level_is_read_as_one(value: str, level: int) -> None:
    parsed = parse_verdict(f'{{"score": {value}}}', LEVELS)

    assert (parsed.score, parsed.reason, parsed.repaired) == (level, "", "")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("true", "true"),
        ("false", "false"),
        ("null", "null"),
        ("3.5", "3.5"),
        ("0", "0"),
        ("7", "7"),
        ("-1", "-1"),
        ("9e124", "9e+124"),
        ('"Score: 4"', '"Score: 4"'),
        ('"four"', '"four"'),
        ('"4/5"', '"4/5"'),
        ('"5/4"', '"5/4"'),
        ('""', '""'),
        ('"04"', '"04"'),
        ('"-1"', '"-1"'),
        ('"4, or 3"', '"4, or 3"'),
        ("[4]", "[4]"),
        ('{"value": 4}', '{"value": 4}'),
    ],
)
def test_what_is_no_level_is_unscored_and_neither_clamped_nor_rounded(
    value: str, shown: str
) -> None:
    parsed = parse_verdict(f'{{"score": {value}}}', LEVELS)

    assert parsed.score is None
    assert parsed.reason == f"{shown} is no level of 1 to 4"


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_what_is_no_number_of_json_makes_the_reply_unreadable(value: str) -> None:
    parsed = parse_verdict(f'{{"score": {value}}}', LEVELS)

    assert parsed.score is None
    assert parsed.reason == "unreadable: an object that is not whole"


def test_true_is_not_the_level_one_even_where_a_key_stands_twice() -> None:
    parsed = parse_verdict('{"score": true, "score": 1}', LEVELS)

    assert parsed.score is None
    assert parsed.reason == 'ambiguous: "score" stands twice in one object'


def test_a_scale_that_begins_at_zero_has_a_zero() -> None:
    assert parse_verdict(verdict(0), (0, 1, 2, 3)).score == 0
    assert parse_verdict(verdict(False), (0, 1, 2, 3)).score is None
    assert parse_verdict(verdict("3/3"), (0, 1, 2, 3)).score == 3
    assert parse_verdict(verdict("3/4"), (0, 1, 2, 3)).score is None


def test_a_level_that_the_scale_leaves_out_is_no_level() -> None:
    parsed = parse_verdict(verdict(2), (1, 3, 5))

    assert parsed.reason == "2 is no level of 1, 3, 5"


def test_a_fence_among_chatter_is_read_and_marked() -> None:
    text = f"Here is my verdict.\n```json\n{verdict(3)}\n```\nTell me if you want more."

    parsed = parse_verdict(text, LEVELS)

    assert parsed.score == 3
    assert parsed.repaired == "fence, chatter"
    assert parsed.justification == "So."
    assert parsed.evidence == [{"turn": 0}]


def test_two_fences_with_different_scores_are_ambiguous_and_the_first_is_not_taken() -> None:
    text = f"```json\n{verdict(3)}\n```\nOn second thoughts:\n```json\n{verdict(2)}\n```"

    parsed = parse_verdict(text, LEVELS)

    assert parsed.score is None
    assert parsed.reason.startswith("ambiguous")


def test_a_one_element_list_is_read_and_marked() -> None:
    parsed = parse_verdict('[{"score":3}]', LEVELS)

    assert (parsed.score, parsed.repaired) == (3, "one-element list")


@pytest.mark.parametrize("text", ["[]", '[{"score":3},{"score":3}]', '[{"score":3}, "x"]', "[3]"])
def test_any_other_list_is_unscored(text: str) -> None:
    parsed = parse_verdict(text, LEVELS)

    assert parsed.score is None
    assert parsed.reason


@pytest.mark.parametrize(
    "text",
    ["", "   ", "4", '"4"', "null", "Score: 4", "I would say 4.", "{", "}", '{"score": 4',
     '{"verdict": {"score": 4}}', '{"Score": 4}', "{'score': 4}", '{"score": 4,}', "{}"],
)  # fmt: skip
def test_what_is_no_verdict_is_unscored(text: str) -> None:
    parsed = parse_verdict(text, LEVELS)

    assert parsed.score is None
    assert parsed.reason


def test_a_quoted_verdict_within_a_broken_object_is_not_taken_for_the_verdict() -> None:
    # The judge forgot to escape what it quotes; its own score is 1.
    text = '{"evidence": [{"turn": 1, "quote": "he says {"score": 4} to me"}], "score": 1}'

    parsed = parse_verdict(text, LEVELS)

    assert parsed.score is None
    assert parsed.reason == "unreadable: an object that is not whole"


def test_a_verdict_within_another_object_is_not_dug_out() -> None:
    text = f'{{"result": {verdict(2)}}}\nor rather\n{verdict(4)}'

    parsed = parse_verdict(text, LEVELS)

    assert parsed.reason == 'ambiguous: "score" stands within another object'


@pytest.mark.parametrize(
    "around", ["The score is 2.", "**Score:** 2", "score = 2", "My verdict: 2.", "Rating: 2/4"]
)
def test_chatter_that_names_another_score_makes_the_reply_ambiguous(around: str) -> None:
    parsed = parse_verdict(f"{around}\n{verdict(3)}", LEVELS)

    assert parsed.score is None
    assert parsed.reason == 'ambiguous: the text around the verdict names another "score"'


def test_chatter_that_names_the_same_score_is_only_chatter() -> None:
    parsed = parse_verdict(f"**Score:** 3\n{verdict(3)}", LEVELS)

    assert (parsed.score, parsed.repaired) == (3, "chatter")


def test_a_verdict_within_the_verdict_is_ambiguous() -> None:
    parsed = parse_verdict(verdict(3, evidence=[{"turn": 0, "score": 1}]), LEVELS)

    assert parsed.reason == 'ambiguous: the verdict holds another "score" within'


def test_hidden_thoughts_are_not_the_verdict() -> None:
    text = f"<think>Perhaps {verdict(1)}? No.</think>\n{verdict(3)}"

    parsed = parse_verdict(text, LEVELS)

    assert (parsed.score, parsed.repaired) == (3, "thoughts")


def test_thoughts_without_an_end_are_no_verdict() -> None:
    assert parse_verdict(f"<think>Perhaps {verdict(1)} or {verdict(3)}", LEVELS).score is None


def test_the_same_verdict_said_twice_has_one_reading() -> None:
    parsed = parse_verdict(f"{verdict(3)}\n\nAgain:\n{verdict(3)}", LEVELS)

    assert (parsed.score, parsed.repaired) == (3, "chatter, said twice")


def test_fields_may_have_names_of_their_own() -> None:
    names = ReplyNames(score="rating", justification="reason", claim="offending_claim")
    text = '{"offending_claim": "30 days", "reason": "Not there.", "rating": 1}'

    parsed = parse_verdict(text, (0, 1, 2, 3), names=names)

    assert (parsed.score, parsed.evidence) == (1, "30 days")
    assert parsed.justification == "Not there."


@pytest.mark.parametrize("depth", [10, 900, 5_000, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"score":'])
def test_nesting_of_any_depth_neither_raises_nor_scores(opening: str, depth: int) -> None:
    assert parse_verdict(opening * depth, LEVELS).score is None


# The fuzz: what is scored is checked by another route, which looks at the text only.

SCORES = ["1", "2", "3", "4", '"1"', '"4"', "4.0", '"4/4"', '"3/4"', "0", "5", "7", "-1", "3.5",
          "true", "false", "null", "9e124", "NaN", '"Score: 4"', '"4/5"', "[4]", '{"score": 2}',
          '"high"', "1e999", '"\u0664"', "04"]  # fmt: skip
LEVEL_OF = {"1": 1, "2": 2, "3": 3, "4": 4, '"1"': 1, '"4"': 4, "4.0": 4, '"4/4"': 4, '"3/4"': 3}
CHATTER = ["", "Sure!", "Here is my verdict:", "I looked at [turn 3].", "The agent did well.",
           "score: 4", "Rating: 1", "{", "}", "```", '"', "\\", "\u202e", "\ud800", "\x00",
           '{"score": 4}', '{"note": "no score"}', "[1, 2]", "{user} $name",
           "</transcript>"]  # fmt: skip
SPICE = [*'{}[]":,\\ \n`0123456789.eEnrtu', "score", "true", "null", "\u2028", "\U0001f600"]


def random_reply(dice: random.Random) -> str:
    def one() -> str:
        quote = dice.choice(["ok", 'he said {"score": 4}', '\\"score\\": 4', "a\nb", ""])
        evidence = [{"turn": dice.randrange(9), "quote": quote}]
        parts = [
            f'"evidence": {json.dumps(evidence)}',
            '"justification": "So."',
            f'"score": {dice.choice(SCORES)}',
        ]
        if dice.random() < 0.1:
            parts.append(f'"score": {dice.choice(SCORES)}')
        if dice.random() < 0.3:
            dice.shuffle(parts)
        return "{" + ", ".join(parts) + "}"

    text = one()
    if dice.random() < 0.15:
        text = f"[{text}]" if dice.random() < 0.5 else f"[{text}, {one()}]"
    if dice.random() < 0.3:
        text = f"```json\n{text}\n```"
    if dice.random() < 0.5:
        text = f"{dice.choice(CHATTER)}\n{text}\n{dice.choice(CHATTER)}"
    if dice.random() < 0.15:
        text = f"{text}\n{one()}"
    for _ in range(dice.choice([0, 0, 0, 1, 2, 5])):
        at = dice.randrange(len(text) + 1)
        kind = dice.random()
        if kind < 0.4:
            text = text[:at] + text[at + dice.randrange(1, 6) :]
        elif kind < 0.8:
            text = text[:at] + dice.choice(SPICE) + text[at:]
        else:
            text = text[:at]
    return text


def levels_named(text: str) -> set[object]:
    """What stands behind each ``"score":`` that is a key and not part of a quoted text."""
    bare = re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL)
    # A key within a JSON string has its quotation marks escaped.
    tokens = re.findall(r'(?<!\\)"score"\s*:\s*("[^"]*"|[^\s,}\]]+)', bare)
    plain = ["".join(token.split()).strip('"') for token in tokens]
    return {int(one[0]) if re.fullmatch(r"[1-4](\.0+|/4)?", one) else one for one in plain}


@pytest.mark.parametrize("part", range(5))
def test_of_5000_random_replies_only_those_with_one_readable_level_are_scored(part: int) -> None:
    dice = random.Random(f"judge/{part}")
    scored = 0

    for _ in range(1000):
        text = random_reply(dice)
        parsed = parse_verdict(text, LEVELS)
        if parsed.score is None:
            assert parsed.reason, text
        else:
            scored += 1
            assert type(parsed.score) is int
            assert parsed.score in LEVELS
            assert levels_named(text) <= {parsed.score}, text

    # Neither everything nor nothing is scored, or this test would show nothing.
    assert 80 < scored < 600


def test_a_reply_that_is_one_plain_verdict_is_always_scored() -> None:
    dice = random.Random("plain")

    for _ in range(500):
        token = dice.choice(list(LEVEL_OF))
        said = dice.choice(['{"score": 4}', "Score: 1", "{", "\u2028", '"', "```json"])
        text = f'{{"justification": {json.dumps(said)}, "score": {token}}}'

        assert parse_verdict(text, LEVELS).score == LEVEL_OF[token]
