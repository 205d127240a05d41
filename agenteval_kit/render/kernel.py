"""The kernel that a notebook runs on: always the interpreter that launched it.

May not read kernel specifications: a stale one would run another Python, or none.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
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
        # By default the socket files are called alike and lie in the working directory, where two
        # notebooks at once would talk to each other's kernels.
        self._sockets = tempfile.mkdtemp(prefix="agenteval-kernel-")
        self.ip = str(Path(self._sockets) / "socket")

    async def _async_cleanup_resources(self, restart: bool = False) -> None:
        await super()._async_cleanup_resources(restart=restart)
        if not restart:
            shutil.rmtree(self._sockets, ignore_errors=True)

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
