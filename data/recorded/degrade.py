"""Copies a recording with some passing tasks made to fail, to see whether a gate notices.

May not pass for a recording: the stamps of every transcript say that it is simulated.

    python data/recorded/degrade.py data/agents/retail_tool_calling.yaml 9 --out worse.jsonl
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable
from pathlib import Path

from agenteval_kit.errors import AgentEvalError, ConfigError
from agenteval_kit.files import read_yaml, write_atomic
from agenteval_kit.importers import import_files
from agenteval_kit.records import AgentStamps, Transcript

DEFAULT_SEED = 0


def degrade(
    transcripts: Iterable[Transcript], n: int, *, stamps: AgentStamps, seed: int = DEFAULT_SEED
) -> list[Transcript]:
    """Set the reward of `n` tasks that passed to 0, in all their repeats.

    With one seed the tasks chosen for 2 are among those chosen for 9. What was said and done
    stays as recorded: only the outcome is made to fail.

    Raises
    ------
    ConfigError
        If fewer than `n` tasks passed in some repeat.
    """
    made = list(transcripts)
    passed = sorted({one.case_id for one in made if one.reward == 1.0})
    if not 0 <= n <= len(passed):
        raise ConfigError(f"{n} tasks were to be made to fail, but {len(passed)} passed")
    random.Random(seed).shuffle(passed)
    chosen = set(passed[:n])
    worn = AgentStamps(
        model=stamps.model,
        prompt=f"{stamps.prompt}, simulated: {n} passing tasks made to fail",
        origin=f"a simulated degradation (seed {seed}) of a recording; no agent behaved like this",
    )
    return [
        one.model_copy(
            update={"stamps": worn, "reward": 0.0 if one.case_id in chosen else one.reward}
        )
        for one in made
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent", type=Path, help="agent file that names the recording")
    parser.add_argument("tasks", type=int, help="how many passing tasks are made to fail")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--out", type=Path, required=True, help="transcripts.jsonl to write")
    given = parser.parse_args(arguments)
    try:
        agent = read_yaml(given.agent).value
        stamps = AgentStamps(model=agent["model"], prompt=agent["prompt"])
        recording = given.agent.parent / agent["recorded"]
        made = degrade(import_files(recording), given.tasks, stamps=stamps, seed=given.seed)
    except AgentEvalError as error:
        print(error, file=sys.stderr)
        return 2
    write_atomic(
        given.out, "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in made)
    )
    print(f"{given.out}: {len(made)} transcripts, {given.tasks} tasks made to fail (simulated)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
