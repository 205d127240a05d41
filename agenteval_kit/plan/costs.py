"""What judging would cost in calls, tokens and money, before any judge is loaded.

May not ask anybody. Tokens are guessed from characters; what has no price stays unknown, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.judge.prompt import build_messages
from agenteval_kit.models.endpoint import endpoint_of
from agenteval_kit.models.estimate import CHARACTERS_A_TOKEN, TOKENS_A_REPLY
from agenteval_kit.models.prices import Price, price_of
from agenteval_kit.plan.shown import answer_html
from agenteval_kit.records import Case, Dimension, JudgeSpec, Rubric, Scenario, Transcript
from agenteval_kit.records.suites import SeatSpec
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DimensionCost", "JudgeCost", "plan_costs"]

Item = Case | Scenario
MOST_READ = 50
"""Transcripts whose prompts are measured; the mean of a spread-out sample is close enough."""


@dataclass(frozen=True, slots=True)
class DimensionCost:
    """One dimension: transcripts it is asked of, seats, and what all of them take together.

    `orders` is 2 for a pairwise criterion, since each pair is judged in both orders.
    """

    dimension: str
    kind: str
    transcripts: int
    seats: int
    orders: int
    calls: int
    input_tokens: int | None
    output_tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class JudgeCost:
    """What one judging of a run would take.

    Attributes
    ----------
    cases, repeats : int
        Of the run that is judged.
    dimensions : tuple of DimensionCost
        Pairwise criteria last.
    models : tuple of str
        Who would judge; empty where nobody is named.
    usd : float or None
        US dollars; None where it is unknown, and `unknown` says why.
    unknown : str
        What is not known, in words.
    assumption, method : str
        In words.
    """

    cases: int
    repeats: int
    dimensions: tuple[DimensionCost, ...]
    models: tuple[str, ...]
    usd: float | None
    unknown: str
    assumption: str
    method: str

    @property
    def question(self) -> str:
        """What this answers."""
        return "What would judging cost?"

    @property
    def calls(self) -> int:
        """Calls of all dimensions, in absolute scoring and pairwise."""
        return sum(one.calls for one in self.dimensions)

    @property
    def input_tokens(self) -> int | None:
        """Tokens that are sent; None where they are unknown for some dimension."""
        known = [one.input_tokens for one in self.dimensions]
        return None if None in known else sum(one for one in known if one is not None)

    @property
    def output_tokens(self) -> int:
        """Tokens of the replies."""
        return sum(one.output_tokens for one in self.dimensions)

    def lines(self) -> tuple[str, ...]:
        """The answer in words."""
        if not self.dimensions:
            return ("nothing would be judged",)
        told = [f"{counted(self.calls, 'judge call')} for {counted(self.cases, 'case')}"]
        if self.repeats > 1:
            told[0] += f" × {self.repeats} repeats"
        each = ", ".join(_times(one) for one in self.dimensions)
        told.append(f"transcripts × seats: {each}")
        tokens = self.input_tokens
        sent = "tokens sent: unknown" if tokens is None else f"about {tokens:,} tokens sent"
        money = "cost unknown" if self.usd is None else f"about {self.usd:,.2f} US dollars"
        told.append(f"{sent}, {self.output_tokens:,} in replies; {money}")
        if self.unknown:
            told[-1] += f" ({self.unknown})"
        return tuple(told)

    @property
    def sentence(self) -> str:
        """The lines as one."""
        return "; ".join(self.lines())

    def frame(self) -> pd.DataFrame:
        """One row per dimension.

        Columns: dimension, kind (absolute or pairwise), transcripts, seats, orders, calls,
        input_tokens (missing where unknown), output_tokens (int), usd (missing where unknown).
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        names = ["dimension", "kind", "transcripts", "seats", "orders", "calls", "input_tokens",
                 "output_tokens", "usd"]  # fmt: skip
        rows = [[getattr(one, name) for name in names] for one in self.dimensions]
        frame = pd.DataFrame(rows, columns=names)
        return frame.astype({"input_tokens": "Int64", "usd": "float64"})

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return {
            "question": self.question,
            "answer": self.sentence,
            "cases": self.cases,
            "repeats": self.repeats,
            "models": list(self.models),
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd,
            "unknown": self.unknown,
            "dimensions": [
                {name: getattr(one, name) for name in DimensionCost.__slots__}
                for one in self.dimensions
            ],
            "assumption": self.assumption,
            "method": self.method,
        }

    def _repr_html_(self) -> str:
        return answer_html(self)


