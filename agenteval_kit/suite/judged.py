"""A run of a suite with its verdicts: opened, or made from recordings where it is not there yet.

May not ask a model: who wants fresh verdicts calls `judge_run`.
"""

from __future__ import annotations

from pathlib import Path

from agenteval_kit.errors import ConfigError
from agenteval_kit.places import find_place
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run
from agenteval_kit.suite.execute import run_suite
from agenteval_kit.suite.load import load_suite
from agenteval_kit.text import counted

__all__ = ["open_judged"]


def open_judged(
    run: str | Path, *, suite: str | Path | None = None, tape: str | Path | None = None
) -> Run:
    """The run in a folder; where there is none, the suite is run and judged from a tape.

    Places are named from the top of the project, as in `places.find_place`.

    Parameters
    ----------
    run : path
        A run folder. One that is there is opened as it stands.
    suite : path, optional
        Which suite makes it: its agent, its rubric and its judges.
    tape : path, optional
        The recorded replies of those judges.

    Raises
    ------
    ConfigError
        If there is no run, and a suite or a tape to make it from is missing or not whole.
    """
    folder = find_place(run, must_exist=False)
    if (folder / "run.json").exists() or suite is None or tape is None:
        return Run.open(folder)
    # Late: a suite is checked without what judges.
    from agenteval_kit.judge import judge_run, open_judges

    loaded = load_suite(find_place(suite))
    if loaded.spec.rubric is None:
        raise ConfigError(f"{suite}: names no rubric, so nothing can be judged; add rubric:")
    rubric = load_rubric(loaded.file.parent / loaded.spec.rubric)
    made = run_suite(loaded, out=folder).run
    result = judge_run(
        made, rubric, open_judges(loaded.spec.judge, replay=find_place(tape)), items=loaded.items
    )
    if not result.complete:
        reason = result.stopped or f"{counted(result.failed, 'verdict')} without a reply on it"
        raise ConfigError(
            f"{tape}: {reason}; the run in {folder} is judged in part. "
            "Judge it with `agenteval judge`, or delete it."
        )
    return made
