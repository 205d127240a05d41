"""Makes the files of data/labels/recipes: a line for each thing that a person said of a recipe.

May not change a score, or give a person a name that the source does not give.

    python data/published/recipes_6point/make_labels.py FOLDER    writes them into a folder
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from agenteval_kit.labels import transcript_digest, write_sample
from agenteval_kit.records.labels import LabelRow, Sample, SampledItem, Stratum
from agenteval_kit.suite import load_suite, run_suite

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent
NAME = "recipes"
"""Of the suite, of the sample, and of the folder that the run lies in."""
DIMENSIONS = ("grammar", "overall")
LISTS = (18, 17, 15, 18, 20)
"""People who read each of the five lists of ten recipes; all 88 of them read the last two."""
AT = "2023-06-20T00:00:00Z"
"""When the study was presented; the day of each reading is not published."""
ORIGIN = "JUDGE-BENCH 5a0bf500, recipes"


def main(arguments: list[str]) -> int:
    """Write a file a person, and the sample that says that every recipe was read."""
    folder = Path(arguments[0])
    source = json.loads((HERE / "meta_evaluation_recipes.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        suite = load_suite(DATA / "suites" / "recipes.yaml")
        run = run_suite(suite, out=Path(scratch) / NAME).run
        digests = {one.case_id: transcript_digest(one) for one in run.transcripts()}
    lines: dict[str, list[str]] = defaultdict(list)
    for number, recipe in enumerate(source["instances"]):
        first = sum(LISTS[: number // 10]) if number < 50 else 0
        for dimension in DIMENSIONS:
            scores = recipe["annotations"][dimension]["individual_human_scores"]
            assert len(scores) == (LISTS[number // 10] if number < 50 else sum(LISTS))
            for position, score in enumerate(scores, start=first):
                row = LabelRow(
                    run=NAME, case_id=recipe["id"], transcript_digest=digests[recipe["id"]],
                    dimension=dimension, score=score, levels=(1, 2, 3, 4, 5, 6),
                    rater=f"participant-{position:02d}", at=AT, sample=NAME, design="uniform",
                    inclusion=1.0, origin=ORIGIN,
                )  # fmt: skip
                lines[row.rater].append(row.model_dump_json(exclude_defaults=True) + "\n")
    folder.mkdir(parents=True, exist_ok=True)
    for rater, said in lines.items():
        (folder / f"{rater}.jsonl").write_text("".join(said), encoding="utf-8")
    items = tuple(SampledItem(case_id=case_id, transcript_digest=digest)
                  for case_id, digest in digests.items())  # fmt: skip
    sample = Sample(
        name=NAME, run=NAME, suite=NAME, design="uniform",
        strata=(Stratum(name="", total=len(items), drawn=len(items)),), items=items, at=AT,
    )  # fmt: skip
    write_sample(folder, sample)
    print(f"{len(lines)} people, {sum(map(len, lines.values()))} labels")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
