"""Makes data/cases/airline.jsonl and retail.jsonl from the recordings.

May not read what the agents did: only what each task asks for, and how its user opens.

    python data/recorded/make_cases.py            writes both files
    python data/recorded/make_cases.py --check    exit code 1 if they are not up to date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES = HERE.parent / "cases"
RECORDINGS = {
    "airline": HERE / "tau_bench_airline" / "gpt-4o.jsonl",
    "retail": HERE / "tau_bench_retail" / "tool_calling.jsonl",
}
READING = frozenset(
    {
        "calculate",
        "find_user_id_by_email",
        "find_user_id_by_name_zip",
        "get_order_details",
        "get_product_details",
        "get_reservation_details",
        "get_user_details",
        "list_all_airports",
        "list_all_product_types",
        "search_direct_flight",
        "search_onestop_flight",
        "think",
    }
)
"""Tools that change nothing; all others of a task's reference actions become tags."""


def make_cases(name: str) -> str:
    """The case file of one suite, as text: one line a task, in the order of the recording."""
    rows: dict[int, dict[str, Any]] = {}
    for line in RECORDINGS[name].read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows.setdefault(row["task_id"], row)
    return "".join(json.dumps(_case(name, row), ensure_ascii=False) + "\n" for row in rows.values())


def _case(name: str, row: dict[str, Any]) -> dict[str, Any]:
    task = row["info"]["task"]
    actions = task["actions"]
    changing = [action["name"] for action in actions if action["name"] not in READING]
    return {
        "id": f"task-{row['task_id']:03d}",
        "input": next(turn["content"] for turn in row["traj"] if turn["role"] == "user"),
        "expected_outcome": _outcome(actions, task["outputs"]),
        "reference": "\n".join(_shown(action) for action in actions) or "no tool call",
        "origin": f"tau-bench {name} task {row['task_id']}",
        "tags": [f"user:{task['user_id']}", *(dict.fromkeys(changing) or ["nothing-to-change"])],
        "note": f"The simulated user was told: {task['instruction']}",
    }


def _outcome(actions: list[dict[str, Any]], outputs: list[str]) -> str:
    changing = [_shown(action) for action in actions if action["name"] not in READING]
    said = f" The user is told {', '.join(outputs)}." if outputs else ""
    if not changing:
        return f"The agent changes nothing in the database.{said}"
    return f"The agent does exactly this, and nothing else: {'; '.join(changing)}.{said}"


def _shown(action: dict[str, Any]) -> str:
    given = ", ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in action["kwargs"].items()
    )
    return f"{action['name']}({given})"


def main(arguments: list[str]) -> int:
    stale = []
    for name in RECORDINGS:
        path = CASES / f"{name}.jsonl"
        text = make_cases(name)
        if arguments == ["--check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path.name)
            continue
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {text.count(chr(10))} cases")
    if stale:
        print(f"not up to date: {', '.join(stale)}; run data/recorded/make_cases.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
