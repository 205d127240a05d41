"""Two runs with answers, and judges that say what a test needs, through the real client.

May not replace anything of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders import STAMPS, make_run

from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.retries import Retries
from agenteval_kit.records import AgentStamps, Dimension, Turn
from agenteval_kit.runs import Run
from agenteval_kit.testing.answers import Asked
from agenteval_kit.testing.server import ScriptedServer

Answers = Mapping[str, str | Sequence[str] | None]
"""Case -> what the agent answered, by repeat; None is a missing transcript."""

BETTER = Dimension(
    name="outcome",
    kind="pairwise",
    layer="outcome",
    definition="Which answer gives the asker more of what was asked for.",
    inputs=["question"],
)
NEW_AGENT = AgentStamps(model="rules", prompt="v2")


def run_of(
    root: Path,
    answers: Answers,
    *,
    name: str,
    agent: AgentStamps = STAMPS,
    failures: Mapping[tuple[str, int], str] | None = None,
    turns: Mapping[str, Sequence[Turn]] | None = None,
    **more: Any,
) -> Run:
    """A run whose agent answered ``Question <case>?``; or said what `turns` hold."""
    by_case = {
        case: [said] if said is None or isinstance(said, str) else list(said)
        for case, said in answers.items()
    }
    keys = [(case, repeat) for case, each in by_case.items() for repeat in range(len(each))]
    return make_run(
        root,
        {case: [{"outcome": True} for _ in each] for case, each in by_case.items()},
        name=name,
        agent=agent,
        failures=failures,
        missing=[key for key in keys if by_case[key[0]][key[1]] is None],
        turns={
            key: list((turns or {}).get(key[0], ()))
            or [
                Turn(role="user", text=f"Question {key[0]}?"),
                Turn(role="assistant", text=by_case[key[0]][key[1]] or ""),
            ]
            for key in keys
        },
        **more,
    )


def old_run(root: Path, answers: Answers, **more: Any) -> Run:
    """The run called "old"."""
    return run_of(root, answers, name="old", **more)


def new_run(root: Path, answers: Answers, **more: Any) -> Run:
    """The run called "new", of another agent."""
    return run_of(root, answers, name="new", **{"agent": NEW_AGENT, **more})


def candidates(asked: Asked) -> tuple[str, str]:
    """What the judge was shown as A and as B."""
    text = asked.text
    return tuple(  # type: ignore[return-value]
        re.search(rf"<candidate_{slot}>\n(.*?)\n</candidate_{slot}>", text, re.DOTALL)[1]  # type: ignore[index]
        for slot in "ab"
    )


def prefers(better: Callable[[str], float]) -> Callable[[Asked], dict[str, str]]:
    """A judge that looks at nothing but the candidates' worth."""

    def answer(asked: Asked) -> dict[str, str]:
        first, second = (better(text) for text in candidates(asked))
        said = "TIE" if first == second else "A" if first > second else "B"
        return {"because": f"{first} and {second}.", "preferred": said}

    return answer


def says(value: str) -> Callable[[Any], dict[str, str]]:
    """A judge that says the same whatever it is shown; for a server or a `ScriptedModel`."""
    return lambda _: {"because": "So it is.", "preferred": value}


def longer(text: str) -> float:
    """The worth of a candidate to a judge that likes length."""
    return len(text)


def judge_at(server: ScriptedServer, *, name: str = "judge-1", **given: Any) -> OpenAIModel:
    """A judge behind the real client."""
    return OpenAIModel(name, base_url=server.base_url, **{"retries": Retries(first=0.01), **given})
