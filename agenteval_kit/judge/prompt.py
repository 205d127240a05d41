"""From a dimension and a transcript to what a judge is sent, and the digest of how it is asked.

May not send anything. Values are put in once and never read again as a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from agenteval_kit.models.template import fill, placeholders
from agenteval_kit.records import Case, Dimension, Source, ToolCall, Transcript, Turn
from agenteval_kit.records.rubrics import INPUTS, span
from agenteval_kit.shown import Item, block, show_input

__all__ = ["SPECIMEN", "ask_again", "build_messages", "reply_schema"]

_SHIPPED = Path(__file__).resolve().parent.parent / "prompts" / "judge.md"
_SPLIT = "<!-- data -->"

_AGAIN = {
    "evidence": (
        "An earlier reply to this was set aside: a turn or a quotation in its evidence was not in "
        "the record. Copy quotations letter by letter from one line or neighbouring lines of the "
        "turn that you name."
    ),
}
"""What is added when a question is put once more. The reply that failed is never shown again."""


@lru_cache(maxsize=1)
def _template() -> str:
    return _SHIPPED.read_text(encoding="utf-8")


def build_messages(
    dimension: Dimension, transcript: Transcript, item: Item | None, *, clock: str | None
) -> tuple[dict[str, Any], ...]:
    """The chat messages that ask for one verdict.

    Parameters
    ----------
    dimension : Dimension
        An absolute one.
    transcript : Transcript
        What is judged.
    item : Case or Scenario, optional
        Whose expected outcome or sentence is shown where the dimension asks for it.
    clock : str, optional
        The case's moment.

    Raises
    ------
    ConfigError
        If the template names a placeholder that is not defined.
    """
    template = dimension.prompt or _template()
    values = {**_texts(dimension), **_data(dimension, transcript, item, clock, template)}
    # Split before anything is put in: a transcript may hold the same mark.
    head, mark, tail = template.partition(_SPLIT)
    if not mark:
        return ({"role": "user", "content": fill(template, values)},)
    return (
        {"role": "system", "content": fill(head, values).strip()},
        {"role": "user", "content": fill(tail, values).strip()},
    )


def ask_again(messages: tuple[dict[str, Any], ...], why: str) -> tuple[dict[str, Any], ...]:
    """The same question with a sentence on what was wrong with the reply, not with the reply."""
    *before, last = messages
    return (*before, {**last, "content": f"{last['content']}\n\n{_AGAIN[why]}"})


def reply_schema(dimension: Dimension) -> dict[str, Any]:
    """JSON Schema of the wanted reply: evidence first, then the reason, then a level."""
    names = dimension.reply
    fields: dict[str, Any] = {}
    if names.claim is not None:
        fields[names.claim] = {"type": ["string", "null"]}
    elif dimension.evidence.kind == "turns":
        fields["evidence"] = _list_of({"turn": {"type": "integer"}})
    elif dimension.evidence.kind == "quote":
        fields["evidence"] = _list_of({"turn": {"type": "integer"}, "quote": {"type": "string"}})
    fields[names.justification] = {"type": "string"}
    fields[names.score] = {"type": "integer", "enum": list(dimension.levels)}
    return _closed(fields)


def _closed(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def _list_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _closed(fields)}


def _texts(dimension: Dimension) -> dict[str, str]:
    levels = dimension.levels
    anchors = [
        f"{level}: {dimension.anchors.get(level, '(between the levels around it)').strip()}"
        for level in reversed(levels)
    ]
    earns = [f"- {text}" for text in dimension.not_rewarded]
    return {
        "name": dimension.name,
        "definition": dimension.definition.strip(),
        "anchors": "\n".join(anchors),
        "levels": span(levels),
        "not_rewarded": "\n".join(["These neither raise nor lower the score:", *earns])
        if earns
        else "",
        "evidence": _evidence(dimension),
        "reply": _reply(dimension),
    }


def _evidence(dimension: Dimension) -> str:
    kind, wanted = dimension.evidence.kind, dimension.evidence_at
    free = [level for level in dimension.levels if level not in wanted]
    claim = dimension.reply.claim
    if kind == "none":
        return "No evidence is asked for."
    if claim is not None:
        return (
            f'"{claim}" is the words of the agent that keep the score from being higher, copied '
            f"letter by letter from one turn{_or_null(free)}."
        )
    asked = (
        "name the turns that the score rests on"
        if kind == "turns"
        else "name the turns that the score rests on, and quote from each the words that decide "
        "it, copied letter by letter and without leaving anything out"
    )
    text = f"Evidence: {asked}."
    if free and wanted:
        shown = ", ".join(map(str, free))
        text += f" At {shown} there may be nothing to point at; the list may then be empty."
    return text


def _or_null(free: list[int]) -> str:
    return f"; at {', '.join(map(str, free))} it is null" if free else ""


def _reply(dimension: Dimension) -> str:
    names, kind = dimension.reply, dimension.evidence.kind
    fields = []
    if names.claim is not None:
        fields.append(f'"{names.claim}": "..." or null')
    elif kind == "turns":
        fields.append('"evidence": [{"turn": 0}, ...]')
    elif kind == "quote":
        fields.append('"evidence": [{"turn": 0, "quote": "..."}, ...]')
    fields.append(f'"{names.justification}": "one sentence"')
    fields.append(f'"{names.score}": one of {", ".join(map(str, dimension.levels))}')
    return "{" + ",\n ".join(fields) + "}"


def _data(
    dimension: Dimension,
    transcript: Transcript,
    item: Item | None,
    clock: str | None,
    template: str,
) -> dict[str, str]:
    wanted = {*dimension.inputs, *placeholders(template)}
    shown = {name: show_input(name, transcript, item) for name in INPUTS if name in wanted}
    now = block("now", [clock]) if clock else None
    asked = [now, *(shown[name] for name in dimension.inputs)]
    return {
        **{name: text or "" for name, text in shown.items()},
        "now": now or "",
        "inputs": "\n\n".join(text for text in asked if text),
    }


SPECIMEN = (
    Transcript(
        case_id="specimen",
        turns=(
            Turn(role="user", text="A <question>."),
            Turn(
                role="assistant",
                text="A moment.",
                calls=(
                    ToolCall(id="c", name="tool", arguments={"a": 1}, result="r", result_turn=2),
                ),
            ),
            Turn(role="tool", text="r", name="tool", reply_to="c"),
            Turn(role="assistant", text="An answer.", refusal="No."),
        ),
        output={"a": 1},
        sources=(Source(id="s", text="A passage."),),
        system="Instructions.",
    ),
    Case(id="specimen", input="A question.", expected_outcome="An outcome.", rubric="A sentence."),
)
"""One of everything: the digest of a judge is taken over the prompt that this gives."""
