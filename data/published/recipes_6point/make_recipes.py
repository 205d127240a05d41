"""Makes recipes.jsonl, the recording that data/suites/recipes.yaml evaluates.

May not change a text: what was rated is the agent's turn, letter by letter.

    python data/published/recipes_6point/make_recipes.py            writes it
    python data/published/recipes_6point/make_recipes.py --check    exit code 1 if it is out of date
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = HERE / "meta_evaluation_recipes.json"
MADE = HERE / "recipes.jsonl"
_NAME = re.compile(r"(?:coherence_|grammaticality_)?(?P<dish>.+?)_\d+_(?P<maker>[a-z_]+)")


def make_recipes() -> str:
    """The recording as text: one recipe a line, in the order of the source."""
    read: dict[str, Any] = json.loads(SOURCE.read_text(encoding="utf-8"))
    return "".join(json.dumps(_recipe(one)) + "\n" for one in read["instances"])


def _recipe(one: dict[str, Any]) -> dict[str, Any]:
    found = _NAME.fullmatch(one["id"])
    assert found is not None, one["id"]
    dish = found["dish"].replace("_", " ")
    return {
        "id": one["id"],
        "tags": [f"dish:{found['dish']}", f"maker:{found['maker']}"],
        "messages": [
            {"role": "user", "content": f"How do I make {dish}?"},
            {"role": "assistant", "content": one["instance"]},
        ],
    }


def main(arguments: list[str]) -> int:
    """Write the recording, or say whether it is up to date."""
    text = make_recipes()
    if arguments == ["--check"]:
        same = MADE.is_file() and MADE.read_text(encoding="utf-8") == text
        print("up to date" if same else f"{MADE.name} is not up to date; run {Path(__file__).name}")
        return 0 if same else 1
    MADE.write_text(text, encoding="utf-8")
    print(f"{MADE.name}: {text.count(chr(10))} recipes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
