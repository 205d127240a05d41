"""Makes the Argilla exports of this folder with Argilla's own SDK; needs no server.

May not be read as labels of people: nobody read these answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import argilla as rg
from argilla.records._io import GenericIO, JsonIO

HERE = Path(__file__).parent
FIRST = UUID("00000000-0000-4000-8000-000000000001")
SECOND = UUID("00000000-0000-4000-8000-000000000002")


def said(question: str, value: object, user: UUID, status: str = "submitted") -> rg.Response:
    """One answer of one user."""
    return rg.Response(question, value, user_id=user, status=status)


RECORDS = [
    rg.Record(
        id="r1",
        fields={"question": "May I carry leave over?", "answer": "Ten days, says section 4."},
        metadata={"case_id": "pol-carry", "repeat": 0},
        responses=[
            said("groundedness", 4, FIRST),
            said("helpful", "yes", FIRST),
            said("groundedness", 3, SECOND),
            said("helpful", "no", SECOND),
            said("comment", "Section 4 is not quoted.", SECOND),
        ],
        suggestions=[rg.Suggestion("groundedness", 1, agent="a-model")],
    ),
    rg.Record(
        id="r2",
        fields={"question": "When is pay day?", "answer": "On the 25th."},
        metadata={"case_id": "pay-day", "repeat": 0},
        responses=[
            said("groundedness", 2, FIRST, "discarded"),
            said("groundedness", 1, SECOND),
        ],
    ),
    rg.Record(
        id="r3",
        fields={"question": "What is the travel rate?", "answer": "30 cents."},
        metadata={"case_id": "001", "repeat": 1},
        responses=[
            said("groundedness", 3, FIRST, "draft"),
            said("groundedness", 2, SECOND),
            said("helpful", "no", SECOND),
        ],
    ),
    rg.Record(
        id="r4",
        fields={"question": "Who signs?", "answer": "Your lead."},
        metadata={"case_id": "sign", "repeat": 0},
    ),
]

if __name__ == "__main__":
    (HERE / "argilla_records.json").unlink(missing_ok=True)
    JsonIO.to_json(RECORDS, HERE / "argilla_records.json")
    flat = json.dumps(GenericIO.to_list(RECORDS, flatten=True), indent=1)
    (HERE / "argilla_flat.json").write_text(flat + "\n")
