"""Rubrics: the shapes that load, what is refused with its line, and what is warned of."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.records import Dimension, Rubric
from agenteval_kit.rubrics import (
    dimension_digest,
    is_vague,
    load_rubric,
    rubric_digest,
    rubric_warnings,
)

SHIPPED = sorted((Path(__file__).resolve().parent.parent / "data" / "rubrics").glob("*.yaml"))
# The scale of a published study, as its people had it: nobody had described levels 2 to 5 to them.
THEIRS = "recipes"
FULL = """\
name: mine
version: "7"
dimensions:
  - name: tone
    layer: conversation
    definition: How the customer is spoken to.
    anchors:
      2: Each turn answers what was last said in its first sentence.
      1: A turn ignores the question that the customer asked before it.
"""


def written(folder: Path, text: str, *, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_rubric(written(folder, text))
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_rubric_loads_without_a_warning_but_for_the_scale_of_others(
    path: Path,
) -> None:
    rubric = load_rubric(path)

    warned = rubric_warnings(rubric)
    if path.stem != THEIRS:
        assert warned == []
    else:
        assert [one.partition(":")[2][:21] for one in warned] == [
            " no anchor at 2, 3, 4", " 6 levels; people and",
        ] * len(rubric.dimensions)  # fmt: skip


def test_the_support_rubric_has_five_dimensions_on_1_to_4_and_two_panels() -> None:
    rubric = load_rubric(next(path for path in SHIPPED if path.stem == "support"))

    assert [(one.name, one.layer, one.panel) for one in rubric.dimensions] == [
        ("goal_completion", "outcome", 1),
        ("elicitation_efficiency", "conversation", 1),
        ("groundedness", "grounding", 3),
        ("safety_and_scope", "policy", 3),
        ("communication_quality", "conversation", 1),
    ]
    assert {one.levels for one in rubric.dimensions} == {(1, 2, 3, 4)}
    assert all(set(one.anchors) == set(one.levels) for one in rubric.dimensions)


def test_the_full_shape_loads_with_what_it_does_not_say_filled_in(tmp_path: Path) -> None:
    rubric = load_rubric(written(tmp_path, FULL))

    one = rubric.dimensions[0]
    assert (rubric.name, rubric.version) == ("mine", "7")
    assert (one.levels, one.inputs, one.panel) == ((1, 2), ["transcript"], 1)
    assert (one.evidence.kind, one.evidence_at) == ("turns", {1, 2})
    assert one.not_rewarded == ["length", "politeness"]


def test_the_common_shape_loads_as_it_stands(tmp_path: Path) -> None:
    text = """\
criterion: Is every claim of the answer supported by the passages?
scale: 0-3
inputs: [question, retrieved_passages, answer]
anchors:
  0: The answer contradicts a passage it was given.
  3: Each claim of the answer stands in a passage.
output: {score: int, offending_claim: string or null, reason: string}
"""

    rubric = load_rubric(written(tmp_path, text, name="grounding.yaml"))

    one = rubric.dimensions[0]
    assert (one.name, one.layer) == ("grounding", "grounding")
    assert one.definition == "Is every claim of the answer supported by the passages?"
    assert one.levels == (0, 1, 2, 3)
    assert one.inputs == ["question", "sources", "answer"]
    assert (one.reply.score, one.reply.justification, one.reply.claim) == (
        "score", "reason", "offending_claim",
    )  # fmt: skip
    # A clean top score has nothing to quote.
    assert (one.evidence.kind, one.evidence_at) == ("quote", {0, 1, 2})


def test_a_criterion_that_is_a_name_names_the_dimension_and_its_layer(tmp_path: Path) -> None:
    text = """\
