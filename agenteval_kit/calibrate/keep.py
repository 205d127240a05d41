"""The calibration file: read, checked, and written whole.

May not compute anything.
"""

from __future__ import annotations

from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import read_json, write_atomic
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.records.parsing import parse_record

__all__ = ["read_calibration", "write_calibration"]


def read_calibration(path: Path) -> Calibration:
    """Who is trusted on what, as `calibrate_run` found it.

    Raises
    ------
    ConfigError
        If there is no such file, or it is no calibration.
    """
    if not path.is_file():
        raise ConfigError(
            Problem("there is no calibration yet; `agenteval calibrate` writes one", str(path))
        )
    problems = Problems()
    made = parse_record(
        Calibration,
        read_json(path),
        file=str(path),
        line=lambda _: 1,
        what="calibration",
        problems=problems,
    )
    problems.raise_any()
    assert made is not None
    return made


def write_calibration(path: Path, calibration: Calibration) -> Path:
    """Write a calibration, whole or not at all; the folder is made where it is missing.

    Raises
    ------
    ConfigError
        If the place cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, calibration.model_dump_json(indent=1, exclude_defaults=True) + "\n")
    except OSError as error:
        raise ConfigError(Problem(f"cannot be written: {error.strerror}", str(path))) from None
    return path
