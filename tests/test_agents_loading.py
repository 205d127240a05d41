"""From a specification to an agent: modules, neighbours, stamps, recordings."""

from __future__ import annotations

import textwrap
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agenteval_kit.agents import RecordedAgent, load_agent
from agenteval_kit.errors import ConfigError, StampError
from agenteval_kit.records import AgentSpec, AgentStamps, Case, Transcript
from agenteval_kit.simulate import converse

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMPS = AgentStamps(model="rules", prompt="v1")
CASE = Case(id="c1", input="How much leave do I have?")


def write(path: Path, code: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(code))
    return path


def spec(**given: object) -> AgentSpec:
    return AgentSpec(**{"model": "rules", "prompt": "v1", **given})  # type: ignore[arg-type]


# Loading.


def test_a_module_is_found_beside_the_file_then_among_the_agents(tmp_path: Path) -> None:
    write(tmp_path / "agents" / "a.py", "def f(messages): return 'from agents'")
    suites = tmp_path / "suites"
    suites.mkdir()

    first = converse(load_agent(spec(call="a:f"), folder=suites), CASE, now=NOW).answer
    write(suites / "a.py", "def f(messages): return 'from beside'")
    second = converse(load_agent(spec(call="a:f"), folder=suites), CASE, now=NOW).answer

    assert (first, second) == ("from agents", "from beside")


@pytest.mark.parametrize(
    "code", ["import sys\nsys.exit(0)", "class Odd(BaseException): ...\nraise Odd"]
)
def test_a_module_that_leaves_while_it_is_imported_is_an_error_of_configuration(
    tmp_path: Path, code: str
) -> None:
    write(tmp_path / "leaves.py", code)

    with pytest.raises(ConfigError, match="its import failed: (SystemExit|Odd)"):
        load_agent(spec(call="leaves:f"), folder=tmp_path)


def test_two_folders_with_neighbours_of_one_name_do_not_meet(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name / "main.py", "import rules\ndef f(messages): return rules.NAME")
        write(tmp_path / name / "rules.py", f"NAME = {name!r}")

    agents = [load_agent(spec(call="main:f"), folder=tmp_path / name) for name in ("one", "two")]

    assert [converse(agent, CASE, now=NOW).answer for agent in agents] == ["one", "two"]


def test_an_edit_is_seen_at_the_next_loading(tmp_path: Path) -> None:
    write(tmp_path / "main.py", "from rules import NAME\ndef f(messages): return NAME")
    answers = []
    for name in ("aaa", "bbb"):
        write(tmp_path / "rules.py", f"NAME = {name!r}")
        answers.append(converse(load_agent(spec(call="main:f"), folder=tmp_path), CASE, now=NOW))

    assert [one.answer for one in answers] == ["aaa", "bbb"]
    assert not list(tmp_path.rglob("*.pyc"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("nowhere:f", "there is no module nowhere"),
        ("main:g", 'main has no "g". Did you mean'),
        ("broken:f", "its import failed: ZeroDivisionError"),
        ("main:NUMBER", '"main:NUMBER" cannot be called: it is of type int'),
    ],
)
def test_what_cannot_be_loaded_is_configuration(tmp_path: Path, call: str, message: str) -> None:
    write(tmp_path / "main.py", "NUMBER = 3\ndef gg(messages): return ''")
    write(tmp_path / "broken.py", "1 / 0")

    with pytest.raises(ConfigError) as raised:
        load_agent(spec(call=call), folder=tmp_path)

    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("given", "missing"),
    [({"model": None}, "no model stamp"), ({"prompt": None}, "no prompt stamp"),
     ({"model": None, "prompt": None}, "no model and no prompt stamp")],
)  # fmt: skip
def test_an_agent_without_stamps_is_refused(
    tmp_path: Path, given: dict[str, None], missing: str
) -> None:
    write(tmp_path / "main.py", "def f(messages): return ''")

    with pytest.raises(StampError, match=missing):
        load_agent(spec(call="main:f", **given), folder=tmp_path)