criterion: policy
scale: [1, 2]
anchors: {1: Tells a price of another customer., 2: Tells nothing of other customers.}
"""

    one = load_rubric(written(tmp_path, text)).dimensions[0]

    assert (one.name, one.layer, one.levels) == ("policy", "policy", (1, 2))


@pytest.mark.parametrize(
    "output",
    ["[score, offending_claim, why]", '\'{"score": 0-3, "offending_claim": null, "why": str}\''],
)
def test_an_output_is_read_in_any_way_that_people_write_it(output: str, tmp_path: Path) -> None:
    text = f"criterion: x\nscale: 1-2\nanchors: {{1: a b c d, 2: e f g h}}\noutput: {output}\n"

    names = load_rubric(written(tmp_path, text)).dimensions[0].reply

    assert (names.score, names.justification, names.claim) == ("score", "why", "offending_claim")


def test_a_list_of_dimensions_is_a_rubric(tmp_path: Path) -> None:
    text = "\n".join(
        f"- {{criterion: {name}, scale: 1-2, anchors: {{1: a b c d, 2: e f g h}}}}"
        for name in ("one", "two")
    )

    rubric = load_rubric(written(tmp_path, text, name="both.yaml"))

    assert rubric.name == "both"
    assert [one.name for one in rubric.dimensions] == ["one", "two"]


def test_a_scale_with_fewer_anchors_than_levels_loads_with_a_warning(tmp_path: Path) -> None:
    text = FULL.replace("    anchors:", "    scale: [1, 5]\n    anchors:")

    rubric = load_rubric(written(tmp_path, text))

    assert rubric.dimensions[0].levels == (1, 2, 3, 4, 5)
    assert rubric_warnings(rubric) == [
        'dimension "tone": no anchor at 3, 4, 5; describe what can be observed there, or leave the '
        "level out"
    ]


def test_a_threshold_is_refused_with_where_it_belongs(tmp_path: Path) -> None:
    text = FULL + "    threshold: 3\n"

    assert complaint(tmp_path, text) == (
        'mine.yaml:10: "threshold" is a threshold, and thresholds live in the bar, so that a judge '
        "never sees what is enough; write mean: {<dimension>: <number>} or never: there"
    )


def test_all_problems_are_told_at_once_each_at_its_line(tmp_path: Path) -> None:
    text = """\
name: mine
pass_mark: 3
colour: red
dimensions:
  - name: tone
    layer: conversation
    definitoin: x
    panel: 2
    anchors: {1: a, 2: b}
  - name: other
    definition: y
    inputs: [transcirpt]
    anchors: {1: a, 2: b, 9000: c}
