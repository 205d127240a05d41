"""Tables as people and screen readers need them: caption, scopes, units, nothing left bare.

May not compute: cells come as text or `Html`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agenteval_kit.report.markup import Html, Part, join, tag
from agenteval_kit.report.wording import sentence
from agenteval_kit.stats.estimate import digits_shown
from agenteval_kit.text import p_value

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column", "facts", "frame_table", "table"]

_TITLES = {"diag": "doubts"}
"""What readers are told in place of the word of a frame."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading, and how its cells stand.

    `kind` is "text", "number" (right-aligned, not wrapped), "figure", "note" (small and soft) or
    "prose" (the same, with room for a sentence).
    `label` names its cells where rows are stacked; the title does where it is text.
    """

    title: Part
    kind: Literal["text", "number", "figure", "note", "prose"] = "text"
    label: str | None = None

    @property
    def style(self) -> str | None:
        """The class of its cells."""
        return None if self.kind == "text" else self.kind

    @property
    def name(self) -> str | None:
        """What stands before a cell that is stacked."""
        return self.label or (self.title if isinstance(self.title, str) else None)


def table(
    columns: Sequence[Column | str],
    rows: Iterable[Sequence[Part]],
    *,
    caption: Part,
    empty: str = "none",
    compact: bool = False,
) -> Html:
    """A table whose first column names the row; a column in which nothing stands is left out.

    Parameters
    ----------
    columns : sequence of Column or str
        Headings; a string is a text column.
    rows : iterable of sequences
        Cells; strings are escaped, None reads "not known".
    caption : str or Html
        What the table holds and how its numbers were made.
    empty : str
        What is said, after the caption's first sentence, where there are no rows: headings over
        nothing would ask to be read for nothing.
    compact : bool
        Only as wide as its cells.

    Raises
    ------
    ValueError
        If a row has another number of cells than there are columns: a mistake in the page.
    """
    heads = [Column(column) if isinstance(column, str) else column for column in columns]
    rows = list(rows)
    for row in rows:
        if len(row) != len(heads):
            raise ValueError(f"a row has {len(row)} cells for {len(heads)} columns")
    if not rows:
        return _sentence(caption, empty)
    kept = [
        at
        for at in range(len(heads))
        if not at or any(row[at] is None or str(row[at]) for row in rows)
    ]
    heads, rows = [heads[at] for at in kept], [[row[at] for at in kept] for row in rows]
    # Where there is no room a row of four cells or more becomes a card: nothing is lost at the
    # side. Many cells with sentences or drawings among them lack room sooner.
    stacks = len(heads) > 3
    broad = len(heads) > 5 and any(one.kind in ("figure", "note", "prose") for one in heads)
    body = []
    for row in rows:
        cells = [_cell(part, heads[at], first=at == 0, named=stacks) for at, part in enumerate(row)]
        body.append(tag("tr", None, *cells))
    head = tag(
        "tr",
        None,
        *(tag("th", {"scope": "col", "class": column.style}, column.title) for column in heads),
    )
    names = " ".join(["stacks"] * stacks + ["broad"] * broad + ["compact"] * compact)
    made = tag(
        "table",
        {"class": names or None},
        tag("caption", None, tag("span", None, caption)),
        tag("thead", None, head),
        tag("tbody", None, *body),
    )
    # Wide tables scroll in their own box, which the keyboard can reach.
    return tag("div", {"class": "scroll", "tabindex": 0}, made)


def _sentence(caption: Part, empty: str) -> Html:
    if not isinstance(caption, str):
        return tag("p", {"class": "note"}, caption, f" {sentence(empty)}.")
    about = caption.partition(". ")[0].removesuffix(".")
    return tag("p", {"class": "note"}, f"{sentence(empty)}." if not about else f"{about}: {empty}.")


def _cell(part: Part, column: Column, *, first: bool, named: bool) -> Html:
    shown: Part = "not known" if part is None else part
    style = column.style
    if part is None:
        style = f"{style} unknown" if style else "unknown"
    if first:
        return tag("th", {"scope": "row", "class": style}, shown)
    label = column.name if named and shown != "" else None
    return tag("td", {"class": style, "data-label": label}, shown)


def facts(pairs: Iterable[tuple[str, Part]]) -> Html:
    """Names and values in a small grid, as under a title; None reads "not known"."""
    return tag(
        "dl",
        {"class": "facts"},
        *(
            tag(
                "div",
                None,
                tag("dt", None, name),
                tag("dd", None, "not known" if value is None else value),
            )
            for name, value in pairs
        ),
    )


def frame_table(frame: pd.DataFrame, *, caption: Part, empty: str = "none") -> Html:
    """A data frame as a table: for notebooks that look at rows, not for the page's own tables.

    Missing values read "not known"; numbers with a fraction are shown to three digits, in a row
    with a narrow interval to as many as tell its ends apart, and a p as "< 0.001" below that. The
    name of a column is read without underscores, and `diag` as doubts.
    """
    import pandas as pd  # heavy, and only notebooks that hold a frame come here

    columns = [
        Column(
            _TITLES.get(str(name), str(name).replace("_", " ")),
            "number" if pd.api.types.is_numeric_dtype(frame[name]) else "text",
        )
        for name in frame.columns
    ]
    rows = [
        [
            _shown(value, str(name), digits)
            for name, value in zip(frame.columns, values, strict=True)
        ]
        for values, digits in zip(
            frame.itertuples(index=False, name=None), _digits(frame), strict=True
        )
    ]
    return table(columns, rows, caption=caption, empty=empty)


def _digits(frame: pd.DataFrame) -> list[int]:
    if not {"low", "high"} <= set(frame.columns):
        return [3] * len(frame)
    low, high = (frame[end].astype(float) for end in ("low", "high"))
    halves = ((high - low) / 2).fillna(0)
    return [digits_shown(half, scale=1, fewest=3) for half in halves]


def _shown(value: object, name: str, digits: int) -> Part:
    import pandas as pd  # heavy, see frame_table

    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    if isinstance(value, float):
        if name == "p" or name.startswith("p_"):
            return p_value(value).removeprefix("p ")
        # Adding 0.0 turns a rounded "-0.000" into "0.000".
        return f"{round(value, digits) + 0.0:.{digits}f}"
    if name != "seed" and isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, Html):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return join((str(item) for item in value), between=", ")
    return str(value)
