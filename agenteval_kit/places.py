"""Finds a file or folder by its project name, from the top folder, from notebooks/ or installed.

May not make or read anything.
"""

from __future__ import annotations

import os
from pathlib import Path

from agenteval_kit.errors import ConfigError, did_you_mean

__all__ = ["find_place", "own_name"]


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
    here = Path.cwd()
    above = (here / wanted, here.parent / wanted)
    if wanted.is_absolute() or any(place.exists() for place in above):
        place = next((place for place in above if place.exists()), wanted)
        if place.exists() or not must_exist:
            return _short(place, here)
    elif not must_exist:
        # Written to where the project is, never into the package.
        folders = (here, here.parent)
        project = next((f for f in folders if (f / "data" / "suites").is_dir()), here)
        return _short(project / wanted, here)
    package = Path(__file__).resolve().parent
    # The shipped data stands within an installed package, and beside it in a checkout.
    if wanted.parts[:1] == ("data",):
        for data in (package / "_data", package.parent / "data"):
            place = data / wanted.relative_to("data")
            if (data / "suites").is_dir() and place.exists():
                return _short(place, here)
    parent = wanted.parent
    near = did_you_mean(
        wanted.name, [item.name for item in parent.iterdir()] if parent.is_dir() else []
    )
    # A list of everything that happens to lie there would only distract.
    hint = near if "Did you mean" in near else ""
    raise ConfigError(f"{name}: there is no such file or folder.{hint}")


def own_name(path: Path) -> Path:
    """The same place by a path that ends in its name: ``.`` and ``..`` have none."""
    if path.name not in ("", ".."):
        return path
    return path / ".." / os.path.basename(os.path.realpath(path))


def _short(place: Path, here: Path) -> Path:
    """Relative where it lies under the working directory, so that no page names a machine's."""
    return place.relative_to(here) if place.is_relative_to(here) else place