"""

    told = complaint(tmp_path, text).splitlines()

    assert sorted(line.partition(": ")[0] for line in told) == [
        f"mine.yaml:{line}" for line in (12, 13, 2, 3, 5, 7, 8)
    ]
    assert (
        'mine.yaml:7: unknown key "definitoin" in dimension "tone". Did you mean "definition"?'
        in told
    )
    assert (
        'mine.yaml:8: "panel" in dimension "tone": is 2; a panel wants an odd number of seats, so '
        "that it can decide" in told
    )
    assert (
        'mine.yaml:12: "inputs" in dimension "other": "transcirpt" is nothing that a judge can be '
        'shown. Did you mean "transcript"?' in told
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("      1: A turn", "      seven: A turn"), "seven"),
        (("    anchors:", "    scale: 3-1\n    anchors:"), "3 to 1 is no scale"),
        (("    anchors:", "    scale: wide\n    anchors:"), '"wide" is no scale'),
        (("    anchors:", "    scale: [3, 4]\n    anchors:"), "is no level of the scale 3 to 4"),
        (
            ("    anchors:", "    evidence: {kind: quote, required_at: [7]}\n    anchors:"),
            "required_at names 7",
        ),
        (("      1: A turn", "      2: A turn"), 'key "2" stands twice'),
        (("How the", "How {{agent}} and the"), '"{{agent}}" looks like a placeholder'),
        (("Each turn", "Each {turn}"), '"{turn}" looks like a placeholder'),
        (("name: mine", "name: a mine"), "name"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    change: tuple[str, str], sentence: str, tmp_path: Path
) -> None:
    assert change[0] in FULL

    assert sentence in complaint(tmp_path, FULL.replace(*change, 1))


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ("{{anchors}} {{reply}} {{trnscript}}", 'Did you mean "transcript"?'),
        ("{{reply}} {{transcript}}", "has no {{anchors}}"),
        ("{{anchors}} {{transcript}}", "has no {{reply}}"),
        ("{{anchors}} {{reply}}", "has no {{inputs}}"),
        ("{{anchors}} {{reply}} {answer}", "placeholders are written {{name}}"),
        ("{{anchors}} {{reply}} ${answer}", "placeholders are written {{name}}"),
    ],
)
def test_a_prompt_of_its_own_is_checked_before_anything_is_asked(
    prompt: str, sentence: str, tmp_path: Path
) -> None:
    assert sentence in complaint(tmp_path, f"{FULL}    prompt: '{prompt}'\n")


def test_a_prompt_may_hold_json_and_dollars(tmp_path: Path) -> None:
    prompt = '{{anchors}} {{reply}} {{answer}} like {"score": 3} or $5, { x }'

    one = load_rubric(written(tmp_path, f"{FULL}    prompt: '{prompt}'\n")).dimensions[0]

    assert one.prompt == prompt


def test_a_prompt_file_is_read_beside_the_rubric(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("{{anchors}}\n{{reply}}\n{{inputs}}\n", encoding="utf-8")

    one = load_rubric(written(tmp_path, FULL + "    prompt_file: own.md\n")).dimensions[0]

    assert one.prompt == "{{anchors}}\n{{reply}}\n{{inputs}}\n"


def test_a_missing_prompt_file_is_told_at_its_line(tmp_path: Path) -> None:
    told = complaint(tmp_path, FULL + "    prompt_file: none.md\n")

    assert told.startswith("mine.yaml:10: ")
    assert "there is no such file" in told


def test_a_pairwise_criterion_has_no_scale(tmp_path: Path) -> None:
    text = "name: p\ndimensions:\n  - {name: a, kind: pairwise, definition: Which one helps.}\n"
    with_scale = text.replace("definition", "scale: 1-4, definition")

    rubric = load_rubric(written(tmp_path, text))

    assert [one.name for one in rubric.pairwise()] == ["a"]
    assert rubric.absolute() == []
    assert "a pairwise criterion has no scale" in complaint(tmp_path, with_scale)


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    again = FULL.split("dimensions:\n")[1]

    assert 'dimension "tone" stands twice' in complaint(tmp_path, FULL + again)


@pytest.mark.parametrize(
    "anchor",
    ["Good", "Excellent, helpful and clear answer", "Very poor quality", "Mostly correct response",
     "The answer is adequate and appropriate", "Meets expectations", "Fully satisfactory overall"],
)  # fmt: skip
def test_an_anchor_that_only_praises_or_blames_is_vague(anchor: str) -> None:
    assert is_vague(anchor)


@pytest.mark.parametrize(
    "anchor",
    ["Every figure of the answer stands in a tool result.", "The agent asks twice for the order.",
     "Says up to 30 days and cites section 1.1.", "No tool call before the refund is promised"],
)  # fmt: skip
def test_an_anchor_that_names_something_to_be_seen_is_not_vague(anchor: str) -> None:
    assert not is_vague(anchor)


def weak(anchors: dict[int, str]) -> list[str]:
    dimension = Dimension(name="x", definition="What.", anchors=anchors)
    return rubric_warnings(Rubric(name="r", dimensions=[dimension]))


def test_a_vague_anchor_is_warned_of_with_its_level() -> None:
    told = weak({1: "Bad answer.", 2: "Every claim is in a tool result of the transcript."})

    assert told == [
        'dimension "x", level 1: "Bad answer." names nothing that can be observed; say what stands '
        "in the transcript at this level"
    ]


def test_more_than_five_levels_are_warned_of() -> None:
    told = weak({level: f"The agent asks for {level} fields in one turn." for level in range(1, 7)})

    assert len(told) == 1
    assert "6 levels" in told[0]


def test_a_neutral_middle_is_warned_of_and_a_described_one_is_not() -> None:
    ends = {1: "The agent asks three times for one field.", 3: "No field is asked for twice."}

    neutral = weak({**ends, 2: "Neither efficient nor inefficient; average asking of fields."})
    neither = weak({**ends, 2: "The asking of fields is neither good nor bad in this transcript."})
    described = weak({**ends, 2: "One field is asked for twice in the transcript."})
    observed = weak({**ends, 2: "One part of what was asked is neither done nor refused."})

    for told in (neutral, neither):
        assert len(told) == 1
        assert "a neutral middle collects every doubt" in told[0]
    assert described == observed == []


def test_levels_that_read_alike_are_warned_of() -> None:
    told = weak({1: "One field is asked for twice.", 2: "one field is asked for twice."})

    assert told == ['dimension "x": two levels read alike, so no judge can tell them apart']


def test_one_letter_of_one_dimension_changes_its_digest_and_no_other(tmp_path: Path) -> None:
    second = FULL.split("dimensions:\n")[1].replace("tone", "other")
    before = load_rubric(written(tmp_path, FULL + second))

    after = load_rubric(written(tmp_path, FULL.replace("in its first", "in the first") + second))

    digests = [[dimension_digest(one) for one in rubric.dimensions] for rubric in (before, after)]
    assert digests[0][0] != digests[1][0]
    assert digests[0][1] == digests[1][1]
    assert rubric_digest(before) != rubric_digest(after)
