"""Whether pyproject.toml, environment.yml and constraints.txt name the same dependencies.

May change none of them: it prints what differs and ends with 1, or says that all agree.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import yaml
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ENVIRONMENT_EXTRAS = ("lab",)
PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[A-Za-z0-9.!+_-]+)")


def find_differences(folder: Path) -> list[str]:
    """Sentences about what does not agree in the three files of a folder; empty when all does."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project.get("optional-dependencies", {})
    run_time = _by_name(
        [*project["dependencies"], *(line for name in ENVIRONMENT_EXTRAS for line in extras[name])]
    )
    everything = run_time | _by_name(line for lines in extras.values() for line in lines)
    return [
        *_environment_differences(folder / "environment.yml", run_time),
        *_constraint_differences(folder / "constraints.txt", everything),
    ]


def _by_name(lines: Iterable[str]) -> dict[str, Requirement]:
    wanted = [Requirement(line) for line in lines]
    return {canonicalize_name(requirement.name): requirement for requirement in wanted}


def _environment_differences(path: Path, wanted: dict[str, Requirement]) -> list[str]:
    listed = yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]
    found = []
    conda = [line for line in listed if isinstance(line, str)]
    for line in conda:
        if re.split(r"[<>=! ]", line)[0] not in {"python", "pip"}:
            found.append(f'{path.name}: "{line}" belongs under pip: there')
    pip_lines = [line for entry in listed if isinstance(entry, dict) for line in entry["pip"]]
    if "-e ." not in pip_lines:
        found.append(f'{path.name}: "-e ." is missing: the package itself would not be installed')
    named = _by_name(line for line in pip_lines if not line.startswith("-"))
    for name, requirement in wanted.items():
        if name not in named:
            found.append(f'{path.name}: "{requirement}" of pyproject.toml is missing')
        elif str(named[name]) != str(requirement):
            found.append(
                f'{path.name}: says "{named[name]}" where pyproject.toml says "{requirement}"'
            )
    for name in named.keys() - wanted.keys():
        found.append(f'{path.name}: "{named[name]}" is not in pyproject.toml')
    return found


def _constraint_differences(path: Path, wanted: dict[str, Requirement]) -> list[str]:
    found = []
    pins: dict[str, Version] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        pin = PIN.fullmatch(line)
        if pin is None:
            found.append(f'{path.name}:{number}: "{line}" is not of the form name==version')
            continue
        name = canonicalize_name(pin["name"])
        if name in pins:
            found.append(f"{path.name}:{number}: {name} is pinned twice")
        pins[name] = Version(pin["version"])
    for name, requirement in wanted.items():
        if name not in pins:
            found.append(f"{path.name}: {name} is not pinned; run `make constraints`")
        elif not requirement.specifier.contains(pins[name], prereleases=True):
            found.append(
                f'{path.name}: pins {name} {pins[name]}, but pyproject.toml wants "{requirement}"'
            )
    return found


def main() -> int:
    """Print the differences in this repository; 1 when there are any."""
    try:
        found = find_differences(Path(__file__).resolve().parent.parent)
    except InvalidRequirement as error:
        found = [str(error)]
    for line in found:
        print(line)
    if not found:
        print("pyproject.toml, environment.yml and constraints.txt agree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
