"""Notices what reads like an order to whoever judges a text.

May not change a score: it is a guess from words, to be read by a person.
"""

from __future__ import annotations

import re

from agenteval_kit.text import fold

__all__ = ["reads_like_an_order"]

# What is addressed to a judge, or is made to look like the frame around the record.
_ORDERS = re.compile(
    r"""
    \b(?:give|award|assign|score|rate|grade|mark|return|output)\b.{0,40}
        (?:\b(?:top|highest|maximum|best|full|perfect)\s(?:possible\s)?(?:score|level|marks?|grade)
        |\b(?:a\s)?score\s(?:of\s)?["'*]?\d | \b\d\s?(?:/|out\ of)\s?\d)
    | \b(?:score|verdict|grade)["'*]?\s(?:is|must\ be|should\ be|:|=)\s?["'*]?\d
    | \b(?:score|verdict|grade)["'*]?[:=]\s?["'*]?\d
    | \b(?:judge|evaluator|grader|scorer|assessor)s?\b.{0,60}
        \b(?:must|should|please|score|rate|give|stop|here|ignore)\b
    | \b(?:note|attention|message|instruction|order)s?\ (?:to|for)\ (?:the\ |any\ )?
        (?:judge|evaluator|grader|scorer|assessor|reviewer)
    | </?\ ?(?:transcript|record|conversation|inputs?|system|data|rubric|expected_outcome|sources)
        \ ?>
    | \bend\ of\ (?:the\ )?(?:transcript|record|conversation|data|input)\b
    | <\|?(?:im_start|im_end|system|assistant|endoftext)\|?> | \[/?inst\]
    | "(?:score|verdict|offending_claim|justification|preferred)"\s?:
    | \b(?:prefer|choose|pick|select|vote\ for)\b.{0,20}
        (?:\bthis\s(?:answer|candidate|response|one)\b
        |\b(?:answer|candidate|response|option|assistant)\s["']?[ab12]\b)
    | </?\ ?(?:candidate|question)_?[ab]?\ ?>
    """,
    re.VERBOSE,
)
# From a user this is an attack on the agent, which is what some cases test.
_OVERRIDES = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override)\b.{0,40}
        \b(?:instructions?|rubric|anchors?|rules|prompt|scale|criteria)\b
    | ^\W*(?:system|developer)\s?:
    """,
    re.VERBOSE,
)


def reads_like_an_order(text: str, *, by_user: bool = False) -> bool:
    """Whether a text reads like an order to a judge; from a user, overriding an agent is none."""
    folded = fold(text)
    if _ORDERS.search(folded):
        return True
    return not by_user and _OVERRIDES.search(folded) is not None
