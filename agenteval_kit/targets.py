"""Finds the Python object behind ``module:name`` in a file that a person wrote.

May not call it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem, did_you_mean

__all__ = ["find_module", "load_target"]


def find_module(
    name: str, *, folder: Path, siblings: Sequence[str] = ("../agents",)
) -> Path | None:
    """The file of a module: beside the file that names it, else in a sibling folder, else None.

    Parameters
    ----------
    name : str
        Dotted module name, or a relative path ending in ``.py``.
    folder : pathlib.Path
        Folder of the file that names it.
    siblings : sequence of str
        Folders to look in next, relative to `folder`.
    """
    relative = name if name.endswith(".py") else name.replace(".", "/") + ".py"
    for base in (folder, *(folder / sibling for sibling in siblings)):
        path = base / relative
        if path.is_file():
            return path.resolve()
    return None


def load_target(
    target: str, *, folder: Path, siblings: Sequence[str] = ("../agents",), fresh: bool = False
) -> Any:
    """The object that ``module:name`` names.

    A module file is loaded under a private name, once a process unless `fresh`, and may import
    its neighbours. A module that is no file nearby is imported as usual.

    Raises
    ------
    ConfigError
        If there is no such module or name, or the module fails to import (with the reason).
    """
    name, _, attribute = target.partition(":")
    path = find_module(name, folder=folder, siblings=siblings)
    try:
        module = _load_file(path, fresh=fresh) if path else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if path is None and error.name and name.split(".")[0] == error.name.split(".")[0]:
            looked = ", ".join(str(folder / sibling) for sibling in (".", *siblings))
            raise ConfigError(
                f'"{target}": there is no module {name} (looked in {looked} and on the path)'
            ) from None
        raise ConfigError(f'"{target}": its import failed: {error}') from error
    except (ConfigError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        # A script that ends in sys.exit() must not end the caller, and not with status 0.
        raise ConfigError(
            Problem(f'"{target}": its import failed: {type(error).__name__}: {error}', str(path))
        ) from error
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            names = [item for item in vars(found) if not item.startswith("_")]
            raise ConfigError(f'"{target}": {name} has no "{part}".{did_you_mean(part, names)}')
        found = getattr(found, part)
    return found


def _load_file(path: Path, *, fresh: bool) -> Any:
    private = f"_agenteval_target_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if not fresh and private in sys.modules:
        return sys.modules[private]
    spec = importlib.util.spec_from_file_location(private, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[private] = module
    _prefer_neighbours(path.parent)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(private, None)
        raise
    return module


def _prefer_neighbours(folder: Path) -> None:
    """Let a module of this folder import its own neighbours, and not another folder's.

    Two suites of one process may both have a neighbour called ``tools.py``. The folder stays on
    the path: a module may import its neighbours late, inside a function.
    """
    home = str(folder)
    if home in sys.path:
        sys.path.remove(home)
    sys.path.insert(0, home)
    for file in folder.glob("*.py"):
        loaded = sys.modules.get(file.stem)
        origin = getattr(loaded, "__file__", None)
        if origin is None or Path(origin).resolve().parent == folder:
            continue
        # What is installed is no neighbour's namesake; only another folder's neighbour gives way.
        if not str(origin).startswith((sys.prefix, sys.base_prefix)):
            del sys.modules[file.stem]
