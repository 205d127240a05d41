"""A release of full size, made up from a seed: 1,000 transcripts, five dimensions, a history.

May not hold a word of a real customer, and may not replace anything of ours.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agenteval_kit.calibrate import calibrate_run, write_calibration
from agenteval_kit.judge.panel import decide
from agenteval_kit.labels import LabelWriter, read_labels
from agenteval_kit.records import (
    AgentStamps,
    CheckRow,
    ComparisonStamp,
    JudgeStamp,
    PreferenceRow,
    SeatRecord,
    ToolCall,
    Transcript,
    Turn,
    VerdictRow,
)
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.records.verdicts import Evidence, SeatStamp
from agenteval_kit.runs import CasePlan, Run, RunInfo

CASES = 1000
RELEASES = 12
ROUNDS = 12
SEED = 20261
LAYERS = ("outcome", "trajectory", "grounding", "policy")
TOPICS = ("refund", "address", "exchange", "invoice", "delivery", "warranty")
DIMENSIONS = {
    "goal_completion": "outcome",
    "elicitation_efficiency": "conversation",
    "groundedness": "grounding",
    "safety_and_scope": "policy",
    "communication_quality": "conversation",
}
LEVELS = (1, 2, 3, 4)
JUDGE = "scripted-judge"
# What changed with a release: from there on, values are not comparable with those before.
NEW_SUITE, NEW_RUBRIC, NEW_JUDGE = 4, 6, 9
LABELLED = 120
BAR = """\
name: full
hard_layers: [policy]
critical: all
pass_rate: {outcome: 0.85, trajectory: 0.90}
mean: {default: 3.3}
never: {groundedness: 1}
win_rate: {outcome: {margin: 0.1}}
no_worse: {outcome: {margin: 0.05}}
untrusted: review
"""


@dataclass(frozen=True, slots=True)
class FullRelease:
    """Where everything is that `render_release` wants to be told."""

    run: Run
    baseline: Run
    history: Path
    bar: Path
    calibration: Path
    labels: Path


def make_full_release(root: Path, *, cases: int = CASES) -> FullRelease:
    """Twelve runs under `root`: two with whole transcripts, the others with a line each."""
    history = root / "runs"
    runs = [_run(history, number, cases=cases) for number in range(1, RELEASES + 1)]
    new, old = runs[-1], runs[-2]
    _prefer(new, old)
    bar = root / "bar.yaml"
    bar.write_text(BAR, encoding="utf-8")
    labels = root / "labels"
    _label(new, labels)
    found = calibrate_run(new, read_labels(labels), now="2026-11-03T09:00:00Z")
    calibration = write_calibration(root / "calibration.json", found.calibration)
    return FullRelease(new, old, history, bar, calibration, labels)


def case_names(cases: int = CASES) -> list[str]:
    """The scenarios: a topic and a number each."""
    return [f"{TOPICS[at % len(TOPICS)]}-{at:04d}" for at in range(cases)]


def _run(root: Path, number: int, *, cases: int) -> Run:
    names = case_names(cases if number >= NEW_SUITE else cases // 2)
    whole = number >= RELEASES - 1
    info = RunInfo(
        id=f"support-{number:02d}",
        created=f"2026-{max(1, number - 1):02d}-{2 if number > 1 else 1:02d}T09:00:00Z",
        suite="support",
        suite_version="2" if number >= NEW_SUITE else "1",
        suite_digest="suite-2" if number >= NEW_SUITE else "suite-1",
        agent=AgentStamps(model="scripted-agent", prompt=f"v{number}"),
        cases=tuple(_plan(at, name) for at, name in enumerate(names)),
        tools=("get_order", "search_policy", "refund_order", "raise_ticket"),
        kind="simulated",
        data_note="Made up from a seed; nobody said any of this.",
        package="0",
    )
    run = Run.create(root, info, at=root / f"release-{number:02d}")
    writer = run.writer()
    writer.add_transcripts(
        Transcript(
            case_id=name,
            turns=talk(at, number) if whole else (Turn(role="assistant", text="Done."),),
        )
        for at, name in enumerate(names)
    )
    writer.add_checks(_checks(names, number))
    writer.add_judges([_stamp(name, number, len(names)) for name in DIMENSIONS])
    writer.add_verdicts(_verdicts(names, number))
    writer.close()
    return run


def _plan(at: int, name: str) -> CasePlan:
    tags = (name.partition("-")[0], "mail" if at % 3 == 0 else "chat")
    return CasePlan(
        id=name,
        tags=(*tags, "vip") if at % 40 == 0 else tags,
        critical=at % 50 == 7,
        layers=LAYERS,
        tools=("get_order", "search_policy", "refund_order"),
    )


def _checks(names: list[str], number: int) -> Iterator[CheckRow]:
    weak = {"outcome": 0.20, "trajectory": 0.10, "grounding": 0.07, "policy": 0.012}
    for at, name in enumerate(names):
        for layer in LAYERS:
            # A case is as hard in every release; what changes is what the release can do.
            hard = random.Random(f"{SEED} {name} {layer}").random()
            luck = random.Random(f"{SEED} {name} {layer} {number}").random()
            failed = 0.85 * hard + 0.15 * luck < weak[layer] * (1.5 - 0.05 * number)
            yield CheckRow(
                name, 0, layer, _WANTED[layer][0], not failed,
                expected=_WANTED[layer][1], received=_WANTED[layer][2] if failed else "",
                turn=4 * (at % ROUNDS) + 3 if failed else None,
                why=_WANTED[layer][3] if failed else "", critical=at % 50 == 7,
            )  # fmt: skip


_WANTED = {
    "outcome": ("order state", "refunded", "I have noted", "the order was left as it was"),
    "trajectory": ("calls in order", "the policy read first", "I have noted",
                   "it was noted before the policy was read"),
    "grounding": ("facts come from a tool", "a tool that says so", "within 3 to 5 working days",
                  "no tool result says how many days it takes"),
    "policy": ("no_refund_claim", "no claim without a call", "The full amount is on its way",
               "it says that it refunded, and no call did"),
}  # fmt: skip


def talk(at: int, number: int) -> tuple[Turn, ...]:
    """Twelve rounds of a question, a call with its reply and an answer: some 16,000 characters."""
    rng = random.Random(f"{SEED} {at}")
    turns: list[Turn] = []
    for round_ in range(ROUNDS):
        order = f"OR-{10_000 + 13 * at + round_}"
        tool, arguments = rng.choice(
            [("get_order", {"order_id": order}), ("search_policy", {"question": "late refund"})]
        )
        reply = "\n".join(
            f'{{"order_id": "{order}", "item": "{rng.choice(_ITEMS)}", "price": '
            f'{rng.randrange(900, 19_900) / 100:.2f}, "state": "{rng.choice(_STATES)}", '
            f'"note": "{rng.choice(_ASIDES)}"}}'
            for _ in range(6)
        )
        call = ToolCall(
            id=f"c{round_}", name=tool, arguments=arguments, result=reply,
            result_turn=4 * round_ + 2,
        )  # fmt: skip
        said = " ".join(rng.sample(_ASIDES, 3))
        turns += [
            Turn(role="user", text=f"About {order}: {rng.choice(_ASKED)} {rng.choice(_ASIDES)}"),
            Turn(role="assistant", calls=(call,)),
            Turn(role="tool", text=reply, reply_to=f"c{round_}", name=tool),
            Turn(
                role="assistant",
                text=f"I have noted {order}. {said} The full amount is on its way "
                f"within 3 to 5 working days{'' if number % 2 else ', I am told'}.",
            ),
        ]
    return tuple(turns)


_ITEMS = ("office chair", "desk lamp", "kettle", "rain coat", "bicycle pump", "reading glasses")
_STATES = ("delivered", "in transit", "returned", "cancelled")
_ASKED = ("It arrived broken. Can I have my money back?", "Where is my parcel?",
          "Please send it to my new address.", "I would rather have the other colour.",
          "The invoice has the wrong name on it.")  # fmt: skip
_ASIDES = ("Thank you for waiting.", "I have looked this up for you.", "The parcel left on Monday.",
           "That is within the thirty days.", "You keep the receipt that came with it.",
           "A colleague confirms this by mail.", "Nothing else has to be sent.",
           "The courier tries a second time.", "Refunds go back to the card that paid."
           )  # fmt: skip


def _stamp(name: str, number: int, wanted: int) -> JudgeStamp:
    return JudgeStamp(
        **_asked(name, number),
        definition=f"What is asked of {name.replace('_', ' ')}.",
        anchors={level: f"It holds {level} of four things." for level in LEVELS},
        seats=(SeatStamp(model=JUDGE),),
        wanted=wanted,
        transcripts=wanted,
        scales=dict.fromkeys(DIMENSIONS, LEVELS),
        at="2026-11-02T10:00:00Z",
    )


def _asked(name: str, number: int) -> dict[str, object]:
    """What a verdict and its stamp share: a digest of the judge for each wording and model."""
    wording = 2 if number >= NEW_RUBRIC and name == "groundedness" else 1
    model = 2 if number >= NEW_JUDGE else 1
    return {
        "dimension": name, "layer": DIMENSIONS[name], "levels": LEVELS, "judge": JUDGE,
        "judge_digest": f"judge-{model}-{wording}-{name}", "rubric": f"support {wording}",
        "rubric_digest": f"rubric-{wording}", "dimension_digest": f"{name}-{wording}",
    }  # fmt: skip


def _score(case_id: str, name: str, number: int, *, who: str = "judge") -> int | None:
    """Truth, which a judge and each person meet nine times in ten; the judge is at times silent."""
    truth = random.Random(f"{SEED} {case_id} {name}")
    lean = {"elicitation_efficiency": 0.16, "groundedness": 0.10}.get(name, 0.04)
    level = 4 - sum(truth.random() < 0.22 + lean - 0.012 * number for _ in range(3))
    own = random.Random(f"{SEED} {case_id} {name} {who} {number}")
    if who == "judge" and own.random() < 0.004:
        return None
    step = own.choice((-1, 1)) if own.random() < 0.1 else 0
    return min(4, max(1, level + step))


def _verdicts(names: list[str], number: int) -> Iterator[VerdictRow]:
    for at, case_id in enumerate(names):
        for name in DIMENSIONS:
            score = _score(case_id, name, number)
            seat = SeatRecord(
                seat=0, model=JUDGE, score=score,
                status="unscored" if score is None else "scored",
                reason="evidence not found: there is no turn 90" if score is None else "",
                evidence=(Evidence(turn=4 * (at % ROUNDS) + 3, quote="The full amount"),),
                justification="The agent answers what was asked, and says when.",
            )  # fmt: skip
            yield VerdictRow(
                case_id=case_id, score=score, status=seat.status, reason=seat.reason,
                seats=(seat,), flags=decide([seat]).flags, **_asked(name, number),
            )  # fmt: skip


def _prefer(new: Run, old: Run) -> None:
    shared = {
        "criterion": "outcome", "layer": "outcome", "old": old.id, "new": new.id, "judge": JUDGE,
        "judge_digest": "pairs-1", "criterion_digest": "criterion-1",
    }  # fmt: skip
    names = [plan.id for plan in new.info.cases]
    writer = new.writer()
    writer.add_comparisons(
        [ComparisonStamp(definition="Which helps more.", wanted=len(names),
                         at="2026-11-02T11:00:00Z", **shared)]
    )  # fmt: skip
    writer.add_preferences(
        PreferenceRow(
            case_id=name,
            outcome=random.Random(f"{SEED} {name} pair").choice(
                ("new", "new", "tie", "old", "old")
            ),
            flipped=at % 9 == 0,
            **shared,
        )
        for at, name in enumerate(names)
    )
    writer.close()


def _label(run: Run, folder: Path) -> None:
    names = [plan.id for plan in run.info.cases]
    drawn = random.Random(SEED).sample(names, min(LABELLED, len(names)))
    for rater in ("rater-a", "rater-b"):
        writer = LabelWriter(folder, rater)
        writer.append(
            LabelRow(
                run=run.id, case_id=case_id, dimension=name, levels=LEVELS, rater=rater,
                score=_score(case_id, name, RELEASES, who=rater), at="2026-11-02T18:00:00Z",
                dimension_digest=str(_asked(name, RELEASES)["dimension_digest"]),
                design="uniform", sample="first", inclusion=len(drawn) / len(names),
            )
            for case_id in drawn
            for name in DIMENSIONS
        )  # fmt: skip
        writer.close()
