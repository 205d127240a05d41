"""Which of two outputs is better: each pair judged in both orders, a tie where they disagree.

May not apply a bar; loads what asks a model, and numpy, only when they are used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenteval_kit.pairwise.agreement import PreferenceAgreement as PreferenceAgreement
    from agenteval_kit.pairwise.agreement import preference_agreement as preference_agreement
    from agenteval_kit.pairwise.compare import compare_runs as compare_runs
    from agenteval_kit.pairwise.imports import GOLD as GOLD
    from agenteval_kit.pairwise.imports import import_preferences as import_preferences
    from agenteval_kit.pairwise.lines import PairLine as PairLine
    from agenteval_kit.pairwise.lines import compare_lines as compare_lines
    from agenteval_kit.pairwise.lines import read_pairs as read_pairs
    from agenteval_kit.pairwise.ranking import rank_rows as rank_rows
    from agenteval_kit.pairwise.ranking import rank_runs as rank_runs
    from agenteval_kit.pairwise.reply import Preferred as Preferred
    from agenteval_kit.pairwise.reply import parse_preference as parse_preference
    from agenteval_kit.pairwise.result import Comparison as Comparison
    from agenteval_kit.pairwise.result import PairwiseResult as PairwiseResult
    from agenteval_kit.pairwise.summary import MeasuredMargin as MeasuredMargin
    from agenteval_kit.pairwise.summary import PreferenceSummary as PreferenceSummary
    from agenteval_kit.pairwise.summary import measured_margin as measured_margin
    from agenteval_kit.pairwise.summary import preference_summary as preference_summary
    from agenteval_kit.pairwise.tally import flips_of as flips_of
    from agenteval_kit.pairwise.tally import measure as measure
    from agenteval_kit.pairwise.work import PairwiseEstimate as PairwiseEstimate

_HOME = {
    "GOLD": "imports",
    "Comparison": "result",
    "MeasuredMargin": "summary",
    "PairLine": "lines",
    "PairwiseEstimate": "work",
    "PairwiseResult": "result",
    "PreferenceAgreement": "agreement",
    "PreferenceSummary": "summary",
    "Preferred": "reply",
    "compare_lines": "lines",
    "compare_runs": "compare",
    "flips_of": "tally",
    "import_preferences": "imports",
    "measure": "tally",
    "measured_margin": "summary",
    "parse_preference": "reply",
    "preference_agreement": "agreement",
    "preference_summary": "summary",
    "rank_rows": "ranking",
    "rank_runs": "ranking",
    "read_pairs": "lines",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): the gate reads preferences in a command that must start in a blink.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
