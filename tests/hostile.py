"""A text that tries everything at once, and a run in which every text is that one.

May not name a host that exists.
"""

from __future__ import annotations

from pathlib import Path

from builders import make_run
from verdicts import judge

from agenteval_kit.records import ToolCall, Turn
from agenteval_kit.runs import Run

HOST = "images.invalid"
"""What is asked of it was asked by a transcript; the name can belong to nobody."""

HOSTILE = (
    "<script>window.owned=1</script><img src=x onerror='window.owned=1'>"
    '"><svg onload=window.owned=1> | `tick` $x^2$ \\(y\\) \x1b[31mred \u202eevil\u202c '
    "[link](javascript:window.owned=1) </style></table></main><!-- "
    "</textarea></script><script>alert(1)</script><a href='javascript:alert(2)'>here</a>"
    f"<img src='https://{HOST}/a.png'><iframe src='https://{HOST}/b'></iframe>"
    f"<link rel=stylesheet href='//{HOST}/c.css'><style>@import '//{HOST}/d.css'</style>"
    f"<b style=\"background:url('//{HOST}/e.png')\" onmouseover='alert(3)'>x</b>"
    f"<meta http-equiv=refresh content='0;url=//{HOST}/f'><base href='//{HOST}/'> "
    f"![picture](https://{HOST}/g.png) "
)
LONG = f"{HOSTILE} {'<p>y</p>' * 250_000}"
"""A tool result of 2 MB."""


def hostile_run(root: Path, *, name: str = "run", failing: bool = False) -> Run:
    """Four judged cases; the first holds a tool result of 2 MB, and every word is hostile."""
    call = ToolCall(
        id="c", name=f"find{HOSTILE}", arguments={"what": HOSTILE}, result=LONG, result_turn=2,
        error=HOSTILE,
    )  # fmt: skip
    broken = ToolCall(id="d", name="pay", raw='{"amount": 7', malformed=f"not JSON {HOSTILE}")
    short = (
        Turn(role="user", text=HOSTILE),
        Turn(role="assistant", text=HOSTILE, calls=(call, broken)),
        Turn(role="tool", text=LONG, reply_to="c", name=f"find{HOSTILE}"),
        Turn(role="assistant", text=f"I have refunded you. {HOSTILE}"),
        Turn(role="assistant", refusal=HOSTILE),
    )
    names = [f"case {HOSTILE}", *(f"case-{at}" for at in range(3))]
    turns = {(case_id, 0): (*short[:2], *short[3:]) for case_id in names}
    turns[names[0], 0] = short
    rows = {case_id: {f"outcome/{HOSTILE}": not failing, "policy": True} for case_id in names}
    run = make_run(root, rows, name=name, turns=turns)
    said = {case_id: [1 if case_id == names[0] else 3] for case_id in names}
    return judge(run, said, model=f"scripted {HOSTILE}", justification=HOSTILE)
