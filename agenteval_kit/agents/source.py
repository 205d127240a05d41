"""Loads an agent's own code afresh, and digests it with the neighbours it imports.

May not call the code.
"""

from __future__ import annotations

import ast
import importlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenteval_kit.files import digest, file_digest
from agenteval_kit.targets import find_module, load_target

__all__ = ["digest_with_neighbours", "load_own", "source_digest"]

_LOCK = threading.RLock()


def load_own(target: str, *, folder: Path) -> Any:
    """The object that ``module:name`` names, from a module that is loaded anew.

    Two agents in two folders may both have a neighbour called ``tools.py``: each gets its own.

    Raises
    ------
    ConfigError
        If there is no such module or name, or its import fails.
    """
    path = find_module(target.partition(":")[0], folder=folder)
    if path is None:
        return load_target(target, folder=folder)
    home = str(path.parent)
    with _LOCK:
        for name in _neighbours(path.parent):
            module = sys.modules.get(name)
            if module is not None and getattr(module, "__file__", None):
                del sys.modules[name]
        if home in sys.path:
            sys.path.remove(home)
        sys.path.insert(0, home)
        importlib.invalidate_caches()
        # A byte-code file is trusted by the second; an edit within the second would be missed.
        written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            return load_target(target, folder=folder, fresh=True)
        finally:
            sys.dont_write_bytecode = written


def _neighbours(folder: Path) -> Iterator[str]:
    for path in folder.glob("*.py"):
        # A neighbour may not push a module of the standard library out.
        if path.stem not in sys.stdlib_module_names and path.stem != "__init__":
            yield path.stem


def source_digest(target: str, *, folder: Path) -> str | None:
    """Digest over the module's file and every file of its folder that it imports, however deep.

    Imports are read from the source, those inside functions too. None where the module is no
    file of Python source.

    Raises
    ------
    ConfigError
        If a file cannot be read.
    """
    name = target.partition(":")[0]
    path = find_module(name, folder=folder)
    if path is None:
        spec = importlib.util.find_spec(name)
        origin = spec.origin if spec is not None else None
        path = Path(origin) if origin is not None and origin.endswith(".py") else None
    return None if path is None else digest_with_neighbours(path)


def digest_with_neighbours(path: Path) -> str:
    """Digest over a Python file and every file of its folder that it imports, however deep.

    Raises
    ------
    ConfigError
        If a file cannot be read.
    """
    found: dict[str, str] = {}
    _collect(path, path.parent, found)
    return digest(found)


def _collect(path: Path, home: Path, found: dict[str, str]) -> None:
    key = path.relative_to(home).as_posix()
    if key in found:
        return
    found[key] = file_digest(path)
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return
    for name in _imported(tree, path.parent.relative_to(home).parts):
        for candidate in (f"{name}.py", f"{name}/__init__.py"):
            if (home / candidate).is_file():
                _collect(home / candidate, home, found)


def _imported(tree: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield from _prefixes(one.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            yield from _prefixes(base)
            for one in node.names:
                yield "/".join([*base, one.name])


def _prefixes(parts: list[str]) -> Iterator[str]:
    for end in range(1, len(parts) + 1):
        yield "/".join(parts[:end])