def test_the_source_stamp_covers_the_file_and_the_neighbours_it_imports(tmp_path: Path) -> None:
    write(
        tmp_path / "main.py",
        """
        def f(messages):
            import rules
            return rules.NAME
        """,
    )
    write(tmp_path / "rules.py", "from pack.deep import NAME")
    write(tmp_path / "pack" / "__init__.py", "")
    write(tmp_path / "pack" / "deep.py", "from . import names\nNAME = names.NAME")
    write(tmp_path / "pack" / "names.py", "NAME = 'n'")
    write(tmp_path / "unrelated.py", "X = 1")

    def stamp() -> str | None:
        return load_agent(spec(call="main:f"), folder=tmp_path).stamps.source_digest

    digests = [stamp(), stamp()]
    write(tmp_path / "unrelated.py", "X = 2")
    digests.append(stamp())
    assert len(set(digests)) == 1

    for name in ("main.py", "rules.py", "pack/deep.py", "pack/names.py"):
        path = tmp_path / name
        path.write_text(path.read_text() + "\n# changed")
        digests.append(stamp())
    assert len(set(digests)) == 5


# Recordings.


def recorded(*keys: tuple[str, int], stamps: AgentStamps | None = None) -> dict[object, Transcript]:
    return {
        (name, repeat): Transcript(
            case_id=name, repeat=repeat, stop="recorded", stamps=stamps,
            turns=({"role": "assistant", "text": f"{name}/{repeat}"},),  # type: ignore[arg-type]
        )
        for name, repeat in keys
    }  # fmt: skip


def test_a_recording_is_found_by_case_and_repeat() -> None:
    agent = RecordedAgent(recorded(("c1", 0), ("c1", 1)), stamps=STAMPS)  # type: ignore[arg-type]

    answers = [converse(agent, Case(id="c1"), now=NOW, repeat=n) for n in (1, 0)]

    assert [(one.answer, one.stop) for one in answers] == [
        ("c1/1", "recorded"), ("c1/0", "recorded"),
    ]  # fmt: skip


def test_what_was_not_recorded_is_configuration() -> None:
    agent = RecordedAgent(recorded(("c1", 0), ("c1", 1)), stamps=STAMPS)  # type: ignore[arg-type]

    with pytest.raises(ConfigError, match='"c1" has no repeat 2 in the recording; it has 0, 1'):
        converse(agent, Case(id="c1"), now=NOW, repeat=2)
    with pytest.raises(ConfigError, match='"c2" is not in the recording. Known: c1'):
        converse(agent, Case(id="c2"), now=NOW)


def test_a_recording_carries_its_stamps_or_is_given_some(tmp_path: Path) -> None:
    def write_rows(*stamps: AgentStamps | None) -> None:
        rows = [
            Transcript(case_id=f"c{n}", stamps=one, turns=({"role": "user"},))  # type: ignore[arg-type]
            for n, one in enumerate(stamps)
        ]
        text = "\n".join(row.model_dump_json() for row in rows)
        (tmp_path / "transcripts.jsonl").write_text(text)

    def load(**given: object) -> AgentStamps:
        one = AgentSpec(recorded="transcripts.jsonl", **given)  # type: ignore[arg-type]
        return load_agent(one, folder=tmp_path).stamps

    write_rows(STAMPS, STAMPS)
    assert load() == STAMPS
    assert load(model="m", prompt="p").model == "m"
    write_rows(None)
    with pytest.raises(StampError, match="carry no stamps"):
        load()
    write_rows(STAMPS, AgentStamps(model="other", prompt="v1"))
    with pytest.raises(StampError, match="transcripts of 2 agents"):
        load()


def test_a_program_has_a_time_limit_if_it_was_given_one(tmp_path: Path) -> None:
    write(
        tmp_path / "slow.py",
        """
        import time
        def f(messages):
            time.sleep(0.5)
            return "late"
        """,
    )

    limited = load_agent(spec(call="slow:f", timeout=0.1), folder=tmp_path)
    free = load_agent(spec(call="slow:f"), folder=tmp_path)

    assert converse(limited, CASE, now=NOW).stop == "agent_timeout"
    assert converse(limited, CASE, now=NOW, timeout=5).answer == "late"
    assert free.timeout is None
