"""Whether the notebooks are committed as they should be: stripped, parametrised, without logic.

May not run them. `--fix` strips outputs and run-time metadata; the rest is for a person to mend.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from pathlib import Path
from typing import Any

KEPT_METADATA = {"kernelspec", "language_info"}
# A cell in which people work with keys must not be deleted by one ("deletable": false).
KEPT_CELL_METADATA = {"deletable", "tags"}
# What these do belongs into the package, where a test can reach it.
LOGIC = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Try,
)


def find_faults(path: Path) -> list[str]:
    """Sentences about what is wrong in one notebook; empty when it is as it should be."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    found = []
    for key in notebook["metadata"].keys() - KEPT_METADATA:
        found.append(f'{path.name}: metadata "{key}" is left over from a run; strip it with --fix')
    cells = notebook["cells"]
    if not cells or cells[0]["cell_type"] != "markdown" or not source(cells[0]).startswith("# "):
        found.append(f"{path.name}: the first cell has to be the title and who reads this")
    tagged = [cell for cell in cells if "parameters" in cell["metadata"].get("tags", [])]
    if len(tagged) != 1:
        found.append(f"{path.name}: {len(tagged)} cells are tagged parameters; one is wanted")
    for number, cell in enumerate(cells, start=1):
        where = f"{path.name}: cell {number}"
        if cell.get("outputs") or cell.get("execution_count") is not None:
            found.append(f"{where}: has outputs or a count; strip them with --fix")
        if cell["metadata"].keys() - KEPT_CELL_METADATA:
            found.append(f"{where}: has run-time metadata; strip it with --fix")
        if cell["cell_type"] == "code":
            found.extend(f"{where}: {fault}" for fault in code_faults(source(cell)))
    return found


def source(cell: dict[str, Any]) -> str:
    """The text of a cell, however it is stored."""
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


def code_faults(code: str) -> list[str]:
    """Sentences about logic that stands in a cell."""
    try:
        # Top-level await is fine in a cell.
        tree = compile(
            code, "cell", "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        )
    except SyntaxError as error:
        return [f"does not parse: {error.msg}"]
    kinds = {type(node).__name__ for node in ast.walk(tree) if isinstance(node, LOGIC)}
    return [f"holds logic ({kind}); move it into the package" for kind in sorted(kinds)]


def strip(path: Path) -> None:
    """Rewrite a notebook without outputs, counts and run-time metadata."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["metadata"] = kept(notebook["metadata"], KEPT_METADATA)
    for cell in notebook["cells"]:
        cell["metadata"] = kept(cell["metadata"], KEPT_CELL_METADATA)
        if cell["cell_type"] == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def kept(metadata: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """The part of a notebook's metadata that belongs into git."""
    return {key: value for key, value in metadata.items() if key in names}


def main() -> int:
    """Check (and with --fix strip) the notebooks of this repository; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description="Check that the notebooks are clean.")
    parser.add_argument("--fix", action="store_true", help="strip outputs and run-time metadata")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all in notebooks/")
    arguments = parser.parse_args()
    folder = Path(__file__).resolve().parent.parent / "notebooks"
    paths = arguments.notebooks or sorted(folder.glob("*.ipynb"))
    if arguments.fix:
        for path in paths:
            strip(path)
    found = [fault for path in paths for fault in find_faults(path)]
    if not paths:
        found.append(f"{folder.name}/: no notebook was found")
    for line in found:
        print(line)
    if not found:
        print(f"{len(paths)} notebooks are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
