"""What has a right answer, decided by code: small frozen rules, one file a layer.

May not touch a file or a model.
"""

from agenteval_kit.checks.build import build_checks
from agenteval_kit.checks.resources import Resources, id_table_key
from agenteval_kit.checks.result import Check, CheckResult, Rule, Span
from agenteval_kit.checks.run import run_checks

__all__ = [
    "Check",
    "CheckResult",
    "Resources",
    "Rule",
    "Span",
    "build_checks",
    "id_table_key",
    "run_checks",
]
