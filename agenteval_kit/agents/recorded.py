"""An agent that plays back transcripts which were recorded elsewhere.

May not change them, and asks no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from agenteval_kit.errors import ConfigError, StampError, did_you_mean
from agenteval_kit.models.agent import AgentReply, Item
from agenteval_kit.records import AgentStamps, Transcript
from agenteval_kit.text import counted

__all__ = ["RecordedAgent", "recorded_stamps"]


class RecordedAgent:
    """Recorded transcripts as an agent, found by case id and repeat.

    Parameters
    ----------
    transcripts : mapping of (case id, repeat) to Transcript
        The recording.
    stamps : AgentStamps
        Which agent was recorded.
    name : str
        For people.
    """

    plays_back = True
    shares_state = False
    timeout: float | None = None

    def __init__(
        self,
        transcripts: Mapping[tuple[str, int], Transcript],
        *,
        stamps: AgentStamps,
        name: str = "recorded",
    ) -> None:
        self.transcripts = transcripts
        self.stamps = stamps
        self.name = name
        self.notes: tuple[str, ...] = ()
        self.said: tuple[dict[str, Any], ...] = ()

    def fresh(self) -> RecordedAgent:
        """Itself: a recording has no state."""
        return self

    def reset(self, case: Item, *, now: datetime | None = None) -> None:
        """Do nothing: a recording has no state."""

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, now: datetime, case: Item, repeat: int = 0
    ) -> AgentReply:
        """The recorded conversation of this case and repeat.

        Raises
        ------
        ConfigError
            If it was not recorded.
        """
        found = self.transcripts.get((case.id, repeat))
        if found is not None:
            return AgentReply(transcript=found)
        repeats = sorted(other for name, other in self.transcripts if name == case.id)
        if repeats:
            raise ConfigError(
                f'"{case.id}" has no repeat {repeat} in the recording; it has '
                f"{', '.join(map(str, repeats))}. Ask for {counted(len(repeats), 'repeat')} or "
                "fewer"
            )
        known = {name for name, _ in self.transcripts}
        raise ConfigError(f'"{case.id}" is not in the recording.{did_you_mean(case.id, known)}')


def recorded_stamps(
    transcripts: Iterable[Transcript], *, model: str | None, prompt: str | None, file: str
) -> AgentStamps:
    """Stamps of a recording: those that a person gives, else those that its transcripts carry.

    Raises
    ------
    StampError
        If there are neither, or if the transcripts come from several agents.
    """
    if model is not None and prompt is not None:
        return AgentStamps(model=model, prompt=prompt, origin="recorded")
    carried = {stamps for one in transcripts for stamps in [_hashable(one.stamps)]}
    found = [one for one in carried if one is not None]
    if len(carried) == 1 and found:
        return AgentStamps.model_validate_json(found[0])
    if len(found) > 1:
        raise StampError(
            f"{file}: holds transcripts of {len(found)} agents; record each agent in a file of "
            "its own"
        )
    raise StampError(
        f"{file}: the transcripts carry no stamps; add agent: {{model, prompt}} beside recorded"
    )


def _hashable(stamps: AgentStamps | None) -> str | None:
    return None if stamps is None else stamps.model_dump_json()
