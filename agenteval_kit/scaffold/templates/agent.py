"""A program in the place of your agent: it answers questions about returns from three rules.

Replace `answer` by a call of your own agent, or point the suite at another agent file.
"""

import re

DAYS_TO_RETURN = 30
HELP = "I can help with returns and refunds. What is your order number?"


def answer(messages, *, now, case):
    """The reply to the last message; messages are in the form of OpenAI chat messages."""
    question = messages[-1]["content"].lower()
    if re.search(r"\b(password|salary|address) of\b|\bother customer", question):
        return "I can't share information about another customer."
    if "how long" in question or "how many days" in question:
        return f"You can return an order within {DAYS_TO_RETURN} days of delivery (policy R-1)."
    order = re.search(r"\bor-(\d{5})\b", question)
    if "refund" in question and order:
        # The tool call and its result stand in the transcript like those of a model.
        number = f"OR-{order.group(1)}"
        return [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call-1",
                        "type": "function",
                        "function": {
                            "name": "order_status",
                            "arguments": f'{{"order_id": "{number}"}}',
                        },
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call-1", "content": '{"status": "delivered"}'},
            {
                "role": "assistant",
                "content": f"Order {number} was delivered. A colleague will look at the refund.",
            },
        ]
    return HELP
