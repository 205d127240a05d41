"""Makes verdicts.csv from the files that PandaLM published: who preferred which response.

May not settle anything: what stands there, unreadable replies included, is copied.

    python data/published/pandalm/make_verdicts.py FOLDER    the folder with testset-v1.json and
                                                             the two files of the judges
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

MADE = Path(__file__).parent / "verdicts.csv"
PEOPLE = ("annotator1", "annotator2", "annotator3")


def main(arguments: list[str]) -> int:
    """Write the first 300 pairs, a row each."""
    folder = Path(arguments[0])

    def read(name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((folder / name).read_text(encoding="utf-8"))
        return found[:300]

    pairs = read("testset-v1.json")
    gpt, panda = read("gpt-3.5-turbo-testset-v1.json"), read("pandalm-7b-testset-v1.json")
    tasks: dict[tuple[str, str], str] = {}
    with MADE.open("w", encoding="utf-8", newline="") as out:
        write = csv.writer(out, lineterminator="\n")
        write.writerow(["idx", "task", "cmp_key", *PEOPLE, "gpt-3.5-turbo", "pandalm-7b"])
        for pair, one, two in zip(pairs, gpt, panda, strict=True):
            assert pair["idx"] == one["idx"] == two["idx"], pair["idx"]
            # The same instruction and input come with several pairs of models.
            key = (pair["instruction"], pair["input"])
            task = tasks.setdefault(key, f"task-{len(tasks):02d}")
            said = [pair[name] for name in PEOPLE]
            write.writerow([pair["idx"], task, pair["cmp_key"], *said,
                            one["gpt_result"], two["pandalm_result"]])  # fmt: skip
    print(f"{MADE.name}: {len(pairs)} pairs on {len(tasks)} tasks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
