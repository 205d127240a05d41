"""`agenteval new` writes a suite that works; `agenteval doctor` names what is wrong here."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.errors import ConfigError
from agenteval_kit.scaffold import Finding, doctor, new_suite
from agenteval_kit.scaffold.doctor import (
    check_clock,
    check_encoding,
    check_folder,
    check_kernel,
    check_keys,
    check_packages,
    check_programs,
    check_python,
    check_space,
    required_packages,
)
from agenteval_kit.suite import load_suite

# new


def test_new_suite_passes_its_own_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "returns"]) == 0
    written = capsys.readouterr().out.split()

    code = main(["check", "returns/suite.yaml", "--json"])

    assert code == 0
    assert written[0] == "returns/README.md"
    assert json.loads(capsys.readouterr().out)


def test_new_suite_fails_when_its_agent_is_made_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    new_suite("returns")
    agent = tmp_path / "returns" / "agent.py"
    agent.write_text(agent.read_text().replace("DAYS_TO_RETURN = 30", "DAYS_TO_RETURN = 60"))

    code = main(["check", "returns/suite.yaml"])

    assert code == 1
    assert "how-long" in capsys.readouterr().out


def test_new_suite_reaches_its_own_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    new_suite("returns")
    assert main(["run", "returns/suite.yaml", "--out", "runs/v1"]) == 0
    capsys.readouterr()

    code = main(["gate", "runs/v1", "--bar", "returns/bar.yaml"])

    assert code == 0
    assert "SHIP" in capsys.readouterr().out


def test_new_suite_carries_its_name_and_no_placeholder(tmp_path: Path) -> None:
    written = new_suite("my-returns_2", tmp_path)

    assert [path.name for path in written] == [
        "README.md",
        "agent.py",
        "agent_chat.yaml",
        "bar.yaml",
        "cases.jsonl",
        "prompt.md",
        "suite.yaml",
    ]
    assert all("__name__" not in path.read_text(encoding="utf-8") for path in written)
    assert load_suite(tmp_path / "my-returns_2" / "suite.yaml").spec.name == "my-returns_2"


def test_new_suite_offers_a_chat_agent_that_loads_beside_the_program(tmp_path: Path) -> None:
    new_suite("returns", tmp_path)

    suite = load_suite(
        tmp_path / "returns" / "suite.yaml", agent=tmp_path / "returns" / "agent_chat.yaml"
    )

    assert suite.agent.spec.kind == "chat"
    assert re.search(r"\d{4}-\d{2}-\d{2}$", suite.agent.spec.model or "")


def test_every_command_in_the_readme_of_a_new_suite_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = new_suite("returns", tmp_path)[0].read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path / "returns")
    commands = re.findall(r"^\s{4,}agenteval (.+)$", readme, flags=re.MULTILINE)

    codes = {command: main(command.split()) for command in commands}

    assert len(codes) == 3
    assert set(codes.values()) == {0}


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("Returns", ', such as "returns"'),
        ("my returns!", ', such as "my-returns"'),
        ("2nd", ', such as "nd"'),
        ("../up", ', such as "up"'),
        ("", ""),
        ("тест", ""),
    ],
)
def test_a_name_that_is_none_is_refused_with_a_suggestion(
    name: str, suggestion: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        new_suite(name, tmp_path)

    assert str(caught.value) == (
        f'"{name}" is no name for a suite; use lower-case letters, digits, "-" and "_", '
        f"starting with a letter{suggestion}"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "returns").mkdir()

    with pytest.raises(ConfigError) as caught:
        new_suite("returns", tmp_path)

    assert str(caught.value) == (
        f"{tmp_path / 'returns'}: is there already; choose another name or --folder"
    )
    assert list((tmp_path / "returns").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ConfigError, match=r"cannot be written: .*; name another --folder"):
        new_suite("returns", tmp_path / "file")


# doctor


def test_doctor_finds_nothing_broken_where_the_tests_run(tmp_path: Path) -> None:
    findings = doctor(tmp_path)

    assert [str(finding) for finding in findings if finding.level == "broken"] == []
    assert {finding.level for finding in findings} <= {"ok", "look"}


def test_doctor_ends_with_2_when_something_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted with a space")

    code = main(["doctor"])

    assert code == 2
    assert "broken  OPENAI_API_KEY has a space or a line end in it" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["sk-planted", "sk-plan ted", "sk-planted\n"])
def test_doctor_never_shows_the_value_of_a_key(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", value)
    monkeypatch.setenv("OPENAI_BASE_URL", f"https://user:{value.strip()}@models.example.com/v1")

    main(["doctor"])

    printed = capsys.readouterr()
    assert "plan" not in printed.out + printed.err


def test_doctor_shows_one_line_a_finding_with_its_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["doctor"])

    lines = capsys.readouterr().out.splitlines()
    assert all(re.match(r"(ok     |look   |broken ) \S", line) for line in lines)
    assert str(Finding("look", "no git", "Install git")) == "look    no git. Install git"
    assert str(Finding("ok", "Python 3.11.7")) == "ok      Python 3.11.7"


@pytest.mark.parametrize(
    ("version", "platform", "level"),
    [
        ((3, 11, 0), "linux", "ok"),
        ((3, 13, 1), "darwin", "ok"),
        ((3, 10, 13), "linux", "broken"),
        ((3, 12, 0), "win32", "broken"),
    ],
)
def test_python_and_system(version: tuple[int, ...], platform: str, level: str) -> None:
    assert check_python(version, platform=platform).level == level


def test_packages_that_are_missing_or_too_old_are_broken_with_the_command_that_mends_it() -> None:
    findings = check_packages(["numpy>=1", "pydantic>=9999", "no-such-package-at-all>=1"], {})

    assert [finding.level for finding in findings] == ["broken", "broken"]
    assert "but pydantic>=9999 is wanted" in findings[0].what
    assert findings[1].what == "no-such-package-at-all is missing"
    assert findings[1].remedy.endswith("-m pip install 'no-such-package-at-all>=1'")


def test_a_package_in_another_release_than_in_ci_is_worth_a_look() -> None:
    (finding,) = check_packages(["pydantic>=1"], {"pydantic": "0.0.1"})

    assert finding.level == "look"
    assert "(CI: 0.0.1)" in finding.what
    assert finding.remedy == "To have the same: pip install -c constraints.txt -e ."


def test_what_is_required_is_read_from_this_checkout() -> None:
    needs, pins = required_packages()

    assert "numpy>=2.4" in needs
    assert "numpy" in pins


def test_a_kernel_that_does_not_start_is_broken_with_its_reason(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'ImportError: libzmq is not here' >&2\nexit 1\n")
    python.chmod(0o755)

    finding = check_kernel(str(python))

    assert finding.level == "broken"
    assert finding.what == "no Jupyter kernel: ImportError: libzmq is not here"
    assert check_kernel(str(tmp_path / "none")).level == "broken"
    assert check_kernel(sys.executable).level == "ok"


def test_programs_that_only_part_of_the_kit_needs_are_worth_a_look() -> None:
    nowhere = check_programs(lambda name: None)
    everywhere = check_programs(lambda name: f"/usr/bin/{name}")

    assert {finding.what.split(":")[0] for finding in nowhere if finding.level == "look"} >= {
        "no Chromium",
        "no git",
    }
    assert all("Chromium" not in finding.what or finding.level == "ok" for finding in everywhere)


def test_a_folder_that_cannot_be_written_is_broken(tmp_path: Path) -> None:
    gone = check_folder(Path("/proc/none/data/runs"))

    assert gone.level == "broken"
    assert check_folder(tmp_path / "data" / "runs").level == "ok"
    assert list(tmp_path.iterdir()) == []


def test_little_room_a_narrow_terminal_and_a_wrong_clock_are_named() -> None:
    assert check_space(10_000_000).level == "look"
    assert check_space(10_000_000_000).level == "ok"
    assert check_encoding("ascii").remedy == "export PYTHONUTF8=1"
    assert check_encoding(None).level == "look"
    assert check_encoding("UTF-8").level == "ok"
    assert check_clock("1970-01-01T00:00:00Z").level == "broken"
    assert check_clock("2027-01-01T00:00:00Z").level == "ok"


def test_keys_that_are_not_set_only_limit_what_can_be_run() -> None:
    unset = check_keys({})
    set_ = check_keys({"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://localhost:1/v1"})

    assert [finding.level for finding in unset] == ["look", "ok"]
    assert [finding.level for finding in set_] == ["ok", "ok"]
