"""A pair while it is being judged in both orders, and the row that comes of it.

May not send anything, and never shows a judge its earlier reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from agenteval_kit.errors import AgentEvalError
from agenteval_kit.models.bench import LARGER, cap_of
from agenteval_kit.models.chat import ChatModel, ChatReply, ChatRequest, ModelError
from agenteval_kit.models.names import is_same_model
from agenteval_kit.pairwise.instrument import Instrument
from agenteval_kit.pairwise.pairs import Pair
from agenteval_kit.pairwise.reply import Preferred, parse_preference
from agenteval_kit.records import AgentStamps
from agenteval_kit.records.preferences import OrderRecord, Outcome, PreferenceRow, Side
from agenteval_kit.text import fold
from agenteval_kit.visible import one_line, writable

__all__ = ["Order", "Pending", "Versions"]

_FIRST: tuple[Side, Side] = ("old", "new")


@dataclass(frozen=True)
class Versions:
    """The two sides of a comparison.

    Attributes
    ----------
    old, new : str
        Run ids, or names.
    agents : mapping of str to AgentStamps
        Of each side, where there is an agent.
    """

    old: str
    new: str
    agents: Mapping[str, AgentStamps] = field(default_factory=dict)

    @cached_property
    def same_agent(self) -> bool:
        """Whether both sides wear the same stamps: A against A."""
        if len(self.agents) < 2:
            return False
        # The served name is what the provider said, not what was chosen.
        one, two = (
            self.agents[side].model_dump(exclude={"model_served"}) for side in ("old", "new")
        )
        return one == two


@dataclass(slots=True)
class Order:
    """One pair in one order of showing, until it is answered.

    Ask `request` and hand each reply to `take`, until `record` is set. `failed` is set by the
    caller where no reply came.
    """

    pending: Pending
    number: int
    record: OrderRecord | None = None
    failed: bool = False
    attempt: int = 0
    _cut: int | None = None
    _cap: int | None = None

    @property
    def model(self) -> ChatModel:
        """Who is asked."""
        return self.pending.instrument.model

    def request(self) -> ChatRequest:
        """What to ask now."""
        pair = self.pending.pair
        assert pair.shown is not None  # only pairs that a judge can be shown have orders
        return self.pending.instrument.request(
            pair.shown,
            order=self.number,
            repeat=pair.repeat,
            attempt=self.attempt,
            cap=self._cap,
        )

    def take(self, reply: ChatReply) -> None:
        """Read a reply; afterwards either `record` is set or there is more to ask."""
        if reply.refusal is not None:
            self._close(reply, reason=f"the judge refused: {one_line(reply.refusal)}")
        elif reply.finish == "content_filter":
            self._close(reply, reason="the judge refused: its provider's filter cut in")
        elif reply.finish == "length":
            # A cut reply may hold a whole object by accident; the model was not done with it.
            self._take_cut(reply)
        else:
            read = parse_preference(reply.text)
            if read.value is not None and self._repeats_candidate(read):
                self._close(
                    reply, read,
                    reason="ambiguous: the reply stands in a candidate, word for word",
                )  # fmt: skip
            elif read.value is None:
                self._close(reply, read, reason=read.reason)
            else:
                self._close(reply, read, preferred=self._side(read.value))

    def refuse(self, error: ModelError) -> None:
        """The server refused the request itself (too long, say): asking again would not help."""
        self.record = OrderRecord(
            first=_FIRST[self.number],
            reason=f"the request was refused: {one_line(str(error), 300)}",
            attempts=self.attempt + 1,
        )

    def _take_cut(self, reply: ChatReply) -> None:
        if self._cut is None:
            self._cut = cap_of(self.pending.instrument.parameters) or reply.output_tokens or 1024
            self._cap = LARGER * self._cut
            self.attempt += 1
            return
        self._close(
            reply,
            reason=f"truncated: the reply was cut at {self._cut} tokens and again at {self._cap}; "
            "give the judge a larger max_tokens",
        )

    def _side(self, slot: str) -> Outcome:
        if slot == "TIE":
            return "tie"
        first, second = (_FIRST[self.number], _FIRST[1 - self.number])
        return first if slot == "A" else second

    def _repeats_candidate(self, read: Preferred) -> bool:
        """Whether the object that was read is a quotation: what an agent planted is no verdict."""
        source = fold(read.source)
        return any("preferred" in text and source in fold(text) for text in self.pending.pair.texts)

    def _close(
        self,
        reply: ChatReply,
        read: Preferred | None = None,
        *,
        preferred: Outcome | None = None,
        reason: str = "",
    ) -> None:
        self.record = OrderRecord(
            first=_FIRST[self.number],
            preferred=preferred,
            reason=writable(reason),
            because=writable(read.because) if read else "",
            repaired=read.repaired if read else "",
            attempts=self.attempt + 1,
            reply=writable(reply.text),
            model_served=reply.model,
            notes=reply.notes,
        )


@dataclass(slots=True)
class Pending:
    """One pair under one instrument, until both orders have answered.

    Attributes
    ----------
    parts : tuple of Order
        Both orders; none where there is nothing to ask.
    error : AgentEvalError or None
        An infrastructure failure: there will be no row, and the next call asks again.
    """

    instrument: Instrument
    pair: Pair
    versions: Versions
    parts: tuple[Order, ...] = ()
    error: AgentEvalError | None = None

    def __post_init__(self) -> None:
        if self.pair.shown is not None:
            self.parts = (Order(self, 0), Order(self, 1))

    def row(self) -> PreferenceRow:
        """The preference, once settled: the orders' where they agree, a tie where they do not."""
        pair, instrument, versions = self.pair, self.instrument, self.versions
        records = tuple(order.record for order in self.parts if order.record is not None)
        flags = list(pair.flags)
        outcome, reason, flipped = pair.outcome, pair.reason, None
        if self.parts:
            outcome, reason, flipped = settle_orders(records)
            if flipped:
                flags.insert(0, "position_flip")
        names = {instrument.model.name, *(one.model_served for one in records)}
        sides = [
            side
            for side, agent in versions.agents.items()
            if any(is_same_model(name, agent) for name in names)
        ]
        return PreferenceRow(
            case_id=pair.case_id,
            repeat=pair.repeat,
            criterion=instrument.criterion.name,
            layer=instrument.criterion.layer,
            old=versions.old,
            new=versions.new,
            outcome=outcome,
            reason=reason,
            by="judge" if self.parts else "code",
            orders=records,
            flipped=flipped,
            flags=tuple(flags),
            judge=instrument.judge,
            judge_digest=instrument.judge_digest,
            criterion_digest=instrument.criterion_digest,
            same_model=tuple(side for side in _FIRST if side in sides),
            same_agent=versions.same_agent,
        )


def settle_orders(records: tuple[OrderRecord, ...]) -> tuple[Outcome | None, str, bool | None]:
    """Outcome, reason and whether the orders disagree, of a pair that was shown both ways.

    Examples
    --------
    >>> settle_orders((OrderRecord(first="old", preferred="old"),
    ...                OrderRecord(first="new", preferred="new")))
    ('tie', 'the two orders disagree: old with old first, new with new first', True)
    """
    unread = [f"{one.first} first: {one.reason}" for one in records if one.preferred is None]
    if unread or len(records) != 2:
        return None, "; ".join(unread) or "judged in one order only", None
    one, two = records
    if one.preferred == two.preferred:
        return one.preferred, "both orders say TIE" if one.preferred == "tie" else "", False
    told = ", ".join(f"{record.preferred} with {record.first} first" for record in records)
    return "tie", f"the two orders disagree: {told}", True
