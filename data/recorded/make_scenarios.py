"""Makes data/scenarios/airline.jsonl and retail.jsonl: the recorded tasks for a live agent.

May not read what the agents said or did, beyond which trial was rewarded: of a recording only
the task and the lines of its user are taken.

    python data/recorded/make_scenarios.py                      writes both files
    python data/recorded/make_scenarios.py --check              exit code 1 if they are out of date
    python data/recorded/make_scenarios.py --simulated FOLDER   both, for users that a model plays
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from make_cases import make_cases
from make_tools import RECORDINGS

HERE = Path(__file__).parent
SCENARIOS = HERE.parent / "scenarios"
FOLDERS = {"airline": "tau_bench_airline", "retail": "tau_bench_retail"}
PERSONAS = {
    "airline": "A customer of an airline who writes to its chat desk, in the manner that the goal "
    "describes.",
    "retail": "A customer of an online shop who writes to its chat desk, in the manner that the "
    "goal describes.",
}
IDENTIFY = ("find_user_id_by_email", "find_user_id_by_name_zip")
MAX_TURNS = 120
"""Messages, tool replies included; the longest recording has 61."""
STOP = "###STOP###"
"""How the recorded user hangs up."""


def make_scenarios(name: str, *, simulated: bool = False) -> str:
    """The scenarios of one suite, as text: one line a task, in the order of its cases."""
    cases = {case["id"]: case for case in map(json.loads, make_cases(name).splitlines())}
    rows: dict[str, list[tuple[str, dict[str, Any]]]] = {key: [] for key in cases}
    for file, row in _rows(FOLDERS[name]):
        rows[f"task-{row['task_id']:03d}"].append((file, row))
    made = (_scenario(name, case, rows[key], simulated) for key, case in cases.items())
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in made)


def _rows(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in RECORDINGS[folder]:
        rows = map(json.loads, (HERE / folder / file).read_text(encoding="utf-8").splitlines())
        for row in sorted(rows, key=lambda row: row["trial"]):
            yield file, row


def _scenario(
    name: str, case: dict[str, Any], rows: list[tuple[str, dict[str, Any]]], simulated: bool
) -> dict[str, Any]:
    file, row = next((one for one in rows if one[1]["reward"] == 1), rows[0])
    lines = [said["content"].strip() for said in row["traj"] if said["role"] == "user"]
    lines = [line for line in lines if STOP not in line]
    task = row["info"]["task"]
    rewarded = row["reward"] == 1
    which = f"trial {row['trial']} of {file}" if name == "airline" else file
    note = f"The user's lines are those of {which}; they do not react to the agent."
    if not rewarded:
        note += " No recorded trial was rewarded, so they may not lead where the reference ends."
    tag = "script:rewarded" if rewarded else "script:unrewarded"
    made = {
        "id": case["id"],
        "persona": PERSONAS[name],
        "goal": task["instruction"],
        "opening": lines[0],
        "known": _known(task),
        "user": {"script": lines[1:]},
        "max_turns": MAX_TURNS,
        "expected_outcome": case["expected_outcome"],
        "origin": case["origin"],
        "tags": [*case["tags"], tag],
        "note": note,
    }
    if task["outputs"]:
        made["checks"] = {"must_include": [_said(output) for output in task["outputs"]]}
    if simulated:
        made |= {"user": {"simulate": {"max_turns": 15}}, "tags": case["tags"]}
        del made["note"]
    return made


def _known(task: dict[str, Any]) -> dict[str, Any]:
    """What this user can say of themselves: what the reference looks them up by, or their id."""
    known: dict[str, list[Any]] = {}
    if task["user_id"] in task["instruction"]:
        known["user_id"] = [task["user_id"]]
    for action in task["actions"]:
        if action["name"] in IDENTIFY:
            for key, value in action["kwargs"].items():
                given = known.setdefault(key, [])
                given += [value] if value not in given else []
    return {key: given[0] if len(given) == 1 else given for key, given in known.items()}


def _said(output: str) -> str:
    """An amount that is to be told; $481.50 tells 481.5 as well."""
    return f"{output}|{output}0" if re.fullmatch(r"\d+\.\d", output) else output


def main(arguments: list[str]) -> int:
    simulated = arguments[:1] == ["--simulated"]
    if arguments not in ([], ["--check"]) and not (simulated and len(arguments) == 2):
        print(__doc__)
        return 2
    folder = Path(arguments[1]) if simulated else SCENARIOS
    stale = []
    for name in FOLDERS:
        path = folder / f"{name}.jsonl"
        text = make_scenarios(name, simulated=simulated)
        if arguments == ["--check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path.name)
            continue
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {text.count(chr(10))} scenarios")
    if stale:
        print(f"not up to date: {', '.join(stale)}; run data/recorded/make_scenarios.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
