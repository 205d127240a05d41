"""Event loops in threads of their own, so that asynchronous work has a synchronous outside.

May not know what runs on them.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["background_loop", "run_apart"]

Result = TypeVar("Result")

# The one piece of module state: a loop cannot be made per call, because HTTP connections live on
# it, and a notebook cell already has a loop running that nobody may block.
_LOOPS: dict[tuple[int, str], asyncio.AbstractEventLoop] = {}
_LOCK = threading.Lock()


def background_loop(name: str) -> asyncio.AbstractEventLoop:
    """The running event loop of that name, started on first use, one a process.

    Agents and the engine have one each: an agent that blocks its loop must not hold up the
    replies that it is waiting for.
    """
    key = (os.getpid(), name)
    with _LOCK:
        loop = _LOOPS.get(key)
        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop()
            _LOOPS[key] = loop
            threading.Thread(
                target=_serve, args=(loop,), name=f"agenteval-{name}", daemon=True
            ).start()
    return loop


@atexit.register
def _finish() -> None:
    """Let what was begun at the end of the process (closing connections) come to its end."""
    for (process, _), loop in _LOOPS.items():
        if process == os.getpid() and loop.is_running():
            with contextlib.suppress(Exception):
                asyncio.run_coroutine_threadsafe(_others(), loop).result(2)


async def _others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=1)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def run_apart(coroutine: Coroutine[Any, Any, Result], *, loop: str) -> Result:
    """Run a coroutine on a background loop and wait for it, from any thread.

    An interrupt of the waiting thread cancels the coroutine.
    """
    future = asyncio.run_coroutine_threadsafe(coroutine, background_loop(loop))
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
