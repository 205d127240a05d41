"""The airline policy, as far as code can decide it."""

from __future__ import annotations

import tau_bench_checks as shared

from agenteval_kit.checks import CheckResult
from agenteval_kit.records import Case, Transcript

# What the policy wants confirmed changes the booking database; a certificate does not.
WRITES = frozenset(
    {
        "book_reservation",
        "cancel_reservation",
        "update_reservation_baggages",
        "update_reservation_flights",
        "update_reservation_passengers",
    }
)


def confirmed_before_write(transcript: Transcript, case: Case) -> CheckResult:
    """ "You must list the action details and obtain explicit user confirmation (yes)"."""
    return shared.unconfirmed_write(transcript, WRITES)


def transfer_only_where_due(transcript: Transcript, case: Case) -> CheckResult:
    """ "Transfer the user to a human agent if and only if the request cannot be handled"."""
    return shared.undue_transfer(transcript, case)


def one_thing_at_a_time(transcript: Transcript, case: Case) -> CheckResult:
    """ "If you make a tool call, you should not respond to the user simultaneously"."""
    return shared.call_beside_text(transcript)
