"""Code that a file names: found nearby, and never mixed up with another folder's."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.targets import find_module, load_target


def write(folder: Path, answer: str) -> Path:
    folder.mkdir()
    (folder / "namesake_tools.py").write_text(f"ANSWER = {answer!r}\n")
    (folder / "namesake_agent.py").write_text(
        "import namesake_tools\n\n\ndef answer():\n    return namesake_tools.ANSWER\n"
    )
    return folder


def test_two_folders_with_neighbours_of_one_name_each_get_their_own(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", "first"), write(tmp_path / "two", "second")

    first = load_target("namesake_agent:answer", folder=one)
    second = load_target("namesake_agent:answer", folder=two)

    assert (first(), second()) == ("first", "second")


def test_a_module_is_looked_for_beside_the_file_then_in_the_sibling_folder(tmp_path: Path) -> None:
    write(tmp_path / "agents", "x")
    (tmp_path / "suites").mkdir()

    found = find_module("namesake_agent", folder=tmp_path / "suites")

    assert found == (tmp_path / "agents" / "namesake_agent.py").resolve()
    assert find_module("no_such_module", folder=tmp_path / "suites") is None


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("namesake_agent:answr", 'has no "answr". Did you mean "answer"?'),
        ("no_such_module_here:answer", "there is no module no_such_module_here"),
    ],
)
def test_what_is_not_there_is_told_with_a_near_name(tmp_path: Path, target: str, said: str) -> None:
    folder = write(tmp_path / "agents", "x")

    with pytest.raises(ConfigError) as caught:
        load_target(target, folder=folder)

    assert said in str(caught.value)
