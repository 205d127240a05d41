"""The engine in a real notebook kernel: a cell just calls it, and an interrupt loses nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from agenteval_kit.models.tape import Tape
from agenteval_kit.testing.server import ScriptedServer

CELL = """
from agenteval_kit.models.chat import ChatRequest
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape

model = OpenAIModel("m-1", base_url={url!r}, tape=Tape({tape!r}), max_concurrency=5)
asked = (ChatRequest("m-1", ({{"role": "user", "content": str(n)}},)) for n in range({count}))
arrived = 0
print("begun", flush=True)
for answered in model.complete_many(asked):
    arrived += 1
print(arrived)
"""


def run_cell(client: Any, code: str, *, after_output: Any = None) -> tuple[str, str | None]:
    """Run code in the kernel; what it printed, and the name of the error it ended with."""
    asked = client.execute(code)
    printed, failed = "", None
    until = time.monotonic() + 60
    while time.monotonic() < until:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != asked:
            continue
        content = message["content"]
        if message["msg_type"] == "stream":
            printed += content["text"]
            if after_output is not None:
                after_output()
                after_output = None
        elif message["msg_type"] == "error":
            failed = content["ename"]
        elif message["msg_type"] == "status" and content["execution_state"] == "idle":
            return printed, failed
    raise AssertionError("the cell did not end")


def test_a_cell_calls_the_engine_is_interrupted_and_resumes(tmp_path: Path, root: Path) -> None:
    from jupyter_client.manager import start_new_kernel

    tape = tmp_path / "calls.jsonl"
    manager, client = start_new_kernel(
        kernel_name="python3", cwd=str(root), env={**os.environ, "PYTHONPATH": str(root)}
    )
    try:
        with ScriptedServer(latency=0.05) as server:
            cell = CELL.format(url=server.base_url, tape=str(tape), count=200)

            def interrupt() -> None:
                while len(server.asked) < 30:
                    time.sleep(0.01)
                manager.interrupt_kernel()

            printed, failed = run_cell(client, cell, after_output=interrupt)
            assert failed == "KeyboardInterrupt"
            kept, asked = len(Tape(tape)), len(server.asked)
            assert 20 <= kept < 200
            assert asked - kept <= 5

            printed, failed = run_cell(client, cell)
            assert failed is None
            assert printed.split() == ["begun", "200"]
            assert len(server.asked) == 200 + asked - kept
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
