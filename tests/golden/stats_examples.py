"""Makes stats_examples.json: verdicts and ratings of three public data sets, without their texts.

Run with the folder that holds llmbar/, pandalm/ and recipes_6point/:
python tests/golden/stats_examples.py FOLDER
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

SOURCES = {
    "llmbar": "princeton-nlp/LLMBar 900616bf, MIT, (c) 2023 Princeton Natural Language Processing: "
    "subset Natural, prompt Vanilla; A's score in either order, and by the gold label",
    "pandalm": "WeOpenML/PandaLM 3871806e, Apache-2.0: 300 pairs; the first response's score by "
    "three annotators and by gpt-3.5-turbo (null where it could not be parsed)",
    "recipes": "dmg-illc/JUDGE-BENCH 5a0bf500, Apache-2.0 and CC-BY-4.0; data of Stein et al., DMR "
    "Workshop 2024: 52 recipes, statement 'overall', 6-point scale, one row a recipe",
}
SCORE = {"1": 1.0, "2": 0.0, "0": 0.5, "Tie": 0.5}


def extract(folder: Path) -> dict[str, Any]:
    """The numbers, one list a column."""
    with (folder / "llmbar" / "verdicts_Natural.csv").open(encoding="utf-8") as file:
        verdicts = [row for row in csv.DictReader(file) if row["prompt"] == "Vanilla"]
    llmbar = {}
    for judge in ("GPT-4", "ChatGPT"):
        own = [row for row in verdicts if row["judge"] == judge]
        llmbar[judge] = {
            "a_first": [SCORE.get(row["winner_original"]) for row in own],
            "b_first": [SCORE.get(row["winner_swapped"]) for row in own],
            "gold": [SCORE[row["label"]] for row in own],
        }
    people = _json(folder / "pandalm" / "testset-v1.json")
    judged = {r["idx"]: r for r in _json(folder / "pandalm" / "gpt-3.5-turbo-testset-v1.json")}
    recipes = _json(folder / "recipes_6point" / "meta_evaluation_recipes.json")["instances"]
    return {
        "sources": SOURCES,
        "llmbar": llmbar,
        "pandalm": {
            "annotators": [[SCORE[str(r[f"annotator{i}"])] for i in (1, 2, 3)] for r in people],
            "judge": [SCORE.get(judged[r["idx"]]["gpt_result"]) for r in people],
        },
        "recipes": [r["annotations"]["overall"]["individual_human_scores"] for r in recipes],
    }


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    found = extract(Path(sys.argv[1]))
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_suffix(".json").write_text(text, encoding="utf-8")
