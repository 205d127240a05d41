"""The retail policy, as far as code can decide it."""

from __future__ import annotations

import tau_bench_checks as shared

from agenteval_kit.checks import CheckResult
from agenteval_kit.records import Case, Transcript

WRITES = frozenset(
    {
        "cancel_pending_order",
        "exchange_delivered_order_items",
        "modify_pending_order_address",
        "modify_pending_order_items",
        "modify_pending_order_payment",
        "modify_user_address",
        "return_delivered_order_items",
    }
)
IDENTIFIES = frozenset({"find_user_id_by_email", "find_user_id_by_name_zip"})
PERSONAL = WRITES | {"get_order_details", "get_user_details"}


def authenticated_first(transcript: Transcript, case: Case) -> CheckResult:
    """ "You have to authenticate the user identity ... via email, or via name + zip code"."""
    wanted = "the user found by e-mail or by name and zip code first"
    found = min(
        (turn for turn, call in shared.done_calls(transcript) if call.name in IDENTIFIES),
        default=None,
    )
    for turn, call in transcript.calls():
        if call.name in PERSONAL and (found is None or turn < found):
            return CheckResult(
                False, wanted, call.name, turn, f"{call.name} was called before the user was found"
            )
    return CheckResult(True, wanted)


def confirmed_before_write(transcript: Transcript, case: Case) -> CheckResult:
    """ "You have to list the action detail and obtain explicit user confirmation (yes)"."""
    return shared.unconfirmed_write(transcript, WRITES)


def transfer_only_where_due(transcript: Transcript, case: Case) -> CheckResult:
    """ "Transfer the user to a human agent if and only if the request cannot be handled"."""
    return shared.undue_transfer(transcript, case)


def one_thing_at_a_time(transcript: Transcript, case: Case) -> CheckResult:
    """ "If you take a tool call, you should not respond to the user at the same time"."""
    return shared.call_beside_text(transcript)
