"""The kernel that a notebook runs on: always the interpreter that launched it.

May not read kernel specifications: a stale one would run another Python, or none.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

__all__ = ["ThisPython"]


class ThisPython(AsyncKernelManager):
    """Starts this interpreter with this very package, over a local socket file."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # TCP would be open to other users of the machine, and ipykernel says so on each start.
        self.transport = "ipc"

    @property
    def kernel_spec(self) -> KernelSpec:
        """A specification made up on the spot."""
        package = str(Path(__file__).resolve().parents[2])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="This Python",
            language="python",
            env={"PYTHONPATH": os.pathsep.join(paths), "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
        )
