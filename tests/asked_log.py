"""The log of a scripted server, read while it grows: each line once, not all of them every time.

May not judge what was asked: it only counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any


class AskedLog:
    """How often each question has been asked so far.

    Parameters
    ----------
    path : pathlib.Path
        What the server was told to write (``--log``); it need not be there yet.
    question : callable
        What a question is called, from the body of a request.
    """

    def __init__(self, path: Path, question: Callable[[dict[str, Any]], str]) -> None:
        self.path = path
        self._question = question
        self._read = 0
        self._found: Counter[str] = Counter()

    def so_far(self) -> Counter[str]:
        """Of what stands in the log now; a line that is being written waits for the next time."""
        if self.path.exists():
            with self.path.open("rb") as file:
                file.seek(self._read)
                added = file.read()
            whole = added[: added.rfind(b"\n") + 1]
            self._read += len(whole)
            for line in whole.splitlines():
                # An answer is told by its beginning: most of a wait would go into parsing those.
                if line.startswith(b'{"event":"asked"'):
                    self._found[self._question(json.loads(line)["body"])] += 1
        return self._found.copy()
