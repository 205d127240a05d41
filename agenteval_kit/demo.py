"""A first look: a real A/B on shipped recordings, from transcripts to the report.

May not score: it calls the same functions as the other commands.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agenteval_kit.compare import compare_checks
from agenteval_kit.errors import ConfigError
from agenteval_kit.files import read_yaml, write_atomic
from agenteval_kit.gate import Decision, decide, load_bar
from agenteval_kit.importers import import_files
from agenteval_kit.records import AgentStamps, Transcript
from agenteval_kit.runs import Run
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.text import counted

__all__ = ["DemoOutcome", "break_copy", "degrade", "run_demo", "shipped_data"]


@dataclass(frozen=True, slots=True)
class DemoOutcome:
    """The verdict on the shipped A/B, and where its report is (None if none was asked for)."""

    decision: Decision
    sentence: str
    baseline: Run
    candidate: Run
    html: Path | None

    def text(self) -> str:
        """What the command prints."""
        lines = [
            f"baseline   {self.baseline.info.agent.prompt}  {self.baseline.path}",
            f"candidate  {self.candidate.info.agent.prompt}  {self.candidate.path}",
            self.candidate.info.data_note or "",
            "",
            self.decision.verdict,
            *(
                f"  {row.status:<11} {row.clause} {row.target}: {row.reason}"
                for row in self.decision.rows
            ),
            self.sentence,
        ]
        if self.html is not None:
            lines += ["", f"report: {self.html}"]
        return "\n".join(lines)


def shipped_data() -> Path:
    """The folder of shipped suites, cases, agents, bars and recordings.

    Raises
    ------
    ConfigError
        If the package was installed without it.
    """
    package = Path(__file__).parent
    for folder in (package / "_data", package.parent / "data"):
        if (folder / "suites").is_dir():
            return folder
    raise ConfigError("the shipped data is not installed; install agenteval-kit again")


def run_demo(
    *, runs: Path = Path("data/runs"), broken: int | None = None, report: bool = True
) -> DemoOutcome:
    """Evaluate the two recorded retail agents, compare them, and render the report.

    Parameters
    ----------
    runs : pathlib.Path
        Where the run folders go.
    broken : int, optional
        In place of the recorded candidate, a simulated one: a copy of the baseline in which this
        many tasks that passed are made to fail.
    report : bool
        Whether to render the HTML report.

    Raises
    ------
    ConfigError
        If fewer than `broken` tasks of the baseline passed.
    """
    data = shipped_data()
    suite_file = data / "suites" / "retail.yaml"
    baseline_agent = data / "agents" / "retail_tool_calling.yaml"
    candidate_agent = data / "agents" / "retail_with_preconditions.yaml"
    if broken is not None:
        candidate_agent = break_copy(baseline_agent, broken, folder=runs / "simulated")
    baseline = _run(suite_file, baseline_agent, runs)
    candidate = _run(suite_file, candidate_agent, runs)
    suite = load_suite(suite_file)
    if suite.bar is None:
        raise ConfigError(f"{suite_file}: names no bar")
    bar = load_bar(suite.bar)
    decision = decide(candidate, bar, baseline=baseline)
    sentence = compare_checks(baseline, candidate).sentence
    html = None
    if report:
        from agenteval_kit.render import render_release  # papermill: only who wants the page pays

        html = render_release(candidate, baseline=baseline, bar=bar).html
    return DemoOutcome(decision, sentence, baseline, candidate, html)


def _run(suite_file: Path, agent: Path, runs: Path) -> Run:
    return run_suite(load_suite(suite_file, agent=agent), root=runs).run


def break_copy(agent: Path, n: int, *, folder: Path, seed: int = 0) -> Path:
    """Copy a recorded agent with `n` tasks that passed made to fail; every stamp says so.

    Returns
    -------
    pathlib.Path
        The agent file of the copy, beside its recording in `folder`.

    Raises
    ------
    ConfigError
        If fewer than `n` tasks passed.
    """
    written = read_yaml(agent).value
    stamps = AgentStamps(model=written["model"], prompt=written["prompt"])
    recording = agent.parent / written["recorded"]
    made = degrade(import_files(recording), n, stamps=stamps, seed=seed)
    copy = folder / f"{agent.stem}-{n}-broken.jsonl"
    write_atomic(copy, "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in made))
    file = copy.with_suffix(".yaml")
    write_atomic(
        file,
        f"recorded: {copy.name}\n"
        "simulated: true\n"
        f"note: Simulated, a copy of {written['prompt']} with {counted(n, 'task')} that passed "
        "made to fail; no agent behaved like this.\n",
    )
    return file


def degrade(
    transcripts: Iterable[Transcript], n: int, *, stamps: AgentStamps, seed: int = 0
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
        raise ConfigError(f"{counted(n, 'task')} to be made to fail, but {len(passed)} passed")
    random.Random(seed).shuffle(passed)
    chosen = set(passed[:n])
    worn = AgentStamps(
        model=stamps.model,
        prompt=f"{stamps.prompt}, simulated: {counted(n, 'passing task')} made to fail",
        origin=f"a simulated degradation (seed {seed}) of a recording; no agent behaved like this",
    )
    return [
        one.model_copy(
            update={"stamps": worn, "reward": 0.0 if one.case_id in chosen else one.reward}
        )
        for one in made
    ]
