"""Makes data/tapes/recipes.jsonl: what a real, tiny model says of the recorded recipes.

May not choose among replies: each is asked for once, at temperature 0, and kept as it came.
`make local-model` installs the model; on one thread this takes about five minutes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from local_model import NAME, find_weights, serve

from agenteval_kit.files import write_atomic
from agenteval_kit.judge import judge_run, load_judges
from agenteval_kit.models.tape import Tape
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.suite import load_suite, run_suite

DATA = Path(__file__).resolve().parent.parent / "data"
PORT = 8124
"""Where the suite looks for it; the address is part of what was asked."""


def main() -> int:
    """Judge every recipe on every dimension of the rubric, and keep the replies."""
    weights = find_weights()
    if weights is None:
        print(f"{NAME} is not installed here; `make local-model` installs it", file=sys.stderr)
        return 2
    server = serve(weights, port=PORT)
    print(f"{NAME} at {server.listening_address}/v1", flush=True)
    suite = load_suite(DATA / "suites" / "recipes.yaml")
    assert suite.spec.judge is not None
    # One at a time: the server answers one after the other, and nobody should wait in vain.
    judges = load_judges(suite.spec.judge, max_concurrency=1, timeout=600)
    rubric = load_rubric(DATA / "rubrics" / "recipes.yaml")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    run = run_suite(suite, out=folder).run
    complete = True
    for dimension in rubric.dimensions:
        result = judge_run(run, rubric, judges, items=suite.items, dimensions=[dimension.name])
        complete &= result.complete
        print(f"{dimension.name}: {result.replies} replies", flush=True)
    lines = [json.dumps(row, separators=(",", ":")) + "\n" for row in Tape(run.tape_path).rows()]
    write_atomic(DATA / "tapes" / "recipes.jsonl", "".join(lines))
    print(f"{len(lines)} replies kept; the run is {folder}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
