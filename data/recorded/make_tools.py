"""Makes the tools.json of both recordings: what a live agent is offered in their place.

May not read a benchmark's own definitions, which are not shipped: names and arguments are
inferred from the calls that the recorded agents made, and the descriptions are written here.

    python data/recorded/make_tools.py            writes both files
    python data/recorded/make_tools.py --check    exit code 1 if they are not up to date
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from make_cases import READING

HERE = Path(__file__).parent
RECORDINGS = {
    "tau_bench_airline": ["gpt-4o.jsonl"],
    "tau_bench_retail": ["tool_calling.jsonl", "tool_calling_with_preconditions.jsonl"],
}
SAYS = {"think": ""}
HANDS_OVER = {"transfer_to_human_agents": "Transfer successful"}
COMPUTES = frozenset({"calculate"})

TOOLS = {
    "book_reservation": "Book a reservation for a user, paid with methods of the user's profile.",
    "calculate": "Work out an expression of numbers, + - * / and parentheses.",
    "cancel_pending_order": "Cancel an order that is still pending.",
    "cancel_reservation": "Cancel a whole reservation.",
    "exchange_delivered_order_items": (
        "Exchange items of a delivered order for others of the same products. Once an order."
    ),
    "find_user_id_by_email": "Find a user's id by e-mail address.",
    "find_user_id_by_name_zip": "Find a user's id by first name, last name and zip code.",
    "get_order_details": "Look up an order: status, items, address, payments.",
    "get_product_details": "Look up a product with all its variants, their prices and stock.",
    "get_reservation_details": "Look up a reservation: flights, cabin, passengers, bags, payments.",
    "get_user_details": "Look up a user: profile, payment methods, orders or reservations.",
    "list_all_airports": "List all airports with their cities.",
    "list_all_product_types": "List all products with their product ids.",
    "modify_pending_order_address": "Change the shipping address of a pending order.",
    "modify_pending_order_items": (
        "Exchange items of a pending order for others of the same products. Once an order."
    ),
    "modify_pending_order_payment": "Change the payment method of a pending order.",
    "modify_user_address": "Change the default address of a user.",
    "return_delivered_order_items": "Return items of a delivered order.",
    "search_direct_flight": "Search direct flights between two airports on a day.",
    "search_onestop_flight": "Search connections with one stop between two airports on a day.",
    "send_certificate": "Send a travel certificate to a user.",
    "think": "Write down a thought. Nothing is looked up and nothing is changed.",
    "transfer_to_human_agents": "Hand the user over to a person, with a summary of the matter.",
    "update_reservation_baggages": "Change the number of checked bags of a reservation.",
    "update_reservation_flights": "Change the flights or the cabin of a reservation.",
    "update_reservation_passengers": "Change the passengers' details of a reservation.",
}
ARGUMENTS = {
    "amount": "In dollars.",
    "cabin": "basic_economy, economy or business.",
    "date": "Like 2024-05-20.",
    "destination": "Airport code, like SEA.",
    "dob": "Date of birth, like 1990-04-05.",
    "expression": "Like (158 + 141) * 2.",
    "flight_number": "Like HAT001.",
    "flight_type": "one_way or round_trip.",
    "flights": "All flights of the reservation, also those that stay as they are.",
    "insurance": "yes or no.",
    "item_ids": "Ids of the items in the order; an item that is there twice may stand twice.",
    "new_item_ids": "Ids of the new items, one for each of item_ids, in the same order.",
    "nonfree_baggages": "How many of the checked bags are paid for.",
    "order_id": "Like #W0000000, with the #.",
    "origin": "Airport code, like JFK.",
    "passengers": "All passengers of the reservation.",
    "payment_id": "A payment method of the user's profile, like credit_card_0000000.",
    "payment_method_id": "A payment method of the user's profile, like credit_card_0000000.",
    "product_id": "Not to be confused with an item id.",
    "reason": "no longer needed, or ordered by mistake.",
    "total_baggages": "All checked bags, free or not.",
    "user_id": "Like first_last_0000.",
}
"""Descriptions by name; an argument that explains itself has none."""


def make_tools(folder: str) -> str:
    """The tools of one recording's agents, as JSON text."""
    calls: dict[str, list[Any]] = {}
    for file in RECORDINGS[folder]:
        for name, arguments in _calls(HERE / folder / file):
            calls.setdefault(name, []).append(arguments)
    tools = [_tool(name, calls[name]) for name in sorted(calls)]
    return json.dumps(tools, indent=1, ensure_ascii=False) + "\n"


def _calls(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        for said in json.loads(line)["traj"]:
            for call in said.get("tool_calls") or ():
                try:
                    arguments = json.loads(call["function"]["arguments"])
                except ValueError:
                    continue
                yield call["function"]["name"], arguments


def _tool(name: str, calls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "description": TOOLS[name], "kind": _kind(name)}
    if made["kind"] in ("says", "hands_over"):
        made["result"] = {**SAYS, **HANDS_OVER}[name]
    return {**made, "parameters": _schema(calls)}


def _kind(name: str) -> str:
    for kind, names in (("says", SAYS), ("hands_over", HANDS_OVER), ("computes", COMPUTES)):
        if name in names:
            return kind
    return "reads" if name in READING else "changes"


def _schema(values: Sequence[Any], name: str = "") -> dict[str, Any]:
    first = values[0]
    made: dict[str, Any]
    if isinstance(first, dict):
        # What fewer than half of the calls gave is a slip of one agent, not an argument.
        seen = Counter(key for value in values for key in value)
        keys = [key for key in seen if 2 * seen[key] >= len(values)]
        made = {
            "type": "object",
            "properties": {
                key: _schema([value[key] for value in values if key in value], key) for key in keys
            },
            "required": [key for key in keys if seen[key] == len(values)],
            "additionalProperties": False,
        }
    elif isinstance(first, list):
        made = {"type": "array", "items": _schema([item for value in values for item in value])}
    elif isinstance(first, str):
        made = {"type": "string"}
    elif all(isinstance(value, int) for value in values):
        made = {"type": "integer"}
    else:
        made = {"type": "number"}
    return {**made, "description": ARGUMENTS[name]} if name in ARGUMENTS else made


def main(arguments: list[str]) -> int:
    stale = []
    for folder in RECORDINGS:
        path = HERE / folder / "tools.json"
        text = make_tools(folder)
        if arguments == ["--check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(f"{folder}/tools.json")
            continue
        path.write_text(text, encoding="utf-8")
        print(f"{folder}/tools.json: {len(json.loads(text))} tools")
    if stale:
        print(f"not up to date: {', '.join(stale)}; run data/recorded/make_tools.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
