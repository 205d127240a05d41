"""Finds a file or folder by its project name, from the top folder, from notebooks/ or installed.

May not make or read anything.
"""

from __future__ import annotations

from pathlib import Path

from agenteval_kit.errors import ConfigError, did_you_mean

__all__ = ["find_place"]


def find_place(name: str | Path, *, must_exist: bool = True) -> Path:
    """Where ``data/suites/triage.yaml`` lies, wherever this was started.

    A path that exists is taken as it stands. JupyterLab starts a notebook in its own folder, so
    the folder above is looked at next; then the files that were shipped with the package.

    Parameters
    ----------
    name : str or pathlib.Path
        A path as it is named from the top folder of a project.
    must_exist : bool
        Whether there must be something; a folder for runs is made later by whoever fills it.

    Raises
    ------
    ConfigError
        If there is no such file or folder.
    """
    wanted = Path(name)
    if wanted.is_absolute() and (wanted.exists() or not must_exist):
        return wanted
    here = Path.cwd()
    package = Path(__file__).resolve().parent
    # The shipped data stands beside the package in a checkout, and within it when installed.
    shipped = wanted.relative_to("data") if wanted.parts[:1] == ("data",) else wanted
    for place in (here / wanted, here.parent / wanted, package / "_data" / shipped):
        if place.exists():
            return _short(place, here)
    beside = package.parent / wanted
    if beside.exists() and (package.parent / "data" / "suites").is_dir():
        return _short(beside, here)
    if not must_exist:
        for folder in (here, here.parent):
            if (folder / "data" / "suites").is_dir():
                return _short(folder / wanted, here)
        return wanted
    parent = wanted.parent
    names = [item.name for item in parent.iterdir()] if parent.is_dir() else []
    raise ConfigError(f"{name}: there is no such file or folder.{did_you_mean(wanted.name, names)}")


def _short(place: Path, here: Path) -> Path:
    """Relative where it lies under the working directory, so that no page names a machine's."""
    return place.relative_to(here) if place.is_relative_to(here) else place
