"""One seat of a panel: what it is asked, when it is asked again, and what comes of it.

May not send anything, and never shows a judge its earlier reply.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agenteval_kit.judge.evidence import check_evidence
from agenteval_kit.judge.parse import Parsed, parse_verdict
from agenteval_kit.judge.prompt import ask_again, reply_schema
from agenteval_kit.models.bench import LARGER, Judge, cap_of, capped
from agenteval_kit.models.chat import ChatModel, ChatReply, ChatRequest, ModelError
from agenteval_kit.records import Dimension, SeatRecord, Transcript
from agenteval_kit.shown import turn_text
from agenteval_kit.text import fold
from agenteval_kit.visible import one_line, writable

__all__ = ["EVIDENCE", "Seat"]

EVIDENCE = "evidence not found"


@dataclass(slots=True)
class Seat:
    """A question to one judge, until it is answered.

    Call `request` for what to ask and `take` with each reply, until `record` is set. `failed` is
    set by the caller where no reply came.
    """

    number: int
    judge: Judge
    dimension: Dimension
    transcript: Transcript
    messages: tuple[dict[str, Any], ...]
    record: SeatRecord | None = None
    failed: bool = False
    attempt: int = 0
    cap: int | None = field(init=False)
    _cut: int | None = None
    _doubted: bool = False

    def __post_init__(self) -> None:
        self.cap = cap_of(self.judge.parameters)

    @property
    def model(self) -> ChatModel:
        """Who is asked."""
        return self.judge.model

    def request(self) -> ChatRequest:
        """What to ask now."""
        messages = ask_again(self.messages, "evidence") if self._doubted else self.messages
        return ChatRequest(
            model=self.judge.model.name,
            endpoint=self.judge.model.endpoint,
            messages=messages,
            schema=reply_schema(self.dimension),
            parameters=capped(self.judge.parameters, self.cap if self._cut is not None else None),
            seat=self.number,
            repeat=self.transcript.repeat,
            attempt=self.attempt,
        )

    def take(self, reply: ChatReply) -> None:
        """Read a reply; afterwards either `record` is set or there is more to ask."""
        if reply.refusal is not None:
            self._close(reply, reason=f"the judge refused: {one_line(reply.refusal)}")
            return
        if reply.finish == "content_filter":
            self._close(reply, reason="the judge refused: its provider's filter cut in")
            return
        parsed = parse_verdict(reply.text, self.dimension.levels, names=self.dimension.reply)
        # A cut reply may hold a whole object by accident; the model was not done with it.
        if reply.finish == "length":
            self._take_cut(reply)
            return
        if parsed.score is None:
            self._close(reply, parsed, reason=parsed.reason)
            return
        if self._repeats_transcript(parsed):
            self._close(reply, parsed, reason="ambiguous: the verdict stands in the transcript, "
                                              "word for word")  # fmt: skip
            return
        checked = check_evidence(
            parsed.evidence,
            parsed.score,
            dimension=self.dimension,
            transcript=self.transcript,
        )
        if not checked.problem:
            self._close(reply, parsed, score=parsed.score, evidence=checked.evidence)
        elif not self._doubted:
            self._doubted = True
            self.attempt += 1
        else:
            self._close(reply, parsed, reason=f"{EVIDENCE}: {checked.problem}",
                        evidence=checked.evidence)  # fmt: skip

    def refuse(self, error: ModelError) -> None:
        """The server refused the request itself (too long, say): asking again would not help."""
        what = "the request was refused"
        if self._cut is not None:
            what = f"truncated: the reply was cut at {self._cut} tokens, and more were refused"
        self.record = SeatRecord(
            seat=self.number,
            model=self.judge.model.name,
            status="unscored",
            reason=writable(f"{what}: {one_line(str(error), 300)}"),
            attempts=self.attempt + 1,
        )

    def _take_cut(self, reply: ChatReply) -> None:
        if self._cut is None:
            self._cut = self.cap or reply.output_tokens or 1024
            self.cap = LARGER * self._cut
            self.attempt += 1
            return
        self._close(
            reply,
            reason=f"truncated: the reply was cut at {self._cut} tokens and again at {self.cap}; "
            "give max_tokens in judge: parameters",
        )

    def _repeats_transcript(self, parsed: Parsed) -> bool:
        """Whether the object that was read is a quotation: what an agent planted is no verdict."""
        source = fold(parsed.source)
        return any(
            source in fold(turn_text(self.transcript, number))
            for number in range(len(self.transcript.turns))
        )

    def _close(
        self,
        reply: ChatReply,
        parsed: Parsed | None = None,
        *,
        score: int | None = None,
        reason: str = "",
        evidence: tuple[Any, ...] = (),
    ) -> None:
        self.record = SeatRecord(
            seat=self.number,
            model=self.judge.model.name,
            model_served=reply.model,
            score=score,
            status="unscored" if score is None else "scored",
            reason=writable(reason),
            evidence=evidence,
            justification=writable(parsed.justification) if parsed else "",
            repaired=parsed.repaired if parsed else "",
            attempts=self.attempt + 1,
            reply=writable(reply.text),
            notes=reply.notes,
        )
