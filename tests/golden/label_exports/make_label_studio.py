"""Makes the Label Studio exports of this folder: a project, two users, their annotations, by API.

May not be read as labels of people: this script gave them, nobody read these answers. Give it the
address of a Label Studio that was started on an empty folder with
``label-studio start --username one@example.org --password Reader-one-1``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import requests

HERE = Path(__file__).parent
CONFIG = """<View><Text name="q" value="$question"/><Text name="a" value="$answer"/>
<Rating name="groundedness" toName="a" maxRating="4"/>
<Choices name="helpful" toName="a" choice="single"><Choice value="1"/><Choice value="2"/>
<Choice value="3"/><Choice value="4"/><Choice value="cannot tell"/></Choices>
<Number name="brevity" toName="a"/>
<TextArea name="groundedness_note" toName="a"/><TextArea name="comment" toName="a"/></View>"""
TASKS = [
    {"case_id": "pol-carry", "repeat": 0, "question": "May I carry leave over?",
     "answer": "Ten days, says section 4."},
    {"case_id": "pay-day", "repeat": 0, "question": "When is pay day?", "answer": "On the 25th."},
    {"case_id": "001", "repeat": 1, "question": "What is the travel rate?", "answer": "30 cents."},
    {"case_id": "sign", "repeat": 0, "question": "Who signs?", "answer": "Your lead."},
]  # fmt: skip


class Reader:
    """One user of the server, logged in."""

    def __init__(self, server: str, mail: str, password: str, *, new: bool = False) -> None:
        self.server, self.session = server, requests.Session()
        page = f"{server}/user/{'signup' if new else 'login'}/"
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', self.session.get(page).text)
        form = {"email": mail, "password": password, "allow_newsletters": "false"}
        form["csrfmiddlewaretoken"] = token[1] if token else self.session.cookies["csrftoken"]
        self.session.post(page, data=form, headers={"Referer": server}).raise_for_status()

    def ask(self, method: str, path: str, **body: Any) -> Any:
        """One call of the API."""
        headers = {"Referer": self.server, "X-CSRFToken": self.session.cookies["csrftoken"]}
        reply = self.session.request(
            method, self.server + path, headers=headers, **({"json": body["json"]} if body else {})
        )
        reply.raise_for_status()
        return reply.json()


def result(kind: str, name: str, value: Any) -> dict[str, Any]:
    """What one control of the page holds."""
    key = "text" if kind == "textarea" else kind
    return {"from_name": name, "to_name": "a", "type": kind, "value": {key: value}}


def rated(level: int) -> dict[str, Any]:
    """The rating that each annotation has."""
    return result("rating", "groundedness", level)


def main(server: str) -> None:
    """Fill a project and export it."""
    one = Reader(server, "one@example.org", "Reader-one-1")
    two = Reader(server, "two@example.org", "Reader-two-2", new=True)
    made = one.ask("POST", "/api/projects", json={"title": "answers", "label_config": CONFIG})
    one.ask("POST", f"/api/projects/{made['id']}/import", json=TASKS)
    tasks = one.ask("GET", f"/api/tasks?project={made['id']}&fields=all")["tasks"]
    ids = {task["data"]["case_id"]: task["id"] for task in tasks}

    def annotate(who: Reader, case: str, results: list[Any], *, skipped: bool = False) -> Any:
        body = {"result": results, "was_cancelled": skipped, "lead_time": 3.5}
        return who.ask("POST", f"/api/tasks/{ids[case]}/annotations/", json=body)

    more = [
        result("choices", "helpful", ["4"]),
        result("number", "brevity", 3),
        result("textarea", "groundedness_note", ["Section 4 gives ten days."]),
    ]
    first = annotate(one, "pol-carry", [rated(3), *more])
    one.ask("PATCH", f"/api/annotations/{first['id']}/", json={"result": [rated(4), *more]})
    said = result("textarea", "comment", ["It does not say from when on."])
    annotate(two, "pol-carry", [rated(3), result("choices", "helpful", ["cannot tell"]), said])
    annotate(one, "pay-day", [rated(1), result("choices", "helpful", ["2"])])
    annotate(two, "pay-day", [], skipped=True)
    annotate(two, "001", [rated(2), result("choices", "helpful", ["1"])])
    guess = {"task": ids["001"], "result": [rated(4)], "model_version": "a-model", "score": 0.9}
    one.ask("POST", "/api/predictions/", json=guess)
    one.ask("POST", f"/api/tasks/{ids['sign']}/drafts", json={"result": [rated(2)]})
    files = {"JSON": ".json", "JSON_MIN": "_min.json", "CSV": ".csv", "TSV": ".tsv"}
    for kind, ending in files.items():
        page = f"{server}/api/projects/{made['id']}/export?exportType={kind}"
        (HERE / f"label_studio{ending}").write_bytes(one.session.get(page).content)


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