def plan_costs(
    rubric: Rubric,
    *,
    cases: int,
    repeats: int = 1,
    judges: JudgeSpec | Sequence[str] = (),
    transcripts: Iterable[Transcript] = (),
    items: Iterable[Item] = (),
    pairwise: bool = False,
    prices: Mapping[str, Price] | None = None,
) -> JudgeCost:
    """Calls = cases × repeats × dimensions × seats; tokens and money where they can be known.

    Parameters
    ----------
    rubric : Rubric
        Its dimensions and their panels.
    cases, repeats : int
        Of the run to be judged.
    judges : JudgeSpec or names
        Seat i of a panel is model i, from the first again where there are fewer.
    transcripts : iterable of Transcript
        Of an earlier run: their prompts are measured. Without any, tokens are unknown.
    items : iterable of Case or Scenario
        The suite's: which dimensions apply to which, and what is shown of them. With all `cases`
        of them given, a dimension counts the cases that it applies to.
    pairwise : bool
        Whether the rubric's pairwise criteria would be asked too, in both orders.
    prices : mapping, optional
        In place of the shipped list (`models.prices.read_prices`).

    Raises
    ------
    ConfigError
        If cases or repeats is below 1, or a base URL is no address.
    """
    if cases < 1 or repeats < 1:
        raise ConfigError(f"a plan wants 1 case and 1 repeat or more, got {cases} and {repeats}.")
    seats = _seats(judges)
    by_id = {item.id: item for item in items}
    read = _spread_out(list(transcripts))
    made: list[DimensionCost] = []
    for dimension in rubric.absolute():
        share = _share_asked(dimension, by_id)
        asked = round(share * cases) * repeats
        made.append(_cost(dimension, asked, _mean_tokens(dimension, read, by_id), seats, prices))
    for dimension in rubric.pairwise() if pairwise else ():
        made.append(_cost(dimension, cases * repeats, None, seats, prices))
    known = [one.usd for one in made]
    usd = None if None in known else sum(one for one in known if one is not None)
    measured = (
        f"prompts of {counted(len(read), 'transcript')}" if read else "no transcripts to measure"
    )
    return JudgeCost(
        cases=cases,
        repeats=repeats,
        dimensions=tuple(made),
        models=tuple(dict.fromkeys(seat.name for seat in seats)),
        usd=usd,
        unknown=_unknown(made, seats, prices),
        assumption=(
            f"each seat is asked once; cut replies, evidence that is not found and levels asked "
            f"for again come on top; {TOKENS_A_REPLY} tokens a reply"
        ),
        method=(
            f"calls = cases × repeats × dimensions × seats; tokens = characters / "
            f"{CHARACTERS_A_TOKEN} ({measured}){_read_on(seats, prices)}"
        ),
    )


def _cost(
    dimension: Dimension,
    asked: int,
    tokens: float | None,
    seats: Sequence[SeatSpec],
    prices: Mapping[str, Price] | None,
) -> DimensionCost:
    orders = 2 if dimension.kind == "pairwise" else 1
    a_seat = asked * orders
    usd: float | None = 0.0
    if not seats:
        usd = None
    for seat in range(dimension.panel) if seats else ():
        price = _price(seats[seat % len(seats)], prices)
        sent = None if tokens is None else round(a_seat * tokens)
        cost = None if price is None else price.cost(sent, a_seat * TOKENS_A_REPLY)
        usd = None if usd is None or cost is None else usd + cost
    calls = a_seat * dimension.panel
    return DimensionCost(
        dimension=dimension.name,
        kind=dimension.kind,
        transcripts=asked,
        seats=dimension.panel,
        orders=orders,
        calls=calls,
        input_tokens=None if tokens is None else round(calls * tokens),
        output_tokens=calls * TOKENS_A_REPLY,
        usd=usd,
    )


def _seats(judges: JudgeSpec | Sequence[str]) -> list[SeatSpec]:
    if isinstance(judges, JudgeSpec):
        return list(judges.models)
    names = [judges] if isinstance(judges, str) else list(judges)
    return [SeatSpec(name=name) for name in names]


def _price(seat: SeatSpec, prices: Mapping[str, Price] | None) -> Price | None:
    if prices is not None:
        return price_of(seat.name, prices=prices)
    if seat.base_url is not None:
        return price_of(seat.name, endpoint=endpoint_of(seat.base_url))
    # Where an environment variable names the server, which one it is is not known here.
    return None if seat.base_url_env is not None else price_of(seat.name)


def _read_on(seats: Sequence[SeatSpec], prices: Mapping[str, Price] | None) -> str:
    """The days on which the prices were read; empty where none is known."""
    known = [price for seat in seats if (price := _price(seat, prices)) is not None]
    days = dict.fromkeys(price.as_of for price in known)
    return f"; list prices of {', '.join(days)}" if days else ""


def _spread_out(transcripts: list[Transcript]) -> list[Transcript]:
    if len(transcripts) <= MOST_READ:
        return transcripts
    return [transcripts[at * len(transcripts) // MOST_READ] for at in range(MOST_READ)]


def _applies(dimension: Dimension, item: Item | None) -> bool:
    if item is None:
        return "rubric" not in dimension.inputs
    if item.dimensions is not None and dimension.name not in item.dimensions:
        return False
    return "rubric" not in dimension.inputs or bool(item.rubric)


def _share_asked(dimension: Dimension, items: Mapping[str, Item]) -> float:
    if not items:
        return 1.0
    return sum(_applies(dimension, item) for item in items.values()) / len(items)


def _mean_tokens(
    dimension: Dimension, transcripts: Sequence[Transcript], items: Mapping[str, Item]
) -> float | None:
    lengths = [
        len(json.dumps(build_messages(dimension, one, items.get(one.case_id), clock=one.now)))
        for one in transcripts
        if not items or _applies(dimension, items.get(one.case_id))
    ]
    return sum(lengths) / len(lengths) / CHARACTERS_A_TOKEN if lengths else None


def _times(one: DimensionCost) -> str:
    orders = " × 2 orders" if one.orders == 2 else ""
    return f"{one.dimension} {one.transcripts:,} × {one.seats}{orders}"


def _unknown(
    made: Sequence[DimensionCost], seats: Sequence[SeatSpec], prices: Mapping[str, Price] | None
) -> str:
    told = []
    if not seats:
        told.append("no judge is named")
    priceless = [seat.name for seat in seats if _price(seat, prices) is None]
    if priceless:
        told.append(f"no price is known for {', '.join(dict.fromkeys(priceless))}")
    unread = [one.dimension for one in made if one.input_tokens is None]
    if unread:
        told.append(f"the length of the prompts is not known for {', '.join(unread)}")
    return "; ".join(told)
