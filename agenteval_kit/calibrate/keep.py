"""The calibration file: read, checked, held while it is made anew, and written whole.

May not compute a statistic.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agenteval_kit.errors import ConfigError, InfrastructureError, Problem
from agenteval_kit.files import digest, read_record, write_atomic
from agenteval_kit.records.calibrations import Calibration, DimensionCalibration
from agenteval_kit.text import counted

__all__ = ["hold_calibration", "read_calibration", "write_calibration"]


def read_calibration(path: Path) -> Calibration:
    """Who is trusted on what, as `calibrate_run` found it.

    An entry that is not as it was written is stale: nobody's labels speak for it. Where an entry
    or a look was added or taken out by hand, nothing of the file is trusted.

    Raises
    ------
    ConfigError
        If there is no such file, or it is no calibration.
    """
    if not path.is_file():
        raise ConfigError(
            Problem("there is no calibration yet; `agenteval calibrate` writes one", str(path))
        )
    made = read_record(path, Calibration, what="calibration")
    whole = made.seal == _seal(made)
    found = tuple(_as_found(one, whole=whole) for one in made.dimensions)
    return made.model_copy(update={"dimensions": found})


def write_calibration(path: Path, calibration: Calibration) -> Path:
    """Write a calibration, whole or not at all; the folder is made where it is missing.

    Raises
    ------
    ConfigError
        If what stands there is no calibration, or holds what this one would lose.
    InfrastructureError
        If the place cannot be written.
    """
    sealed = [one.model_copy(update={"seal": _seal(one)}) for one in calibration.dimensions]
    made = calibration.model_copy(update={"dimensions": tuple(sealed)})
    made = made.model_copy(update={"seal": _seal(made)})
    with _alone(path):
        if path.is_file():
            _require_kept(path, made)
        try:
            write_atomic(path, made.model_dump_json(indent=1, exclude_defaults=True) + "\n")
        except OSError as error:
            raise _unwritten(path, error) from None
    return path


@contextmanager
def hold_calibration(path: Path) -> Iterator[Calibration | None]:
    """What stands in a calibration file, or None, while nobody else may write it anew.

    Of two that calibrate at once the second waits here, and counts the first one's look.

    Raises
    ------
    ConfigError
        If what stands there is no calibration.
    InfrastructureError
        If the place cannot be written.
    """
    with _alone(path):
        yield read_calibration(path) if path.is_file() else None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = (path.parent / f".{path.name}.lock").open("w")
    except OSError as error:
        raise _unwritten(path, error) from None
    with handle:
        # A lock of the process: who holds the file may write it.
        fcntl.lockf(handle, fcntl.LOCK_EX)
        yield


def _require_kept(path: Path, made: Calibration) -> None:
    there = read_calibration(path)
    known = {_about(one) for one in made.dimensions}
    gone = [one for one in there.dimensions if _about(one) not in known]
    if gone or set(there.looks) - set(made.looks):
        raise ConfigError(
            Problem(
                "holds entries or looks that would be lost: somebody has calibrated since it was "
                "read; read it again and calibrate anew",
                str(path),
            )
        )


def _about(one: DimensionCalibration) -> tuple[str, ...]:
    return (one.dimension, one.judge_digest, one.run, one.labels_digest)


def _as_found(one: DimensionCalibration, *, whole: bool) -> DimensionCalibration:
    # Files of before there was a seal have none; trust is not taken on anybody's word.
    repeats = _on_repeats(one)
    edited = one.seal != _seal(one) and (one.seal or one.state == "trusted")
    if not edited and repeats:
        return one.model_copy(update={"state": "stale", "reason": repeats})
    if not edited and (whole or one.state != "trusted"):
        return one
    what = "its entry was" if edited else "other entries or looks of the file were"
    why = f"{what} edited since it was written; run `agenteval calibrate` again"
    return one.model_copy(update={"state": "stale", "reason": why})


def _on_repeats(one: DimensionCalibration) -> str:
    """That trust of an older file counted repeats of one scenario as labels each; or empty."""
    cases = {
        pair.case_id
        for pair in one.pairs
        if pair.half == "held out" and pair.judge is not None
        and pair.case_id not in (one.apart or ())
    }  # fmt: skip
    if one.state != "trusted" or not cases or len(cases) >= min(one.rule.min_labels, one.held_out):
        return ""
    return (
        f"found on {counted(len(cases), 'scenario')} with repeats; "
        f"{counted(one.rule.min_labels, 'scenario')} wanted: run `agenteval calibrate` again"
    )


def _seal(one: DimensionCalibration | Calibration) -> str:
    # Without what has its default, so that a field that is added later breaks no seal.
    return digest(one.model_dump(mode="json", exclude={"seal"}, exclude_defaults=True))


def _unwritten(path: Path, error: OSError) -> InfrastructureError:
    return InfrastructureError(f"{path}: cannot be written: {error.strerror}")
