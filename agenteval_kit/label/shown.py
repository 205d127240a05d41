"""A transcript as plain JSON for whoever shows it; what is too long is cut, and can be had whole.

May not know of labels, verdicts or samples.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.records import Dimension, Transcript
from agenteval_kit.visible import show_hidden

__all__ = ["LONGEST", "ShownTranscript", "show_dimension"]

LONGEST = 20_000
"""Characters of one text that are shown before it is opened whole."""


@dataclass(frozen=True)
class ShownTranscript:
    """What may be shown of a transcript.

    Attributes
    ----------
    content : dict
        ``turns``, ``sources``, ``output``, ``system``, ``ended``; and ``cut``, which names each
        text that was cut by its place and says how many characters were left out.
    whole : dict of str to str
        The texts that were cut, by place.
    """

    content: Mapping[str, Any]
    whole: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, transcript: Transcript, *, system: bool = False) -> ShownTranscript:
        """What may be shown of this one; `system` where the judge reads the agent's instructions.

        Characters that act or hide (terminal codes, turned reading direction) are shown as signs.
        """
        whole: dict[str, str] = {}
        cut: list[dict[str, Any]] = []

        def text(value: str | None, place: str) -> str:
            shown = show_hidden(value or "")
            if len(shown) <= LONGEST:
                return shown
            left = len(shown) - LONGEST
            whole[place] = shown
            cut.append({"place": place, "left_out": left})
            return f"{shown[:LONGEST]}\n… {left:,} characters left out"

        answered = {
            call.result_turn: turn
            for turn, call in transcript.calls()
            if call.result_turn is not None and call.result is not None
        }
        turns = [
            {
                "turn": index,
                "role": turn.role,
                "name": show_hidden(turn.name or ""),
                "text": text(turn.text, f"turns/{index}/text"),
                "refusal": text(turn.refusal, f"turns/{index}/refusal"),
                # The result stands with its call already; a front may leave this turn folded.
                "answers": answered.get(index),
                "calls": [
                    {
                        "name": show_hidden(call.name),
                        "arguments": text(
                            call.raw or "" if call.arguments is None else _json(call.arguments),
                            f"turns/{index}/calls/{number}/arguments",
                        ),
                        "malformed": show_hidden(call.malformed or ""),
                        "result": None
                        if call.result is None
                        else text(call.result, f"turns/{index}/calls/{number}/result"),
                        "result_turn": call.result_turn,
                        "error": text(call.error, f"turns/{index}/calls/{number}/error"),
                    }
                    for number, call in enumerate(turn.calls)
                ],
            }
            for index, turn in enumerate(transcript.turns)
        ]
        content = {
            "turns": turns,
            "sources": [
                {
                    "id": show_hidden(one.id),
                    "text": text(one.text, f"sources/{index}/text"),
                    "turn": one.turn,
                }
                for index, one in enumerate(transcript.sources)
            ],
            "output": "" if transcript.output is None else text(_json(transcript.output), "output"),
            "system": text(transcript.system, "system") if system else "",
            "ended": " ".join(show_hidden(part) for part in _ended(transcript)),
            "cut": cut,
        }
        return cls(content, whole)

    def text(self, place: str) -> str:
        """A text that was cut, whole.

        Raises
        ------
        ConfigError
            If nothing was cut there.
        """
        if not isinstance(place, str) or place not in self.whole:
            known = ", ".join(self.whole) or "nothing"
            raise ConfigError(f'no text was cut at "{place}"; cut was: {known}')
        return self.whole[place]


def show_dimension(dimension: Dimension) -> dict[str, Any]:
    """A dimension as a rater reads it: definition, levels, anchors, what is not rewarded."""
    return {
        "name": dimension.name,
        "definition": dimension.definition,
        "levels": list(dimension.levels),
        "anchors": {str(level): dimension.anchors.get(level, "") for level in dimension.levels},
        "not_rewarded": list(dimension.not_rewarded),
        "inputs": list(dimension.inputs),
    }


def _ended(transcript: Transcript) -> Iterable[str]:
    """How it ended, where that is not plain from the turns."""
    if transcript.failure is not None:
        yield f"the agent's side failed ({transcript.failure.kind}): {transcript.failure.type}"
    elif transcript.stop == "turn_budget":
        yield "the conversation reached its limit of turns"


def _json(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1)
